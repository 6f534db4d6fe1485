// @ts-check
/** Purpose: `npm run test:nodes`: every test on Node 22, 24 and 26, with a result table at the end. */
import { build } from "./build.mjs";
import { NODES, obtainNode } from "./nodes.mjs";
import { bold, cross, duration, heading, tick } from "./paint.mjs";
import { close, sum } from "./tally.mjs";
import { runVitest } from "./vitest.mjs";

/** @typedef {{ version: string, ms: number, tally: import("./tally.mjs").Tally }} Row */

/** @param {import("./nodes.mjs").NodeLine} line @returns {Promise<Row>} */
async function testOn(line) {
  const nodeBin = await obtainNode(line);
  heading(`all tests on Node ${NODES[line]}`);
  const started = performance.now();
  const tally = await runVitest({ nodeBin });
  return { version: NODES[line], ms: performance.now() - started, tally };
}

/** @param {readonly Row[]} rows */
function printTable(rows) {
  console.log(
    bold(`  ${"Node".padEnd(10)}${"passed".padStart(8)}${"failed".padStart(8)}${"time".padStart(14)}`),
  );
  for (const { version, ms, tally } of rows) {
    const numbers = String(tally.passed).padStart(8) + String(tally.failed).padStart(8);
    console.log(
      `${tally.failed === 0 ? tick : cross} ${version.padEnd(10)}${numbers}${duration(ms).padStart(14)}`,
    );
  }
}

if ((await build()) === 0) {
  const rows = [];
  for (const line of /** @type {const} */ ([22, 24, 26])) rows.push(await testOn(line));
  printTable(rows);
  close(sum(rows.map(({ tally }) => tally)));
} else {
  close({ passed: 0, failed: 1 });
}
