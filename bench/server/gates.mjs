// @ts-check
/** Purpose: what must hold of the server. */
import { judge } from "../harness/gates.mjs";

/**
 * @typedef {object} Findings
 * @property {import("./stages/call.mjs").Call} call
 * @property {import("./stages/approve.mjs").Approve} approve
 * @property {import("./stages/follow.mjs").Follow} follow
 */

/** @typedef {import("../harness/gates.mjs").Gate<Findings>} ServerGate */

/** @type {readonly ServerGate[]} */
const GATES = Object.freeze([
  {
    name: "a check over HTTP by a person, p50, to a bare route",
    bound: "at most",
    gate: 1.5,
    goal: "1.2x",
    unit: "x",
    value: ({ call }) => call.trial.bestMs / call.bare.bestMs,
  },
  {
    name: "a check of a remote host in its session, p50, to a bare route",
    bound: "at most",
    gate: 1.5,
    goal: "1.2x",
    unit: "x",
    value: ({ call }) => call.session.bestMs / call.bare.bestMs,
  },
  {
    name: "CPU of an approval by one page, to the service's own",
    bound: "at most",
    gate: 2,
    goal: "1.3x",
    unit: "x",
    value: ({ approve }) => approve.onePage.cpuMs / approve.own.cpuMs,
  },
  {
    name: "CPU of an approval by several pages at once, to one page",
    bound: "at most",
    gate: 1.1,
    goal: "0.6x",
    unit: "x",
    value: ({ approve }) => approve.manyPages.cpuMs / approve.onePage.cpuMs,
  },
  {
    name: "followers of the live stream",
    bound: "at least",
    gate: 1000,
    goal: "more",
    unit: "",
    isExact: true,
    value: ({ follow }) => follow.followers,
  },
  {
    name: "a change until the last of them has heard of it, p50",
    bound: "at most",
    gate: 500,
    goal: "150 ms",
    unit: " ms",
    value: ({ follow }) => follow.lastHeardP50Ms,
  },
]);

/** @param {Findings} findings @param {boolean} isQuick */
export const judgeGates = (findings, isQuick) => judge(GATES, findings, isQuick);
