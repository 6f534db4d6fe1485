// @ts-check
/** Purpose: the findings as a person reads them. */
import { bold, dim } from "../../tools/paint.mjs";
import { gateLine, grouped, time } from "../harness/output.mjs";

/**
 * @typedef {import("./stages/compare.mjs").Comparison} Comparison
 * @typedef {import("./stages/change.mjs").Changes} Changes
 * @typedef {import("./gates.mjs").Findings & { permissions: readonly Comparison[], changes: readonly Changes[] }} Findings
 */

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
