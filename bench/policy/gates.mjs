// @ts-check
/** Purpose: what must hold of the policy engine. */
import { judge } from "../harness/gates.mjs";

/**
 * @typedef {import("./stages/compare.mjs").Comparison} Comparison
 * @typedef {import("./stages/growth.mjs").Growth} Growth
 * @typedef {import("./stages/memory.mjs").Memory} Memory
 * @typedef {{ comparisons: readonly Comparison[], growth: Growth, memory: Memory }} Findings
 * @typedef {import("../harness/gates.mjs").Outcome} Outcome
 */

export const FEW = 10;
export const MANY = 100_000;

/** How many times faster our first sight is than the fastest form of a peer. @param {string} peer */
const timesFaster =
  (peer) =>
  (/** @type {Findings} */ { comparisons }) => {
    const rows = comparisons.find(({ size }) => size === MANY)?.rows ?? [];
    const own = rows.find(({ id }) => id === "sallyport")?.ns;
    const others = rows.filter(({ id }) => id === peer || id.startsWith(`${peer}-`)).map(({ ns }) => ns);
    return own === undefined || others.length === 0 ? undefined : Math.min(...others) / own;
  };

/** @type {readonly import("../harness/gates.mjs").Gate<Findings>[]} */
const GATES = Object.freeze([
  {
    name: "first sight against CASL, 100 000 rules",
    bound: "at least",
    gate: 40,
    goal: "80x",
    unit: "x faster",
    value: timesFaster("casl"),
  },
  {
    name: "first sight against Cedar, 100 000 rules",
    bound: "at least",
    gate: 500,
    goal: "1000x",
    unit: "x faster",
    value: timesFaster("cedar"),
  },
  {
    name: "repeated target against a bare Map hit",
    bound: "at most",
    gate: 3,
    goal: "below 100 ns",
    unit: "x",
    value: ({ growth }) => growth.hotToMap,
  },
  {
    name: "first sight, 10 to 100 000 rules",
    bound: "at most",
    gate: 4,
    goal: "flat",
    unit: "x",
    value: ({ growth }) => growth.cold.ratio,
  },
  {
    name: "repeated target, 10 to 100 000 rules",
    bound: "at most",
    gate: 1.5,
    goal: "flat",
    unit: "x",
    value: ({ growth }) => growth.hot.ratio,
  },
  {
    name: "memory of a rule beside its text",
    bound: "at most",
    gate: 150,
    goal: "less",
    unit: " bytes",
    isExact: true,
    value: ({ memory }) => memory.contract.bytesEach,
  },
]);

/** @param {Findings} findings @param {boolean} isQuick @returns {Outcome[]} */
export const judgeGates = (findings, isQuick) => judge(GATES, findings, isQuick);
