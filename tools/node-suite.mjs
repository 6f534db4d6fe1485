// @ts-check
/**
 * Purpose: `npm run node-suite -- --checkout DIR --node 20 [--group fs] [--only TEXT] [--again] [--lanes 2] [--record]`:
 * Node's own tests under the enforcing guard, as a subject that may do everything that can be declared, beside bare Node.
 * A run goes on where the last one ended; `--again` takes those that differ without a reason once more, `--afresh` all.
 * `--built` takes the guard as it was built last. `--record` leaves the dated table of all Nodes that ran in docs/results. The checkout is one of nodejs/node at the tag
 * of that Node or near it, in a folder that is named after the tag; it is read, never kept.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { build } from "./build.mjs";
import { openHost } from "./node-suite/guarded-host.mjs";
import { keptVersions, openRows } from "./node-suite/kept-rows.mjs";
import { isRefusedFlag } from "./node-suite/reasons.mjs";
import { endOf, flagsOf, testFolder } from "./node-suite/run-test.mjs";
import { documentOf, isUnexplained } from "./node-suite/table.mjs";
import { obtainNode } from "./nodes.mjs";
import { capture, root } from "./setup.mjs";

/** @typedef {import("./node-suite/kept-rows.mjs").Row} Row */
/** @typedef {{ node: string, checkout: string, scratch: string, limitMs: number, host: import("./node-suite/guarded-host.mjs").GuardedHost, rows: ReturnType<typeof openRows> }} Bench */

const GROUPS = ["fs", "net", "http", "https", "http2", "child-process", "worker", "stream", "fetch"];

const { values } = parseArgs({
  options: {
    checkout: { type: "string" },
    node: { type: "string", default: String(process.versions.node.split(".")[0]) },
    group: { type: "string", multiple: true, default: GROUPS },
    only: { type: "string" },
    again: { type: "boolean", default: false },
    afresh: { type: "boolean", default: false },
    lanes: { type: "string", default: "2" },
    limit: { type: "string", default: "60" },
    built: { type: "boolean", default: false },
    record: { type: "boolean", default: false },
  },
});

/** @param {string} line */
async function nodeOf(line) {
  if (process.versions.node.startsWith(`${line}.`)) return process.execPath;
  return join(await obtainNode(/** @type {import("./nodes.mjs").NodeLine} */ (Number(line))), "node");
}

/** @param {string} name @param {string} group */
function isOf(name, group) {
  return name.startsWith(`test-${group}-`) || new RegExp(`^test-${group}\\.m?js$`).test(name);
}

/** The tests that are to run now. @param {Bench} bench @param {string} group */
function dueOf({ checkout, rows }, group) {
  return readdirSync(join(checkout, "test", "parallel"))
    .filter((name) => /\.m?js$/.test(name) && isOf(name, group))
    .filter((name) => values.only === undefined || name.includes(values.only))
    .filter((name) => {
      const row = rows.of(name);
      return values.afresh || row.guarded === undefined || (values.again && isUnexplained(row));
    })
    .toSorted();
}

/** @param {Bench} bench @param {string} name @param {string} lane @returns {Promise<Row>} */
async function judge({ node, checkout, scratch, limitMs, host, rows }, name, lane) {
  const file = join(checkout, "test", "parallel", name);
  const tag = basename(checkout);
  const flags = await flagsOf(file);
  if (flags.some(isRefusedFlag)) return { name, tag, guarded: "flag" };
  const args = [...flags, file];
  const guarded = () =>
    endOf(host.start(node, args, { cwd: checkout, env: testFolder(scratch, lane) }), limitMs);
  let ended = await guarded();
  if (ended.outcome === "passed") return { name, tag, guarded: "passed" };
  let { bare } = rows.of(name);
  if (bare === undefined) {
    const env = { ...process.env, ...testFolder(scratch, lane) };
    const child = spawn(node, args, { cwd: checkout, env, stdio: ["ignore", "pipe", "pipe"] });
    bare = (await endOf(child, limitMs)).outcome;
  }
  // WHY again: tests of Node rest on time here and there.
  if (ended.outcome === "failed" && bare !== "failed") ended = await guarded();
  return { name, tag, bare, guarded: ended.outcome, said: ended.outcome === bare ? "" : ended.said };
}

/** @param {Bench} bench @param {string} group */
async function runGroup(bench, group) {
  const names = dueOf(bench, group);
  const lanes = Array.from({ length: Number(values.lanes) }, async (_, lane) => {
    for (let name = names.shift(); name !== undefined; name = names.shift()) {
      const row = await judge(bench, name, String(lane));
      bench.rows.add(row);
      if (isUnexplained(row)) console.error(`${row.name}\n${row.said}\n`);
    }
  });
  await Promise.all(lanes);
}

/** @param {string} checkout */
async function suite(checkout) {
  const node = await nodeOf(values.node);
  const version = (await capture(node, ["--version"])).stdout.trim();
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), "sp-node-tests-")));
  const host = await openHost(join(checkout, "test"));
  const limitMs = Number(values.limit) * 1000;
  try {
    const bench = { node, checkout, scratch, limitMs, host, rows: openRows(version) };
    for (const group of values.group) {
      await runGroup(bench, group);
      const rows = bench.rows.all().filter(({ name }) => isOf(name, group));
      console.error(
        `${group}: ${rows.length} tests, ${rows.filter(isUnexplained).length} differ without a reason`,
      );
    }
  } finally {
    await host.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** What is known of all Nodes. @returns {number} exit code */
function report() {
  const nodes = keptVersions().map((version) => {
    const rows = openRows(version).all();
    const groups = new Map(GROUPS.map((group) => [group, rows.filter(({ name }) => isOf(name, group))]));
    return { version, groups };
  });
  const day = new Date().toISOString().slice(0, 10);
  const text = documentOf(nodes, day);
  if (values.record) writeFileSync(join(root, "docs", "results", `${day}-node-suite.md`), text);
  return nodes.some(({ groups }) => [...groups.values()].flat().some(isUnexplained)) ? 1 : 0;
}

if (values.checkout === undefined && !values.record)
  throw new Error("name a checkout of nodejs/node: `--checkout DIR`, at the tag of the Node that is tested");
process.exitCode = values.checkout === undefined || values.built ? 0 : await build();
if (process.exitCode === 0) {
  if (values.checkout !== undefined) await suite(realpathSync(values.checkout));
  process.exitCode = report();
}
