// @ts-check
/**
 * Purpose: `npm run bench -- guard [--json] [--quick] [--stage NAME]`: what the guard costs a program, side by side with
 * bare Node, `node --permission` and Deno, and whether the gates hold. See README.md in this folder.
 */
import { runBench } from "./harness/command.mjs";
import { judgeGates } from "./guard/gates.mjs";
import { showFindings } from "./guard/report.mjs";
import { runStage } from "./guard/stage.mjs";

const FULL = Object.freeze({
  calls: { rounds: 80, times: 300 },
  requests: { rounds: 80, times: 60 },
  startUp: { rounds: 40 },
});
const QUICK = Object.freeze({
  calls: { rounds: 20, times: 300 },
  requests: { rounds: 30, times: 60 },
  startUp: { rounds: 10 },
});

await runBench({ name: "guard", full: FULL, quick: QUICK, runStage, judgeGates, showFindings });
