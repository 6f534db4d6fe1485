/** Programs that others wrote, unchanged: they work with a fitting manifest, and are blocked outside of it. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { ensureFolderInstalled } from "../../tools/setup.mjs";
import { type GuardedWorld, openWorld, outcomes, start } from "./guarded-process.ts";
import { preloadOfFile } from "./world-of-file.ts";

const layers = fileURLToPath(new URL("../../tools/layers", import.meta.url));
const compiler = join(layers, "node_modules", "typescript", "lib", "tsc.js");
const graceful = join(layers, "node_modules", "graceful-fs");
let world: GuardedWorld;
const preload = preloadOfFile();
beforeAll(async () => {
  await ensureFolderInstalled(layers);
});
beforeEach(async () => {
  world = await openWorld(preload, () => [entry("filesystem", "read", `${dirname(compiler)}/`)]);
  const { all, secret } = world.places;
  for (const place of [all, secret]) {
    mkdirSync(join(place, "project"));
    writeFileSync(join(place, "project", "one.ts"), "export const one: number = 1;\n");
    const options = { strict: true, target: "es2022", module: "commonjs", outDir: "out", types: [] };
    writeFileSync(
      join(place, "project", "tsconfig.json"),
      JSON.stringify({ compilerOptions: options, files: ["one.ts"] }),
    );
  }
});
afterEach(() => world.close());

const compile = (place: "all" | "secret") =>
  start(
    world,
    `const at = JSON.parse(process.argv[2]);
     process.argv.splice(2, 1, "-p", at.${place} + "/project");
     require(${JSON.stringify(compiler)});`,
    { codeRoots: [dirname(compiler)], waitMs: 0 },
  ).ended;

it("the TypeScript compiler compiles what is declared", async () => {
  const { code, stdout, stderr } = await compile("all");
  expect([code, stdout, stderr]).toEqual([0, "", ""]);
  expect(readFileSync(join(world.places.all, "project", "out", "one.js"), "utf8")).toContain(
    "exports.one = 1",
  );
});

it("the TypeScript compiler is blocked outside, and leaves nothing there", async () => {
  const { code, stdout, stderr } = await compile("secret");
  expect(code).not.toBe(0);
  expect(`${stdout}${stderr}`).toMatch(/needs an approval|Cannot|not found|error/);
  expect(existsSync(join(world.places.secret, "project", "out"))).toBe(false);
});

it("graceful-fs, which replaces functions of `fs` itself, works and is blocked as `fs` is", async () => {
  const found = await outcomes(
    world,
    `write: () => promisify(graceful.writeFile)(at.all + "/g.txt", "graceful"),
     read: () => promisify(graceful.readFile)(at.all + "/g.txt", "utf8"),
     list: () => promisify(graceful.readdir)(at.reads).then((names) => names.join()),
     stream: async () => { let text = ""; for await (const chunk of graceful.createReadStream(at.all + "/g.txt")) text += chunk; return text; },
     patched: () => { graceful.gracefulify(fs); return fs.readFileSync(at.all + "/g.txt", "utf8"); },
     blocked: () => promisify(graceful.readFile)(at.secret + "/a.txt", "utf8"),
     blockedSync: () => graceful.readFileSync(at.secret + "/a.txt", "utf8")`,
    {
      before: `const graceful = require(${JSON.stringify(graceful)}); const { promisify } = require("util");`,
      codeRoots: [graceful],
      waitMs: 0,
    },
  );
  expect(found).toEqual({
    write: "done",
    read: "graceful",
    list: "a.txt",
    stream: "graceful",
    patched: "graceful",
    blocked: expect.stringMatching(/ERR_ACCESS_DENIED/),
    blockedSync: expect.stringMatching(/^AccessPendingError ERR_ACCESS_DENIED/),
  });
});
