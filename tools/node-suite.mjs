// @ts-check
/**
 * Purpose: `npm run node-suite -- --checkout DIR --node 20 [--group fs] [--record]`: Node's own tests under the enforcing
 * guard, as a subject that may do everything that can be declared, beside bare Node. `--record` leaves a dated table in
 * docs/results. The checkout is one of nodejs/node at the tag of that Node; it is read, never kept.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { build } from "./build.mjs";
import { openHost } from "./node-suite/guarded-host.mjs";
import { REFUSED_FLAGS, reasonFor } from "./node-suite/reasons.mjs";
import { endOf, flagsOf, testFolder } from "./node-suite/run-test.mjs";
import { obtainNode } from "./nodes.mjs";
import { root } from "./setup.mjs";

const GROUPS = ["fs", "net", "http", "https", "http2", "child-process", "worker", "stream", "fetch"];
const LANES = 2;

/** @typedef {"passed" | "skipped" | "bare" | "flag" | "listed" | "ours"} Fate `bare`: fails without the guard too */
/** @typedef {{ name: string, fate: Fate, said: string }} Row */

const { values } = parseArgs({
  options: {
    checkout: { type: "string" },
    node: { type: "string", default: String(process.versions.node.split(".")[0]) },
    group: { type: "string", multiple: true, default: GROUPS },
    only: { type: "string" },
    record: { type: "boolean", default: false },
  },
});

/** @param {string} line */
async function nodeOf(line) {
  if (process.versions.node.startsWith(`${line}.`)) return process.execPath;
  return join(await obtainNode(/** @type {import("./nodes.mjs").NodeLine} */ (Number(line))), "node");
}

/** @param {string} folder @param {string} group */
function testsOf(folder, group) {
  const begins = `test-${group}-`;
  return readdirSync(join(folder, "test", "parallel"))
    .filter((name) => /\.m?js$/.test(name) && (name.startsWith(begins) || name === `test-${group}.js`))
    .filter((name) => values.only === undefined || name.includes(values.only))
    .toSorted();
}

/**
 * @param {{ node: string, checkout: string, scratch: string, host: import("./node-suite/guarded-host.mjs").GuardedHost }} where
 * @param {string} name @param {number} lane @returns {Promise<Row>}
 */
async function judge({ node, checkout, scratch, host }, name, lane) {
  const file = join(checkout, "test", "parallel", name);
  const flags = await flagsOf(file);
  if (flags.some((flag) => REFUSED_FLAGS.includes(flag.split("=")[0] ?? "")))
    return { name, fate: "flag", said: "" };
  const args = [...flags, file];
  const guarded = () => endOf(host.start(node, args, { cwd: checkout, env: testFolder(scratch, lane) }));
  let ended = await guarded();
  if (ended.outcome === "failed") {
    const env = { ...process.env, ...testFolder(scratch, lane) };
    const bare = await endOf(spawn(node, args, { cwd: checkout, env, stdio: ["ignore", "pipe", "pipe"] }));
    if (bare.outcome === "failed") return { name, fate: "bare", said: "" };
    // WHY again: tests of Node rest on time here and there.
    ended = await guarded();
  }
  if (ended.outcome !== "failed") return { name, fate: ended.outcome, said: "" };
  return { name, fate: reasonFor(name) === undefined ? "ours" : "listed", said: ended.said };
}

/** @param {readonly Row[]} rows @param {Fate} fate */
const count = (rows, fate) => rows.filter((row) => row.fate === fate).length;

/** @param {Map<string, Row[]>} groups @param {string} version */
function tableOf(groups, version) {
  const day = new Date().toISOString().slice(0, 10);
  const lines = [...groups].map(([group, rows]) => {
    const fates = /** @type {const} */ (["passed", "skipped", "bare", "flag", "listed", "ours"]);
    return `| ${group} | ${rows.length} | ${fates.map((fate) => count(rows, fate)).join(" | ")} |`;
  });
  const failed = [...groups.values()].flat().filter(({ fate }) => fate === "ours" || fate === "listed");
  const reasons = failed.map(
    ({ name, fate }) =>
      `- \`${name}\`: ${fate === "listed" ? reasonFor(name) : "not explained yet: a fault of ours"}`,
  );
  return [
    `# Node's own tests under the guard, ${version}`,
    "",
    `${day} · \`npm run node-suite -- --checkout DIR --node ${values.node} --record\``,
    "",
    "Each file of test/parallel runs under the enforcing guard as a subject that declares every file operation on `/`, every",
    "network operation on `localhost` and the sensitive imports; one that fails runs bare, and where that passes once more",
    'under the guard. "flag": the test needs a flag behind which the guard does not start (mostly `--expose-internals`).',
    "",
    "| group | files | passed | skipped by itself | fails bare too | flag | fails, reason below | fails, ours |",
    "|---|---|---|---|---|---|---|---|",
    ...lines,
    "",
    ...reasons,
    "",
  ].join("\n");
}

/** @param {string} checkout @returns {Promise<number>} exit code */
async function suite(checkout) {
  const node = await nodeOf(values.node);
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), "sp-node-tests-")));
  const host = await openHost(join(checkout, "test"));
  /** @type {Map<string, Row[]>} */
  const groups = new Map();
  try {
    for (const group of values.group) {
      const names = testsOf(checkout, group);
      /** @type {Row[]} */
      const rows = [];
      const lanes = Array.from({ length: LANES }, async (_, lane) => {
        for (let name = names.shift(); name !== undefined; name = names.shift()) {
          const row = await judge({ node, checkout, scratch, host }, name, lane);
          rows.push(row);
          if (row.fate === "ours") console.error(`${row.name}\n${row.said}\n`);
        }
      });
      await Promise.all(lanes);
      groups.set(
        group,
        rows.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      );
      console.error(`${group}: ${rows.length} files, ${count(rows, "ours")} fail only under the guard`);
    }
  } finally {
    await host.close();
    rmSync(scratch, { recursive: true, force: true });
  }
  const table = tableOf(groups, `Node ${values.node}`);
  console.log(table);
  const file = join(
    root,
    "docs",
    "results",
    `${new Date().toISOString().slice(0, 10)}-node-suite-${values.node}.md`,
  );
  if (values.record) writeFileSync(file, table);
  return [...groups.values()].flat().some(({ fate }) => fate === "ours") ? 1 : 0;
}

if (values.checkout === undefined)
  throw new Error("name a checkout of nodejs/node: `--checkout DIR`, at the tag of the Node that is tested");
process.exitCode = (await build()) || (await suite(realpathSync(values.checkout)));
