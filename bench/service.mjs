// @ts-check
/**
 * Purpose: `npm run bench -- service [--json] [--quick] [--stage NAME]`: what the service costs on its stores, side by
 * side with what a disk and a bare driver cost, and whether the gates hold. See README.md in this folder.
 */
import { runBench } from "./harness/command.mjs";
import { judgeGates } from "./service/gates.mjs";
import { showFindings } from "./service/report.mjs";
import { runStage } from "./service/stage.mjs";

const FULL = Object.freeze({
  durable: { rounds: 20, calls: 100 },
  reading: { few: 1_000, many: 100_000, rounds: 20, calls: 1_000 },
  pending: { pending: 10_000, rounds: 20, calls: 2_000 },
  audit: { rows: 200_000, rounds: 4 },
  stall: { events: 100_000, requests: 100_000, approvals: 10_000 },
  wake: { rounds: 1_000 },
});
const QUICK = Object.freeze({
  durable: { rounds: 6, calls: 60 },
  reading: { few: 1_000, many: 100_000, rounds: 8, calls: 300 },
  pending: { pending: 10_000, rounds: 8, calls: 1_000 },
  audit: { rows: 50_000, rounds: 2 },
  stall: { events: 50_000, requests: 20_000, approvals: 10_000 },
  wake: { rounds: 200 },
});

await runBench({ name: "service", full: FULL, quick: QUICK, runStage, judgeGates, showFindings });
