/** Purpose: see the layer check fail, once for each way of breaking the layer table. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MAY_IMPORT, packageName } from "../../tools/layers/layer-table.mjs";
import { judgeCoverage } from "../../tools/layers/rules.mjs";
import { ensureFolderInstalled, root } from "../../tools/setup.mjs";

interface Report {
  readonly code: number | null;
  readonly files: number;
  readonly found: readonly string[];
}

const scratch: string[] = [];

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-layers-"));
  scratch.push(folder);
  return folder;
}

/** A clean tree of five packages, in which `seeds` (path to text) are then planted. */
function plant(seeds: Readonly<Record<string, string>>): string {
  const tree = temporaryFolder();
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), text);
  };
  mkdirSync(join(tree, "node_modules", "@sallyport"), { recursive: true });
  for (const folder of ["contract", "policy", "gate", "store", "service"] as const) {
    const subpaths = folder === "store" ? { "./sqlite": { source: "./src/sqlite/engine.ts" } } : {};
    const exports = { ".": { source: "./src/index.ts", default: "./dist/index.js" }, ...subpaths };
    const dependencies = Object.fromEntries(MAY_IMPORT[folder].map((name) => [packageName(name), "0.1.0"]));
    write(
      `packages/${folder}/package.json`,
      JSON.stringify({ name: packageName(folder), exports, dependencies }),
    );
    write(`packages/${folder}/src/index.ts`, `export const ${folder} = 1;\n`);
    symlinkSync(join(tree, "packages", folder), join(tree, "node_modules", packageName(folder)));
  }
  write("packages/store/src/sqlite/engine.ts", "export const engine = 1;\n");
  write("node_modules/left-pad/package.json", '{ "name": "left-pad", "main": "index.js" }');
  write("node_modules/left-pad/index.js", "module.exports = 1;\n");
  for (const [path, text] of Object.entries(seeds)) write(path, text);
  return tree;
}

function checkLayers(tree: string, layers = join(root, "tools", "layers")): Report {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(layers, "check-layers.mjs"), "--json", tree],
    { encoding: "utf8" },
  );
  if (!stdout.startsWith("{")) throw new Error(`the layer check printed no report:\n${stdout}${stderr}`);
  const { files, violations } = JSON.parse(stdout) as {
    files: number;
    violations: { rule: string; where: string }[];
  };
  return { code: status, files, found: violations.map(({ rule, where }) => `${rule} ${where}`) };
}

beforeAll(() => ensureFolderInstalled(join(root, "tools", "layers")));
afterAll(() => {
  for (const folder of scratch) rmSync(folder, { recursive: true, force: true });
});

