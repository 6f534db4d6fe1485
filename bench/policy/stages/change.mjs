// @ts-check
/**
 * Purpose: what one change costs while many rules are loaded, next to the same change with few: nothing is rebuilt.
 * Each change is followed by the check that it must turn, through a context that is already open.
 */
import { decide } from "@sallyport/policy";
import { applyChange, openContexts, questionOf, snapshotOf, subjectOf } from "../engines/sallyport.mjs";
import { ascending } from "../measure.mjs";
import { flat, makeWorkload } from "../workload.mjs";

/**
 * @typedef {import("@sallyport/policy").Change} Change
 * @typedef {{ p50Us: number, p99Us: number, maxUs: number }} Spread
 * @typedef {{ size: number, ruleAdded: Spread, approvalSet: Spread, approvalRemoved: Spread, nextCheck: Spread }} Changes
 */

const CHANGES = 2000;
const WARM_UPS = 500;

/** @param {number[]} costs @returns {Spread} */
function spread(costs) {
  const sorted = ascending(costs.slice(WARM_UPS));
  const at = (/** @type {number} */ share) => sorted[Math.floor((sorted.length - 1) * share)] ?? NaN;
  return { p50Us: at(0.5), p99Us: at(0.99), maxUs: at(1) };
}

/** @param {number} number @returns {Change} */
const newRule = (number) => ({
  kind: "rule_set",
  rule: {
    id: `new-${number}`,
    effect: "allow",
    source: "host",
    subject: subjectOf(number % 50),
    resourceType: "filesystem",
    operation: "read",
    target: flat(`/new/rule-${number}/`),
  },
});

/** @param {number} number @returns {Change} */
const newApproval = (number) => ({
  kind: "approval_set",
  approval: {
    id: `new-${number}`,
    subject: subjectOf(number % 50),
    resourceType: "filesystem",
    operation: "read",
    target: flat(`/new/approval-${number}`),
    match: "exact",
    scope: "permanent",
    organizationId: null,
    userId: null,
    sessionKey: null,
    expiresAtMs: null,
    usesLeft: null,
  },
});

/** @param {{ size: number }} options @returns {Changes} */
export function run({ size }) {
  const snapshot = snapshotOf(makeWorkload(size, { queries: 1 }));
  const contexts = openContexts(snapshot, 50);
  /** @type {Record<"rule" | "approval" | "removal" | "check", number[]>} */
  const costs = { rule: [], approval: [], removal: [], check: [] };

  /** @param {number[]} into @param {Change} change @param {number} number @param {string} target @param {boolean} allowed */
  const turn = (into, change, number, target, allowed) => {
    const query = {
      subject: number % 50,
      resourceType: /** @type {const} */ ("filesystem"),
      operation: "read",
      target,
    };
    const active = /** @type {NonNullable<(typeof contexts)[number]>} */ (contexts[number % 50]);
    const question = questionOf(query);
    if (decide(active, question).allowed === allowed)
      throw new Error("the check was turned before the change");
    const started = performance.now();
    applyChange(snapshot, change);
    const changed = performance.now();
    const verdict = decide(active, question);
    const decided = performance.now();
    if (verdict.allowed !== allowed) throw new Error("the next check does not see the change");
    into.push((changed - started) * 1e3);
    costs.check.push((decided - changed) * 1e3);
  };
  for (let number = 0; number < CHANGES; number++) {
    turn(costs.rule, newRule(number), number, flat(`/new/rule-${number}/file`), true);
    turn(costs.approval, newApproval(number), number, flat(`/new/approval-${number}`), true);
  }
  for (let number = 0; number < CHANGES; number++) {
    const removal = /** @type {Change} */ ({ kind: "approval_removed", id: `new-${number}` });
    turn(costs.removal, removal, number, flat(`/new/approval-${number}`), false);
  }
  return {
    size,
    ruleAdded: spread(costs.rule),
    approvalSet: spread(costs.approval),
    approvalRemoved: spread(costs.removal),
    nextCheck: spread(costs.check),
  };
}
