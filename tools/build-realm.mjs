// @ts-check
/**
 * Purpose: bundle contract (without its schemas) and policy into the one classic script that runs in the private realm.
 * The same sources give the same bytes. `node tools/build-realm.mjs` writes the file and says what it wrote.
 */
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { root } from "./setup.mjs";

const ENTRY = join(root, "packages", "policy", "src", "realm", "entry.ts");
const OUTPUT = join(root, "packages", "gate", "dist", "realm-script.js");

/** What the realm does not have; a bundle that mentions one of them would fail only when that line runs. */
const FOREIGN =
  /\b(?:process|require|Buffer|URL|URLSearchParams|TextEncoder|setTimeout|queueMicrotask|structuredClone)\b(?=\s*[.(])/;

/**
 * @param {{ entry?: string, output?: string }} [places]
 * @returns {Promise<string>} the script, as it was written
 */
export async function buildRealm({ entry = ENTRY, output = OUTPUT } = {}) {
  const script = await bundle(entry);
  mkdirSync(dirname(output), { recursive: true });
  // WHY: tests of several processes build at the same time; a reader must see a whole file.
  const draft = `${output}.${process.pid}`;
  writeFileSync(draft, script);
  renameSync(draft, output);
  return script;
}

/**
 * Bundles a program of the tests with everything it imports, so that a bare Node can run it from its sources.
 * @param {string} entry @param {string} output an ES module
 */
export async function bundleProgram(entry, output) {
  const { rolldown } = await import("rolldown");
  const conditionNames = ["source", "import", "node"];
  const build = await rolldown({
    input: entry,
    platform: "node",
    resolve: { conditionNames },
    tsconfig: false,
  });
  await build.write({ file: output, format: "esm", codeSplitting: false });
  await build.close();
}

/** The script as text. @param {string} [entry] @param {{ minify?: boolean }} [how] */
export async function bundle(entry = ENTRY, { minify = false } = {}) {
  const { rolldown } = await import("rolldown");
  const build = await rolldown({
    input: entry,
    cwd: root,
    platform: "neutral",
    resolve: { conditionNames: ["source", "import", "default"], mainFields: ["main"] },
    transform: { target: "es2023" },
    tsconfig: false,
    onwarn(warning) {
      throw new Error(`the realm script must bundle without warnings: ${warning.message}`);
    },
  });
  try {
    const { output } = await build.generate({
      format: "iife",
      name: "realm",
      comments: false,
      minify,
    });
    const [chunk, ...more] = output;
    if (more.length > 0 || chunk.imports.length > 0)
      throw new Error("the realm script must be one file without imports");
    inspect(chunk);
    return `(() => {\n"use strict";\n${chunk.code.trim()}\nreturn realm.boot;\n})()\n`;
  } finally {
    await build.close();
  }
}

/** @param {import("rolldown").OutputChunk} chunk */
function inspect(chunk) {
  const schemas = chunk.moduleIds.find((id) => /[\\/]node_modules[\\/]zod[\\/]/.test(id));
  if (schemas !== undefined)
    throw new Error("the realm script must not hold zod: keep schemas apart from parsers");
  const foreign = FOREIGN.exec(chunk.code);
  if (foreign !== null)
    throw new Error(`the realm script must not use \`${foreign[0]}\`: a bare realm does not have it`);
}

if (import.meta.filename === process.argv[1]) {
  const script = await buildRealm();
  console.log(`${relative(root, OUTPUT)}  ${script.length} characters`);
}
