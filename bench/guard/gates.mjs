// @ts-check
/** Purpose: what must hold of the guard. */
import { judge } from "../harness/gates.mjs";

/**
 * @typedef {object} Findings
 * @property {import("./stages/calls.mjs").Calls} calls
 * @property {import("./stages/start-up.mjs").StartUp} startUp
 * @property {import("./stages/requests.mjs").Requests} requests
 */

/** @typedef {import("../harness/gates.mjs").Gate<Findings>} GuardGate */
/** @typedef {"guarded" | "confined"} Way */

/** @param {Way} way @param {string} call @param {number} gate @param {string} goal @returns {GuardGate} */
const times = (way, call, gate, goal) => ({
  name: `${call}, ${way === "confined" ? "kernel sandbox behind it" : "guard alone, descriptor verified"}, to bare`,
  bound: "at most",
  gate,
  goal,
  unit: "x",
  value: ({ calls }) => ratio(calls[way][call], calls.bare[call]),
});

/** @param {string} call @returns {GuardGate} */
const belowPermission = (call) => ({
  name: `${call}, kernel sandbox behind it, to \`node --permission\``,
  bound: "at most",
  gate: 1,
  goal: "less",
  unit: "x",
  value: ({ calls }) => ratio(calls.confined[call], calls.permission[call]),
});

/** @param {number | undefined} figure @param {number | undefined} beside */
const ratio = (figure, beside) =>
  figure === undefined || beside === undefined ? undefined : figure / beside;

const SHORT = ["statSync", "existsSync", "openSync"];

/** @type {readonly GuardGate[]} */
const GATES = Object.freeze([
  times("guarded", "readFileSync", 1.8, "1.5x"),
  ...SHORT.map((call) => times("guarded", call, 2.6, "2x")),
  times("confined", "readFileSync", 1.25, "1.1x"),
  ...SHORT.map((call) => times("confined", call, 1.4, "1.2x")),
  ...["readFileSync", ...SHORT].map(belowPermission),
  {
    name: "HTTP request on a kept connection, CPU over bare",
    bound: "at most",
    gate: 5,
    goal: "2 µs",
    unit: " µs",
    value: ({ requests }) => (requests.guarded.http - requests.bare.http) / 1000,
  },
  {
    name: "start-up over bare Node",
    bound: "at most",
    gate: 40,
    goal: "less",
    unit: " ms",
    value: ({ startUp }) => startUp.guardedMs - startUp.bareMs,
  },
]);

/** @param {Findings} findings @param {boolean} isQuick */
export const judgeGates = (findings, isQuick) => judge(GATES, findings, isQuick);
