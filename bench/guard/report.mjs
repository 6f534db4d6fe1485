// @ts-check
/** Purpose: the findings of the guard bench as a person reads them. */
import { bold } from "../../tools/paint.mjs";
import { gateLine, threeDigits, time } from "../harness/output.mjs";

const WIDTH = 16;
const COLUMN = 20;

/** @param {import("./gates.mjs").Findings} findings @param {readonly import("../harness/gates.mjs").Outcome[]} outcomes */
export function showFindings({ calls, startUp, requests }, outcomes) {
  const { bare } = calls;
  const columns = Object.entries(calls).flatMap(([name, figures]) =>
    figures === null ? [] : [{ name, figures: figures }],
  );
  console.log(`\n${bold("one call, and how often a bare one")}`);
  console.log("".padEnd(WIDTH) + columns.map(({ name }) => name.padStart(COLUMN)).join(""));
  for (const call of Object.keys(bare)) {
    const cells = columns.map(({ figures }) => {
      const ns = figures[call] ?? Number.NaN;
      return `${time(ns)} ${threeDigits(ns / (bare[call] ?? Number.NaN))}x`.padStart(COLUMN);
    });
    console.log(call.padEnd(WIDTH) + cells.join(""));
  }
  console.log(`\n${bold("a request on a kept connection, CPU")}`);
  console.log(`bare ${time(requests.bareNs)}, guarded ${time(requests.guardedNs)}`);
  console.log(`\n${bold("start to end of a program that does nothing")}`);
  console.log(`bare ${time(startUp.bareMs * 1e6)}, guarded ${time(startUp.guardedMs * 1e6)}`);
  console.log(`\n${bold("gates")}`);
  for (const outcome of outcomes) console.log(gateLine(outcome));
}
