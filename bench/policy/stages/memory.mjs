// @ts-check
/**
 * Purpose: what a rule weighs once it is indexed, and how long it takes to load many. Needs `--expose-gc`.
 * The objects and texts that the host hands in are there before and are not counted; what is made of them is.
 */
import { applyChange, contractsOf, emptySnapshot, subjectOf } from "../engines/sallyport.mjs";
import { flat, makeWorkload } from "../workload.mjs";

/**
 * @typedef {import("@sallyport/policy").Change} Change
 * @typedef {{ bytesEach: number, loadMs: number }} Weight
 * @typedef {{ size: number, contract: Weight, hostRules: Weight, approvals: Weight }} Memory
 */

function usedBytes() {
  for (let turn = 0; turn < 2; turn++) globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/**
 * What is being weighed. WHY here: a local variable may be held longer, or dropped sooner, than the weighing.
 * @type {import("@sallyport/policy").Snapshot | undefined}
 */
let weighed;

/** @param {readonly Change[]} changes @param {number} size @returns {Weight} */
function weighOnce(changes, size) {
  weighed = undefined;
  const before = usedBytes();
  const started = performance.now();
  weighed = loadAll(changes);
  const loadMs = performance.now() - started;
  const bytesEach = (usedBytes() - before) / size;
  if (weighed.revision !== changes.length) throw new Error("not every change was taken");
  weighed = undefined;
  return { bytesEach, loadMs };
}

/** @param {readonly Change[]} changes @param {number} size @param {number} loads @returns {Weight} */
function weigh(changes, size, loads) {
  // WHY: the first load compiles the code, which is not the weight of a rule.
  loadAll(changes.slice(0, Math.ceil(changes.length / 10)));
  const weights = Array.from({ length: loads }, () => weighOnce(changes, size));
  return {
    bytesEach: Math.max(...weights.map(({ bytesEach }) => bytesEach)),
    loadMs: Math.min(...weights.map(({ loadMs }) => loadMs)),
  };
}

/** @param {readonly Change[]} changes */
function loadAll(changes) {
  const snapshot = emptySnapshot();
  for (const change of changes) applyChange(snapshot, change);
  return snapshot;
}

/** @param {{ size: number, loads: number }} options @returns {Memory} */
export function run({ size, loads }) {
  if (globalThis.gc === undefined) throw new Error("the memory stage needs `--expose-gc`");
  const workload = makeWorkload(size, { queries: 1 });
  /** @type {Change[]} */
  const contracts = contractsOf(workload).map((contract) => ({ kind: "contract_set", contract }));
  const rules = workload.rules.map(
    ({ subject, resourceType, operation, declared }, index) =>
      /** @type {Change} */ ({
        kind: "rule_set",
        rule: {
          id: flat(`rule-${index}`),
          effect: "allow",
          source: "host",
          subject: subjectOf(subject),
          resourceType,
          operation,
          target: declared,
        },
      }),
  );
  const approvals = workload.rules.map(
    ({ subject, resourceType, operation, folder }, index) =>
      /** @type {Change} */ ({
        kind: "approval_set",
        approval: {
          id: flat(`approval-${index}`),
          subject: subjectOf(subject),
          resourceType,
          operation,
          target: flat(`${folder}item`),
          match: "exact",
          scope: "permanent",
          organizationId: null,
          userId: null,
          sessionKey: null,
          expiresAtMs: null,
          usesLeft: null,
        },
      }),
  );
  return {
    size,
    contract: weigh(contracts, size, loads),
    hostRules: weigh(rules, size, loads),
    approvals: weigh(approvals, size, loads),
  };
}
