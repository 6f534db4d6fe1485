// @ts-check
/**
 * Purpose: `npm run bench -- sandbox [--json] [--quick] [--stage NAME]`: what the wall costs, beside bare programs, bwrap and
 * `@anthropic-ai/sandbox-runtime`, and whether the gates hold. See README.md in this folder.
 */
import { bold, dim } from "../tools/paint.mjs";
import { runBench } from "./harness/command.mjs";
import { gateLine, time } from "./harness/output.mjs";
import { judgeGates } from "./sandbox/gates.mjs";
import { runStage } from "./sandbox/stage.mjs";

/** @typedef {import("./sandbox/gates.mjs").Findings} Findings */

const FULL = Object.freeze({
  start: { rounds: 60, calls: 5 },
  spawn: { rounds: 30, calls: 10 },
  open: { rounds: 10, opens: 50_000 },
  programs: { rounds: 15, files: 1800 },
  egress: { rounds: 15, times: 1000, newTimes: 200 },
});
const QUICK = Object.freeze({
  start: { rounds: 20, calls: 5 },
  spawn: { rounds: 6, calls: 5 },
  open: { rounds: 4, opens: 20_000 },
  programs: { rounds: 4, files: 600 },
  egress: { rounds: 4, times: 300, newTimes: 60 },
});
const WIDTH = 34;
/** With fewer the noise of a whole program is more than they add. */
const CALLS_TO_MEASURE = 50;

/** @param {import("./service/sampling.mjs").Figure | undefined} figure */
const bestMs = (figure) => figure?.bestMs ?? Number.NaN;

/** @param {Findings} findings @param {readonly import("./harness/gates.mjs").Outcome[]} outcomes */
function showFindings({ start, spawn, open, programs, egress }, outcomes) {
  console.log(`\n${bold("`true`, from the start of the launcher to its end")}`);
  for (const [name, us] of Object.entries(start.figures))
    console.log(
      `${name.padEnd(WIDTH)}${time(us * 1e3).padStart(10)}   ${(us / (start.figures["bare"] ?? Number.NaN)).toFixed(1)}x bare`,
    );
  console.log(`\n${bold("`true`, from a call in Node to its end")}`);
  const bareMs = bestMs(spawn.figures["bare"]);
  for (const [name, figure] of Object.entries(spawn.figures))
    console.log(
      `${name.padEnd(WIDTH)}${time(bestMs(figure) * 1e6).padStart(10)}   ${(bestMs(figure) / bareMs).toFixed(1)}x bare`,
    );
  for (const reason of spawn.absent) console.log(dim(reason));
  console.log(`\n${bold("one open and close, granted")}`);
  for (const [name, ns] of Object.entries(open))
    console.log(`${name.padEnd(WIDTH)}${time(ns).padStart(10)}   ${(ns / open.bare).toFixed(1)}x bare`);
  for (const [program, { figures, stopped }] of Object.entries(programs)) {
    console.log(`\n${bold(program)}`);
    const [beside, untrapped] = [bestMs(figures["bare"]), bestMs(figures["none"])];
    for (const [name, figure] of Object.entries(figures)) {
      const calls = stopped[name] ?? 0;
      const added = (bestMs(figure) - untrapped) / calls;
      const isMeasured = calls >= CALLS_TO_MEASURE && added > 0;
      const each =
        calls === 0 ? "" : `, ${calls} calls stop, each ${isMeasured ? time(added * 1e6) : "in the noise"}`;
      const line = `${name.padEnd(WIDTH)}${time(bestMs(figure) * 1e6).padStart(10)}`;
      console.log(`${line}   ${(bestMs(figure) / beside).toFixed(2)}x bare${each}`);
    }
  }
  showEgress(egress);
  console.log(`\n${bold("gates")}`);
  for (const outcome of outcomes) console.log(gateLine(outcome));
}

/** @param {Findings["egress"]} egress */
function showEgress(egress) {
  console.log(`\n${bold("one request of 1 KiB, p50: direct, confined")}`);
  for (const [name, { bare, confined }] of Object.entries(egress)) {
    const times = `${(confined.p50Us / bare.p50Us).toFixed(2)}x`;
    const cpu = dim(`CPU of the gateway ${time(confined.gatewayCpuUs * 1e3)}`);
    console.log(
      `${name.padEnd(WIDTH)}${time(bare.p50Us * 1e3).padStart(10)}${time(confined.p50Us * 1e3).padStart(12)}   ${times}   ${cpu}`,
    );
  }
}

await runBench({ name: "sandbox", full: FULL, quick: QUICK, runStage, judgeGates, showFindings });
