// @ts-check
/**
 * Purpose: `npm run bench -- server [--json] [--quick] [--stage NAME]`: what a call over HTTP costs
 * beside a bare route of the same framework, approvals a second, and a thousand followers of the live stream.
 */
import { runBench } from "./harness/command.mjs";
import { gateLine } from "./harness/output.mjs";
import { judgeGates } from "./server/gates.mjs";
import { runStage } from "./server/stage.mjs";

// WHY many short turns: a machine that does other work as well slows whole turns down, and the best ones of each kind are
// compared. The shorter they are, the more of them are left alone.
const FULL = Object.freeze({
  call: { rounds: 120, calls: 50 },
  approve: { rounds: 8, calls: 40, pages: 16 },
  follow: { followers: 1000, rounds: 10 },
});
const QUICK = Object.freeze({
  call: { rounds: 30, calls: 50 },
  approve: { rounds: 2, calls: 24, pages: 16 },
  follow: { followers: 1000, rounds: 3 },
});

await runBench({
  name: "server",
  full: FULL,
  quick: QUICK,
  runStage,
  judgeGates,
  showFindings: (_, gates) => {
    for (const gate of gates) console.log(gateLine(gate));
  },
});
