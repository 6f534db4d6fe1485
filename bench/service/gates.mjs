// @ts-check
/** Purpose: what must hold of the service and its store. */
import { judge } from "../harness/gates.mjs";

/**
 * @typedef {object} Findings
 * @property {import("./stages/durable.mjs").Durable} durable
 * @property {import("./stages/reading.mjs").Reading} reading
 * @property {import("./stages/pending.mjs").Pending} pending
 * @property {import("./stages/audit.mjs").Audit} audit
 * @property {import("./stages/stall.mjs").Stall} stall
 * @property {import("./stages/wake.mjs").Wake} wake
 */

/** @typedef {import("../harness/gates.mjs").Gate<Findings>} ServiceGate */
/** @typedef {import("./sampling.mjs").Figure} Figure */

/** @param {Figure} figure @param {Figure} beside */
const ratio = (figure, beside) => figure.bestMs / beside.bestMs;

/** @param {string} name @param {number} gate @param {string} goal @param {ServiceGate["value"]} value @returns {ServiceGate} */
const times = (name, gate, goal, value) => ({ name, bound: "at most", gate, goal, unit: "x", value });

/** @param {string} name @param {number} gate @param {string} goal @param {ServiceGate["value"]} value @returns {ServiceGate} */
const atMostMs = (name, gate, goal, value) => ({ name, bound: "at most", gate, goal, unit: " ms", value });

/** @param {string} name @param {number} gate @param {ServiceGate["value"]} value @returns {ServiceGate} */
const perSecond = (name, gate, value) => ({ name, bound: "at least", gate, goal: "more", unit: "/s", value });

const STALL_MS_MAX = 50;

/** @type {readonly ServiceGate[]} */
const GATES = Object.freeze([
  times("rows of a request, durable, to write+fdatasync", 2, "1.3x", ({ durable }) =>
    ratio(durable.storeRequest, durable.write),
  ),
  times("rows of an approval, durable, to write+fdatasync", 2, "1.3x", ({ durable }) =>
    ratio(durable.storeApproval, durable.write),
  ),
  times("a whole check that registers, to write+fdatasync", 4, "2x", ({ durable }) =>
    ratio(durable.request, durable.write),
  ),
  times("a whole approval, to write+fdatasync", 6, "2x", ({ durable }) =>
    ratio(durable.approval, durable.write),
  ),
  times("get of the store, to a bare statement", 3, "1.5x", ({ reading }) =>
    ratio(reading.storeGet, reading.bareGet),
  ),
  times("first 50 of 100 000 requests, to those of 1 000", 3, "1x", ({ reading }) =>
    ratio(reading.listMany, reading.listFew),
  ),
  times(
    "p99 of a declared check with 10 000 pending, to none",
    1.5,
    "1x",
    ({ pending }) => pending.declared.p99Ms / pending.declaredIdle.p99Ms,
  ),
  times(
    "p99 of an approved check with 10 000 pending, to none",
    1.5,
    "1x",
    ({ pending }) => pending.approved.p99Ms / pending.approvedIdle.p99Ms,
  ),
  atMostMs("commit to woken waiter, same node, p99", 5, "1 ms", ({ wake }) => wake.sqlite.p99Ms),
  atMostMs("… on PostgreSQL, same node, p99", 50, "10 ms", ({ wake }) => wake.postgres.p99Ms),
  atMostMs("… on PostgreSQL, other node, p99", 50, "10 ms", ({ wake }) => wake.otherNode.p99Ms),
  perSecond("audit events appended in batches", 20_000, ({ audit }) => audit.appendPerSecond),
  perSecond("audit events verified", 100_000, ({ audit }) => audit.verifyPerSecond),
  atMostMs("event loop held by a verify", STALL_MS_MAX, "10 ms", ({ stall }) => stall.verifyMs),
  atMostMs("event loop held by a list", STALL_MS_MAX, "10 ms", ({ stall }) => stall.listMs),
  atMostMs("event loop held by an approval", STALL_MS_MAX, "10 ms", ({ stall }) => stall.approveMs),
  atMostMs(
    "event loop held by a load of 10 000 approvals",
    STALL_MS_MAX,
    "10 ms",
    ({ stall }) => stall.reloadMs,
  ),
]);

/** @param {Findings} findings @param {boolean} isQuick */
export const judgeGates = (findings, isQuick) => judge(GATES, findings, isQuick);
