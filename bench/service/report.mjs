// @ts-check
/** Purpose: the findings of the service bench as a person reads them. */
import { bold } from "../../tools/paint.mjs";
import { gateLine, grouped, time } from "../harness/output.mjs";

/** @typedef {import("./sampling.mjs").Figure} Figure */

const WIDTH = 34;

/** @param {string} name @param {Figure} figure */
const line = (name, { bestMs, p50Ms, p99Ms }) =>
  `${name.padEnd(WIDTH)}${time(bestMs * 1e6).padStart(10)}   p50 ${time(p50Ms * 1e6)}, p99 ${time(p99Ms * 1e6)}`;

/** @param {string} title @param {Readonly<Record<string, Figure>>} figures */
function table(title, figures) {
  console.log(`\n${bold(title)}`);
  for (const [name, figure] of Object.entries(figures)) console.log(line(name, figure));
}

/** @param {import("./gates.mjs").Findings} findings @param {readonly import("../harness/gates.mjs").Outcome[]} outcomes */
export function showFindings({ durable, reading, pending, audit, stall, wake }, outcomes) {
  table("durable on SQLite", {
    "write+fdatasync, 4 KiB": durable.write,
    "write+fdatasync, 68 KiB": durable.writeMany,
    "rows of a request": durable.storeRequest,
    "rows of an approval": durable.storeApproval,
    "check that registers": durable.request,
    approval: durable.approval,
  });
  table(`reading ${grouped(reading.many)} requests`, {
    "bare statement by id": reading.bareGet,
    "get of the store": reading.storeGet,
    "get of the service": reading.get,
    [`first 50 of ${grouped(reading.few)}`]: reading.listFew,
    [`first 50 of ${grouped(reading.many)}`]: reading.listMany,
  });
  table(`allowed checks, none and ${grouped(pending.pending)} pending, call by call (the fastest)`, {
    "declared, none pending": pending.declaredIdle,
    declared: pending.declared,
    "approved, none pending": pending.approvedIdle,
    approved: pending.approved,
  });
  console.log(`\n${bold("commit of the approval to woken waiter")}`);
  for (const [name, { p50Ms, p99Ms }] of Object.entries(wake)) {
    console.log(`${name.padEnd(WIDTH)}p50 ${time(p50Ms * 1e6)}, p99 ${time(p99Ms * 1e6)}`);
  }
  console.log(`\n${bold(`audit, ${grouped(audit.rows)} events`)}`);
  console.log(`${"appended".padEnd(WIDTH)}${grouped(Math.round(audit.appendPerSecond))}/s`);
  console.log(`${"verified".padEnd(WIDTH)}${grouped(Math.round(audit.verifyPerSecond))}/s`);
  console.log(`\n${bold("event loop held, at most")}`);
  const { verifyMs, listMs, approveMs, reloadMs } = stall;
  for (const [name, ms] of Object.entries({
    verify: verifyMs,
    list: listMs,
    approve: approveMs,
    load: reloadMs,
  })) {
    console.log(`${name.padEnd(WIDTH)}${time(ms * 1e6)}`);
  }
  console.log(`\n${bold("gates")}`);
  for (const outcome of outcomes) console.log(gateLine(outcome));
}
