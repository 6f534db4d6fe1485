// @ts-check
/** Purpose: the findings as a person reads them. */
import { bold, cross, dim, tick } from "../../tools/paint.mjs";

/**
 * @typedef {import("./stages/compare.mjs").Comparison} Comparison
 * @typedef {import("./stages/change.mjs").Changes} Changes
 * @typedef {import("./gates.mjs").Findings & { permissions: readonly Comparison[], changes: readonly Changes[] }} Findings
 */

/** @param {number} value */
const threeDigits = (value) =>
  value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);

/** @param {number} ns */
export function time(ns) {
  if (ns < 1000) return `${ns >= 100 ? ns.toFixed(0) : threeDigits(ns)} ns`;
  if (ns < 1e6) return `${threeDigits(ns / 1e3)} µs`;
  return `${threeDigits(ns / 1e6)} ms`;
}

/** @param {number} count */
export const grouped = (count) => `${count}`.replace(/\B(?=(?:\d{3})+$)/g, " ");

/** @param {readonly Comparison[]} comparisons @param {string} title */
function table(comparisons, title) {
  if (comparisons.length === 0) return;
  const last = comparisons.at(-1);
  // The fastest at the largest size first, then those that were not asked there.
  const labels = new Map(
    comparisons
      .toReversed()
      .flatMap(({ rows }) => rows.toSorted((left, right) => left.ns - right.ns))
      .map(({ id, label }) => [id, label]),
  );
  const width = Math.max(title.length, ...[...labels.values()].map(({ length }) => length));
  const heads = comparisons.map(({ size }) => `${grouped(size)} rules`.padStart(14));
  console.log(`\n${bold(title.padEnd(width))}${heads.join("")}${dim("   p99 of the last".padStart(18))}`);
  for (const [id, label] of labels) {
    const cells = comparisons.map(({ rows }) => rows.find((row) => row.id === id));
    const texts = cells.map((row) => (row === undefined ? "–" : time(row.ns)).padStart(14));
    const p99 = last?.rows.find((row) => row.id === id)?.p99Ns;
    console.log(
      `${label.padEnd(width)}${texts.join("")}${dim((p99 === undefined ? "–" : time(p99)).padStart(18))}`,
    );
  }
}

/** @param {Findings} findings @param {readonly import("./gates.mjs").Outcome[]} outcomes */
export function showFindings({ comparisons, permissions, growth, memory, changes }, outcomes) {
  table(comparisons, "one check");
  table(permissions, "one check, path rules only");
  const { cold, hot, few, many } = growth;
  console.log(`\n${bold("alone in a process")}`);
  console.log(
    `first sight   ${time(cold.fewNs)} at ${grouped(few)} rules, ${time(cold.manyNs)} at ${grouped(many)}`,
  );
  console.log(
    `repeated      ${time(hot.fewNs)} at ${grouped(few)} rules, ${time(hot.manyNs)} at ${grouped(many)}`,
  );
  console.log(`bare Map hit  ${time(growth.mapNs)}`);
  console.log(`\n${bold(`loading ${grouped(memory.size)}`)}`);
  for (const [name, weight] of Object.entries({
    "contract rules": memory.contract,
    "host rules": memory.hostRules,
    approvals: memory.approvals,
  })) {
    console.log(
      `${name.padEnd(14)}  ${weight.bytesEach.toFixed(0)} bytes each, ${weight.loadMs.toFixed(0)} ms`,
    );
  }
  for (const change of changes) showChanges(change);
  console.log(`\n${bold("gates")}`);
  for (const outcome of outcomes) console.log(gateLine(outcome));
}

/** @param {Changes} changes */
function showChanges({ size, ...spreads }) {
  const names = {
    ruleAdded: "rule added",
    approvalSet: "approval set",
    approvalRemoved: "approval removed",
    nextCheck: "next check",
  };
  console.log(`\n${bold(`one change at ${grouped(size)} rules`)}`);
  for (const [key, spread] of Object.entries(spreads)) {
    const { p50Us, p99Us, maxUs } = spread;
    const name = names[/** @type {keyof typeof names} */ (key)];
    console.log(
      `${name.padEnd(18)}p50 ${time(p50Us * 1e3)}, p99 ${time(p99Us * 1e3)}, longest ${time(maxUs * 1e3)}`,
    );
  }
}

/** @param {import("./gates.mjs").Outcome} outcome */
function gateLine({ name, bound, gate, goal, unit, value, ok }) {
  const mark = ok === null ? dim("–") : ok ? tick : cross;
  const found = value === null ? "not measured" : `${threeDigits(value)}${unit}`;
  return `${mark} ${name.padEnd(44)}${found.padStart(16)}   ${dim(`gate ${bound} ${gate}, goal ${goal}`)}`;
}
