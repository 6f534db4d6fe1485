// @ts-check
/** Purpose: what must hold of the sandbox. */
import { judge } from "../harness/gates.mjs";

/**
 * @typedef {object} Findings
 * @property {import("./stages/start.mjs").Started} start
 * @property {import("./stages/spawn.mjs").Spawned} spawn
 * @property {import("./stages/open.mjs").Opened} open
 * @property {import("./stages/programs.mjs").Programs} programs
 * @property {import("./stages/egress.mjs").Egress} egress
 */

/** @typedef {import("../harness/gates.mjs").Gate<Findings>} SandboxGate */

/** @param {string} name @param {number} gate @param {string} goal @param {SandboxGate["value"]} value @returns {SandboxGate} */
const times = (name, gate, goal, value) => ({ name, bound: "at most", gate, goal, unit: "x", value });

/** @param {import("./stages/spawn.mjs").Spawned} spawned @param {string} kind @param {string} beside */
function ratio({ figures }, kind, beside) {
  const [one, other] = [figures[kind], figures[beside]];
  return one === undefined || other === undefined ? undefined : one.bestMs / other.bestMs;
}

/** @param {import("./stages/egress.mjs").Compared} compared */
const added = ({ bare, confined }) => confined.p50Us / bare.p50Us;

/** @type {readonly SandboxGate[]} */
const GATES = Object.freeze([
  times("confined start, to `bwrap --unshare-all`", 0.5, "0.33x", ({ start: { figures } }) =>
    figures["bwrap"] === undefined ? undefined : Number(figures["launcher"]) / figures["bwrap"],
  ),
  times("confined start by the library, to bwrap started by Node", 0.8, "0.5x", ({ spawn }) =>
    ratio(spawn, "confined", "bwrap"),
  ),
  times("confined start with the gateway, to sandbox-runtime", 0.5, "0.2x", ({ spawn }) =>
    ratio(spawn, "confinedWithGateway", "sandboxRuntime"),
  ),
  times("trapped open that is granted, to a bare open", 6, "4x", ({ open }) => open.all / open.bare),
  times("open that is not trapped, to a bare open", 2, "1.3x", ({ open }) => open.writes / open.bare),
  times("request on keep-alive, each decided, p50, to direct", 2, "1.5x", ({ egress }) =>
    added(egress.keepAliveReceive),
  ),
  times("request on keep-alive, TLS that passes, p50, to direct", 2, "1.5x", ({ egress }) =>
    added(egress.keepAliveTlsPassed),
  ),
  times("request on a new connection, decided, p50, to direct", 2.5, "2x", ({ egress }) =>
    added(egress.newReceive),
  ),
  times("request on a new connection, TLS that passes, p50, to direct", 2.5, "2x", ({ egress }) =>
    added(egress.newTlsPassed),
  ),
]);

/** @param {Findings} findings @param {boolean} isQuick */
export const judgeGates = (findings, isQuick) => judge(GATES, findings, isQuick);
