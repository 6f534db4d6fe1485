// @ts-check
/**
 * Purpose: `npm run check [-- --json]`: everything about the source that is not a test.
 * All steps run even when one fails; the output of a step is shown only where it failed.
 */
import { join } from "node:path";
import { compileArgs } from "./build.mjs";
import { proveTypeAware } from "./lint-guard.mjs";
import { cross, dim, duration, indent, tick } from "./paint.mjs";
import { bin, capture, ensureFolderInstalled, ensureInstalled, root } from "./setup.mjs";
import { close } from "./tally.mjs";

/**
 * @typedef {{ code: number, output: string }} Outcome
 * @typedef {{ name: string, ok: boolean, ms: number, output: string }} Result
 */

/** @param {...(() => Promise<Outcome>)} parts @returns {() => Promise<Outcome>} */
const all =
  (...parts) =>
  async () => {
    const outcomes = [];
    for (const part of parts) outcomes.push(await part());
    return {
      code: Math.max(...outcomes.map(({ code }) => code)),
      output: outcomes.map(({ code, output }) => (code === 0 ? "" : output)).join(""),
    };
  };

/** @param {string} name @param {...string} args */
const tool =
  (name, ...args) =>
  () =>
    capture(bin(name), args);
/** @param {string} file */
const script = (file) => () => capture(process.execPath, [join(root, "tools", file)]);

/** @type {Readonly<Record<string, () => Promise<Outcome>>>} */
const STEPS = Object.freeze({
  format: tool("oxfmt", "--check"),
  // WHY before lint: in a fresh clone the types of the packages, which lint looks at, are not there yet.
  types: all(tool("tsc", ...compileArgs()), tool("tsc", "-p", "tsconfig.test.json", "--noEmit")),
  lint: all(tool("oxlint", "--deny-warnings", "--format=unix"), () => proveTypeAware()),
  layers: script("layers/check-layers.mjs"),
  knip: tool("knip", "--no-progress", "--no-config-hints"),
  tidy: script("tidy.mjs"),
});

/** @param {string} name @param {() => Promise<Outcome>} step @returns {Promise<Result>} */
async function timed(name, step) {
  const started = performance.now();
  const { code, output } = await step();
  return {
    name,
    ok: code === 0,
    ms: Math.round(performance.now() - started),
    output: code === 0 ? "" : output,
  };
}

/** @param {Result} result */
function show({ name, ok, ms, output }) {
  console.log(`${ok ? tick : cross} ${name.padEnd(8)}${dim(duration(ms).padStart(9))}`);
  if (!ok) console.log(`\n${indent(output)}\n`);
}

const isJson = process.argv.includes("--json");
await ensureInstalled();
await ensureFolderInstalled(join(root, "tools", "layers"));
const results = [];
for (const [name, step] of Object.entries(STEPS)) {
  const result = await timed(name, step);
  results.push(result);
  if (!isJson) show(result);
}
const failed = results.filter(({ ok }) => !ok).length;
if (isJson) {
  console.log(JSON.stringify({ ok: failed === 0, steps: results }, undefined, 2));
  process.exitCode = failed === 0 ? 0 : 1;
} else {
  close({ passed: results.length - failed, failed });
}
