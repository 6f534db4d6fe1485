// @ts-check
/**
 * Purpose: bundle the guard's preload into one CommonJS file that holds everything it needs: the realm's script and the
 * worker of the gate as text, and no import but Node's own. `node tools/build-guard.mjs` writes the file.
 */
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, relative } from "node:path";
import { bundle as realmScript } from "./build-realm.mjs";
import { root } from "./setup.mjs";

const ENTRY = join(root, "packages", "guard", "src", "preload.ts");
const WORKER = join(root, "packages", "gate", "src", "client", "gate-worker.ts");
const OUTPUT = join(root, "packages", "guard", "dist", "preload.cjs");

/**
 * @param {{ output?: string }} [places]
 * @returns {Promise<string>} the file, as it was written
 */
export async function buildGuard({ output = OUTPUT } = {}) {
  const realm = await realmScript();
  // WHY: text inside text, which nobody reads; what is shorter is compiled sooner.
  const worker = await bundleFile(WORKER, "cjs", {}, { minify: true });
  const script = await bundleFile(ENTRY, "cjs", {
    REALM_SCRIPT: JSON.stringify(realm),
    GATE_WORKER: JSON.stringify(worker),
  });
  mkdirSync(dirname(output), { recursive: true });
  // WHY: tests of several processes build at the same time; a reader must see a whole file.
  const draft = `${output}.${process.pid}`;
  writeFileSync(draft, script);
  renameSync(draft, output);
  return script;
}

/** @param {string} entry @param {"cjs"} format @param {Record<string, string>} define @param {{ minify?: boolean }} [how] */
async function bundleFile(entry, format, define, { minify = false } = {}) {
  const { rolldown } = await import("rolldown");
  const build = await rolldown({
    input: entry,
    cwd: root,
    platform: "node",
    resolve: { conditionNames: ["source", "import", "node", "default"] },
    transform: { target: "es2023", define },
    tsconfig: false,
  });
  try {
    const { output } = await build.generate({ format, comments: false, minify, codeSplitting: false });
    const [chunk, ...more] = output;
    const foreign = chunk.imports.find((name) => !isBuiltin(name));
    if (more.length > 0 || foreign !== undefined)
      throw new Error(`the preload must be one file: it imports \`${foreign ?? more[0]?.fileName}\``);
    // WHY: functions that are not strict tell whoever is called in the middle of them what they were called with, and
    // the bundler leaves the word out.
    return `"use strict";\n${chunk.code}`;
  } finally {
    await build.close();
  }
}

if (import.meta.filename === process.argv[1]) {
  const script = await buildGuard();
  console.log(`${relative(root, OUTPUT)}  ${script.length} characters`);
}
