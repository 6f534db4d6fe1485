// @ts-check
/**
 * Purpose: `npm run bench -- policy [--json] [--quick] [--rules 10,1000,100000] [--plot]`: what one policy check costs,
 * side by side with other engines, and whether the gates hold. See README.md in this folder.
 */
import { parseArgs } from "node:util";
import { writeFileSync } from "node:fs";
import { allHold } from "./harness/gates.mjs";
import { documentHead, grouped, progress } from "./harness/output.mjs";
import { PERMISSION_SIZE_MAX, permissionFlags } from "./policy/engines/node-permission.mjs";
import { FEW, MANY, judgeGates } from "./policy/gates.mjs";
import { drawPlot } from "./policy/plot.mjs";
import { showFindings } from "./policy/report.mjs";
import { joinGrowth } from "./policy/stages/growth.mjs";
import { runStage } from "./policy/stage.mjs";
import { makePathWorkload } from "./policy/workload.mjs";

/**
 * @typedef {import("./policy/stages/compare.mjs").Comparison} Comparison
 * @typedef {import("./policy/report.mjs").Findings} Findings
 */

const PLOT = new URL("../docs/policy-speed.svg", import.meta.url);
const FULL_SIZES = [10, 100, 1_000, 10_000, 100_000];
const QUICK_SIZES = [10, 100_000];
const QUICK_PERMISSION_SIZE = 1_000;

const FULL = {
  rounds: 10,
  growthRounds: 20,
  processes: 3,
  loads: 5,
  checkMs: 4_000,
  windowMs: 200,
  isQuick: false,
};
const QUICK = {
  rounds: 3,
  growthRounds: 8,
  processes: 2,
  loads: 2,
  checkMs: 400,
  windowMs: 100,
  isQuick: true,
};

const { values: flags } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    plot: { type: "boolean", default: false },
    rules: { type: "string" },
  },
});

/** @param {string} text */
function parseSizes(text) {
  const sizes = text.split(",").map(Number);
  if (sizes.every((size) => Number.isSafeInteger(size) && size > 0)) return sizes;
  throw new Error(`\`${text}\` is not a list of rule counts: write for example \`--rules 10,1000,100000\``);
}

/** @param {number} size @param {typeof FULL} effort @returns {Promise<Comparison>} */
async function compare(size, effort) {
  /** @type {Comparison} */
  const together = await runStage("compare", { size, ...effort });
  if (effort.isQuick) return together;
  /** @type {Comparison} */
  const apart = await runStage("compare", { size, ...effort, isApart: true });
  return { ...together, rows: [...together.rows, ...apart.rows] };
}

/** @param {readonly number[]} sizes @param {typeof FULL} effort @returns {Promise<Findings>} */
async function measure(sizes, effort) {
  const { loads } = effort;
  /** @type {Comparison[]} */
  const comparisons = [];
  for (const size of sizes) {
    progress(`every engine at ${grouped(size)} rules`);
    comparisons.push(await compare(size, effort));
  }
  /** @type {Comparison[]} */
  const permissions = [];
  const permissionSizes = effort.isQuick ? [QUICK_PERMISSION_SIZE] : sizes;
  for (const size of permissionSizes.map((wanted) => Math.min(wanted, PERMISSION_SIZE_MAX))) {
    progress(`path rules against Node's permission model at ${grouped(size)} rules`);
    permissions.push(
      await runStage("permission", { size, ...effort }, permissionFlags(makePathWorkload(size))),
    );
  }
  progress("growth");
  const growth = await measureGrowth(effort);
  progress("memory");
  /** @type {Findings["memory"]} */
  const memory = await runStage("memory", { size: MANY, loads }, ["--expose-gc"]);
  progress("changes");
  /** @type {import("./policy/stages/change.mjs").Changes[]} */
  const changes = [await runStage("change", { size: FEW }), await runStage("change", { size: MANY })];
  return { comparisons, permissions, growth, memory, changes };
}

/**
 * WHY several processes: what a compiler inlines differs from run to run, by a third of a repeated check.
 * @param {typeof FULL} effort @returns {Promise<Findings["growth"]>}
 */
async function measureGrowth({ growthRounds, processes }) {
  /** @type {Findings["growth"][]} */
  const runs = [];
  for (let turn = 0; turn < processes; turn++) {
    runs.push(await runStage("growth", { few: FEW, many: MANY, rounds: growthRounds }));
  }
  return joinGrowth(runs);
}

const effort = flags.quick ? QUICK : FULL;
const sizes = flags.rules === undefined ? (flags.quick ? QUICK_SIZES : FULL_SIZES) : parseSizes(flags.rules);
const findings = await measure(sizes, effort);
const gates = judgeGates(findings, flags.quick);
const ok = allHold(gates);
if (flags.plot) writeFileSync(PLOT, drawPlot(findings));
if (flags.json) {
  const head = documentHead("policy", { ok, quick: flags.quick });
  console.log(JSON.stringify({ ...head, gates, ...findings }, undefined, 2));
} else {
  showFindings(findings, gates);
}
process.exitCode = ok ? 0 : 1;
