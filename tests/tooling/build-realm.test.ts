import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import vm from "node:vm";
import { afterAll, expect, test } from "vitest";
import { buildRealm } from "../../tools/build-realm.mjs";

const folder = mkdtempSync(join(tmpdir(), "sallyport-build-"));
afterAll(() => rmSync(folder, { recursive: true }));

function entry(name: string, source: string): { entry: string; output: string } {
  const file = join(folder, `${name}.ts`);
  writeFileSync(file, source);
  return { entry: file, output: join(folder, `${name}.js`) };
}

test("the same sources give the same bytes, without a path of the machine", async () => {
  const first = await buildRealm({ output: join(folder, "first.js") });
  const second = await buildRealm({ output: join(folder, "second.js") });
  expect(second).toBe(first);
  expect(readFileSync(join(folder, "second.js"), "utf8")).toBe(first);
  expect(first).not.toContain(fileURLToPath(new URL("../../", import.meta.url)));
});

test("the script is strict, has no imports and evaluates to one function in a bare realm", async () => {
  const script = await buildRealm({ output: join(folder, "script.js") });
  expect(script.startsWith('(() => {\n"use strict";\n')).toBe(true);
  expect(script).not.toMatch(/^\s*(?:import|export)\b/m);
  const context = vm.createContext(vm.constants.DONT_CONTEXTIFY);
  expect(typeof new vm.Script(script).runInContext(context)).toBe("function");
});

test("a script that uses what a bare realm does not have is refused", async () => {
  const places = entry("foreign", "export const boot = () => process.cwd();");
  await expect(buildRealm(places)).rejects.toThrow("must not use `process`");
});

test("a script that holds zod is refused", async () => {
  const zod = fileURLToPath(import.meta.resolve("zod"));
  const places = entry(
    "schemas",
    `import { z } from ${JSON.stringify(zod)}; export const boot = () => z.string();`,
  );
  await expect(buildRealm(places)).rejects.toThrow("must not hold zod");
});
