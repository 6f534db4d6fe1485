// @ts-check
/** Purpose: the findings of the guard bench as a person reads them. */
import { bold } from "../../tools/paint.mjs";
import { gateLine, threeDigits, time } from "../harness/output.mjs";

const WIDTH = 16;
const COLUMN = 20;

/** @param {import("./gates.mjs").Findings} findings @param {readonly import("../harness/gates.mjs").Outcome[]} outcomes */
export function showFindings({ calls, startUp, requests }, outcomes) {
  const { denoAbsent, ...ways } = calls;
  const { bare } = ways;
  const columns = Object.entries(ways).flatMap(([name, figures]) =>
    figures === null ? [] : [{ name, figures: figures }],
  );
  if (denoAbsent !== null) console.log(`\nDeno is not in here: ${denoAbsent}`);
  console.log(`\n${bold("one call, and how often a bare one")}`);
  console.log("".padEnd(WIDTH) + columns.map(({ name }) => name.padStart(COLUMN)).join(""));
  for (const call of Object.keys(bare)) {
    const cells = columns.map(({ figures }) => {
      const ns = figures[call] ?? Number.NaN;
      return `${time(ns)} ${threeDigits(ns / (bare[call] ?? Number.NaN))}x`.padStart(COLUMN);
    });
    console.log(call.padEnd(WIDTH) + cells.join(""));
  }
  for (const client of /** @type {const} */ (["http", "fetch"])) {
    console.log(`\n${bold(`a request on a kept connection by \`${client}\`, CPU`)}`);
    showRow({
      bare: requests.bare[client],
      guarded: requests.guarded[client],
      permission: requests.permission[client],
      deno: requests.deno?.[client] ?? null,
    });
  }
  console.log(`\n${bold("start to end of a program that does nothing")}`);
  showRow({
    bare: inNs(startUp.bareMs),
    guarded: inNs(startUp.guardedMs),
    permission: inNs(startUp.permissionMs),
    deno: inNs(startUp.denoMs),
  });
  console.log(`\n${bold("gates")}`);
  for (const outcome of outcomes) console.log(gateLine(outcome));
}

/** @param {number | null} ms */
const inNs = (ms) => (ms === null ? null : ms * 1e6);

/** @param {Readonly<Record<string, number | null>>} figures nanoseconds; `null` where there is none */
function showRow(figures) {
  const known = Object.entries(figures).flatMap(([name, ns]) => (ns === null ? [] : [`${name} ${time(ns)}`]));
  console.log(known.join(", "));
}
