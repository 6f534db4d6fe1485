// @ts-check
/**
 * Purpose: the long proofs of `npm run soak`, one after the other, and their result table.
 * Exit code 1 where anything is found that must not be, or where the control finds nothing.
 */
import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { openPostgresStore } from "@sallyport/store/postgres";
import { cross, dim, duration, tick } from "../../../tools/paint.mjs";
import { grouped } from "../../harness/output.mjs";
import { startEmbeddedPostgres } from "../embedded-postgres.mjs";
import { openScratchStore } from "../filling.mjs";
import { startNode } from "../node-under-bench.mjs";
import { countsAgree, soakRaces } from "./decision-races.mjs";
import { soakRevocations } from "./revoke-pairs.mjs";

/** @typedef {import("./revoke-pairs.mjs").Finding} Finding */

/** @param {{ pairs: number, controlPairs: number, races: number, isRecorded: boolean }} options */
export async function soak({ pairs, controlPairs, races, isRecorded }) {
  const server = await startEmbeddedPostgres();
  /** @type {Finding[]} */
  const findings = [];
  try {
    const newUrl = () => server.makeDatabase();
    // WHY first: a control that finds nothing makes the long run worthless.
    findings.push(await soakRevocations({ url: await newUrl(), pairs: controlPairs, propagates: false }));
    findings.push(await soakRevocations({ url: await newUrl(), pairs, propagates: true }));
    findings.push(await racesOnSqlite(races));
    findings.push(await racesOnPostgres(await newUrl(), races));
  } finally {
    await server.stop();
  }
  for (const finding of findings) console.log(lineOf(finding));
  if (isRecorded) record(findings);
  process.exitCode = findings.every(({ ok }) => ok) ? 0 : 1;
}

/** @param {number} races */
async function racesOnSqlite(races) {
  const { store, close } = await openScratchStore();
  const service = await startNode(store);
  const name = "approve against deny on SQLite";
  const finding = await soakRaces({ name, approves: service, denies: service, races });
  const ok = finding.ok && (await countsAgree(service, { races, ...finding }));
  await service.stop();
  await close();
  return { ...finding, ok };
}

/** @param {string} url @param {number} races */
async function racesOnPostgres(url, races) {
  const stores = [await openPostgresStore({ url }), await openPostgresStore({ url })];
  const [approves, denies] = await Promise.all(
    stores.map((store, index) => startNode(store, { nodeId: `node-${index}` })),
  );
  if (approves === undefined || denies === undefined) throw new Error("two nodes were started");
  const name = "approve against deny on two nodes, PostgreSQL";
  const finding = await soakRaces({ name, approves, denies, races });
  const ok = finding.ok && (await countsAgree(approves, { races, ...finding }));
  for (const service of [approves, denies]) await service.stop();
  for (const store of stores) await store.close();
  return { ...finding, ok };
}

/** @param {Finding} finding */
function lineOf({ name, rounds, ms, found, wanted, ok }) {
  const counts = `${grouped(rounds)} rounds, found ${grouped(found)}, wanted ${wanted}`;
  return `${ok ? tick : cross} ${name.padEnd(48)}${counts} ${dim(duration(ms))}`;
}

/** @param {readonly Finding[]} findings */
function record(findings) {
  const day = new Date().toISOString().slice(0, 10);
  const rows = findings.map(
    ({ name, rounds, ms, found, wanted, ok }) =>
      `| ${name} | ${grouped(rounds)} | ${grouped(found)} | ${wanted} | ${duration(ms)} | ${ok ? "holds" : "**fails**"} |`,
  );
  const lines = [
    `# Soak, ${day}`,
    "",
    `\`npm run soak\` on Node ${process.versions.node}, ${availableParallelism()} cores, the PostgreSQL server of the tests (\`fsync\` off).`,
    "",
    "| what | rounds | found | wanted | time | |",
    "|---|---|---|---|---|---|",
    ...rows,
    "",
    "Found are stale allows in the first two lines, broken races in the others. The audit logs of both nodes verified after",
    "the revocations; approvals and denials in the store were counted after the races.",
    "",
  ];
  const file = new URL(`../../../docs/results/${day}-soak.md`, import.meta.url);
  writeFileSync(file, lines.join("\n"));
  console.error(dim(`recorded in docs/results/${day}-soak.md`));
}
