// @ts-check
/**
 * Purpose: `npm test`: build, type tests, every test on this Node, the core tests on Node 24.
 * `npm test -- ARGS` hands ARGS to vitest and runs on this Node only.
 */
import { build } from "./build.mjs";
import { NODES, obtainNode } from "./nodes.mjs";
import { heading } from "./paint.mjs";
import { bin, run } from "./setup.mjs";
import { close, sum } from "./tally.mjs";
import { runVitest } from "./vitest.mjs";

const CORE_PROJECTS = ["contract", "policy", "gate", "tests"];

/** @returns {Promise<import("./tally.mjs").Tally>} */
async function typeTests() {
  heading("type tests");
  const code = await run(bin("tsc"), ["-p", "tsconfig.test.json", "--noEmit"]);
  return { passed: 0, failed: code === 0 ? 0 : 1 };
}

/** @returns {Promise<import("./tally.mjs").Tally>} */
async function coreOnNode24() {
  const nodeBin = await obtainNode(24);
  heading(`core tests on Node ${NODES[24]}`);
  return runVitest({ projects: CORE_PROJECTS, nodeBin });
}

/** @param {readonly string[]} args @returns {Promise<import("./tally.mjs").Tally>} */
async function test(args) {
  const built = { passed: 0, failed: (await build()) === 0 ? 0 : 1 };
  // WHY: chosen tests run from source, so a fault elsewhere in the workspace is reported but does not stop them.
  if (args.length > 0) return sum([built, await runVitest({ args, filtered: true })]);
  if (built.failed > 0) return built;
  const types = await typeTests();
  heading(`all tests on Node ${process.versions.node}`);
  const here = await runVitest({});
  return sum([types, here, await coreOnNode24()]);
}

close(await test(process.argv.slice(2)));