describe("the layer check", () => {
  it("accepts a tree that keeps the table", () => {
    const tree = plant({
      "packages/policy/src/index.ts": 'export { contract } from "@sallyport/contract";\n',
      "packages/gate/src/index.ts": 'import "node:net";\nexport { policy } from "@sallyport/policy";\n',
      "packages/policy/src/testing/clock.ts": 'export { hrtime } from "node:process";\n',
    });
    expect(checkLayers(tree)).toEqual({ code: 0, files: 7, found: [] });
  });

  const seeds = {
    "forbidden-import": {
      "policy/src/by-name.ts": 'import "@sallyport/gate";',
      "policy/src/by-type.ts": 'import type { gate } from "@sallyport/gate";',
      "policy/src/by-import-type.ts": 'export type Gate = typeof import("@sallyport/gate");',
      "policy/src/by-re-export.ts": 'export { gate } from "@sallyport/gate";',
      "policy/src/dynamically.ts": 'export const load = () => import("@sallyport/gate");',
      "policy/src/from-a.test.ts": 'import "@sallyport/gate";',
      "policy/src/testing/from-testing.ts": 'import "@sallyport/gate";',
    },
    "deep-import": { "gate/src/past-exports.ts": 'import "@sallyport/policy/src/index.ts";' },
    "relative-import": {
      "gate/src/front-door-by-path.ts": 'import "../../policy/src/index.ts";',
      "gate/src/build-output-by-path.ts": 'import "../../policy/dist/index.js";',
    },
    "node-built-in": {
      "policy/src/built-in.ts": 'import { hash } from "node:crypto";',
      "contract/src/built-in-type.ts": 'import type { Stats } from "fs";',
    },
    "engine-import": { "service/src/engine.ts": 'import "@sallyport/store/sqlite";' },
    "undeclared-dependency": { "gate/src/undeclared.ts": 'import "left-pad";' },
    "forbidden-npm": { "contract/src/from-npm.ts": 'import "left-pad";' },
    unresolvable: { "gate/src/nowhere.ts": 'import "./missing.ts";' },
    cycle: { "gate/src/circle.ts": 'export { gate } from "./circle.ts";' },
  };
  const planted = Object.entries(seeds).flatMap(([rule, files]) =>
    Object.entries(files).map(([path, text]) => ({ rule, path: `packages/${path}`, text })),
  );

  describe("on a tree with one fault per file", () => {
    let report: Report;
    beforeAll(() => {
      report = checkLayers(plant(Object.fromEntries(planted.map(({ path, text }) => [path, `${text}\n`]))));
    });

    it.each(planted)("reports $rule in $path", ({ rule, path }) => {
      expect(report.found).toContain(`${rule} ${path}`);
    });

    it("reports nothing else, and fails", () => {
      expect(report.found).toHaveLength(planted.length);
      expect(report.code).toBe(1);
    });
  });

  it("refuses a cycle over two files, and reports it once", () => {
    const tree = plant({
      "packages/gate/src/a.ts": 'export * from "./b.ts";\n',
      "packages/gate/src/b.ts": 'export * from "./a.ts";\n',
    });
    expect(checkLayers(tree).found).toEqual(["cycle packages/gate/src/a.ts"]);
  });

  it("refuses a workspace package that is imported but not declared", () => {
    const manifest = { name: "@sallyport/gate", exports: { ".": { source: "./src/index.ts" } } };
    const tree = plant({
      "packages/gate/package.json": JSON.stringify(manifest),
      "packages/gate/src/x.ts": 'import "@sallyport/policy";\n',
    });
    expect(checkLayers(tree).found).toEqual(["undeclared-dependency packages/gate/src/x.ts"]);
  });

  it("refuses a declared dependency outside the row", () => {
    const dependencies = { "@sallyport/service": "0.1.0" };
    const tree = plant({
      "packages/store/package.json": JSON.stringify({ name: "@sallyport/store", dependencies }),
      "packages/contract/package.json": JSON.stringify({
        name: "@sallyport/contract",
        dependencies: { "left-pad": "1.0.0" },
      }),
    });
    expect(checkLayers(tree).found).toEqual([
      "declared-outside-row packages/contract/package.json",
      "declared-outside-row packages/store/package.json",
    ]);
  });

  it("refuses a package that has no row", () => {
    const tree = plant({ "packages/extra/package.json": '{ "name": "@sallyport/extra" }' });
    expect(checkLayers(tree).found).toEqual(["unknown-package packages/extra/package.json"]);
  });

  it("fails when a file was not checked", () => {
    const modules = [{ source: "packages/gate/src/index.ts", dependencies: [] }];
    const files = ["packages/gate/src/index.ts", "packages/gate/src/x.ts"];
    expect(judgeCoverage(modules, files)).toMatchObject([{ rule: "not-checked", where: files[1] }]);
    expect(judgeCoverage([], [])).toMatchObject([{ rule: "not-checked" }]);
  });

  it("fails with a TypeScript that dependency-cruiser does not understand, instead of checking nothing", () => {
    const tools = join(temporaryFolder(), "tools");
    const modules = join(root, "tools", "layers", "node_modules");
    cpSync(join(root, "tools"), tools, {
      recursive: true,
      filter: (source) => !source.includes("node_modules"),
    });
    const copied = join(tools, "layers", "node_modules");
    mkdirSync(copied);
    for (const name of readdirSync(modules)) {
      if (name === "dependency-cruiser") cpSync(join(modules, name), join(copied, name), { recursive: true });
      else if (name === "typescript") symlinkSync(join(root, "node_modules", name), join(copied, name));
      else symlinkSync(join(modules, name), join(copied, name));
    }
    const report = checkLayers(plant({}), join(tools, "layers"));
    expect(report.code).toBe(1);
    expect(report.found).toHaveLength(6);
    expect(report.found).toContain("not-checked packages/contract/src/index.ts");
  });
});
