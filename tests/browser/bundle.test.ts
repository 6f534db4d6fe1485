/** What the first load of the console costs, and that its page needs nothing that a strict policy forbids. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeAll, expect, it } from "vitest";
import { buildConsole } from "../../tools/build-console.mjs";

const FIRST_LOAD_BYTES_MAX = 180_000;
let folder: string;
let html: string;
beforeAll(async () => {
  folder = await buildConsole();
  html = readFileSync(join(folder, "index.html"), "utf8");
});

it("is at most 180 kB on first load: the page, its script with all that it imports at once, its style", () => {
  const named = [...html.matchAll(/(?:src|href)="\/([^"]+)"/g)].map(([, file]) => file ?? "");
  expect(named.filter((file) => file.endsWith(".js")).length).toBeGreaterThan(1);
  expect(named.filter((file) => file.endsWith(".css"))).toHaveLength(1);
  const sizes = ["index.html", ...named].map((file) => gzipSync(readFileSync(join(folder, file))).length);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(FIRST_LOAD_BYTES_MAX);
});

it("begins with one script that imports no other at once, so that nothing is left out of the count", () => {
  const entry = /<script type="module"[^>]* src="\/([^"]+)"/.exec(html)?.[1] ?? "";
  const text = readFileSync(join(folder, entry), "utf8");
  const late = [...text.matchAll(/import\(`\.\/([^`]+)`\)/g)];
  expect(late.length).toBeGreaterThan(10);
  const atOnce = [...text.matchAll(/(?:from|import)\s*["'`](\.\/[^"'`]+)/g)].map(([, file]) => file);
  expect(atOnce).toEqual([]);
});

it("holds no inline script, no inline style and no address of another host", () => {
  expect(html).not.toMatch(/<script(?![^>]* src=)/);
  expect(html).not.toMatch(/<style|\sstyle=|\son[a-z]+=/);
  expect(html).not.toMatch(/https?:\/\//);
});
