// @ts-check
/** Purpose: the dated table of Node's own tests: one per Node, and what differs from bare Node, by reason. */
import { reasonFor } from "./reasons.mjs";

/** @typedef {import("./kept-rows.mjs").Row} Row */
/** @typedef {{ version: string, groups: ReadonlyMap<string, readonly Row[]> }} NodeRows */

/** Ends under the guard as it does bare. @param {Row} row */
export function isSame({ guarded, bare }) {
  return guarded === "passed" || (guarded !== "flag" && guarded === bare);
}

/** @param {Row} row */
export function isUnexplained(row) {
  return !isSame(row) && whyOf(row) === undefined;
}

/** @param {Row} row */
function whyOf(row) {
  return row.guarded === "flag" ? FLAG : reasonFor(row);
}

const FLAG =
  "started with a flag that shows Node's internals or a debugger, behind which the guard does not start";

/** @param {NodeRows} node */
function tableOf({ version, groups }) {
  const ran = [...groups].filter(([, rows]) => rows.length > 0);
  const lines = ran.map(([group, rows]) => {
    const differ = rows.filter((row) => !isSame(row));
    const flags = differ.filter(({ guarded }) => guarded === "flag").length;
    const ours = differ.filter(isUnexplained).length;
    const counts = [rows.length, rows.length - differ.length, differ.length, flags, ours];
    return `| ${group} | ${counts.join(" | ")} |`;
  });
  const [{ tag = "" } = {}] = [...groups.values()].flat();
  return [
    `## Node ${version}, tests of ${tag}`,
    "",
    "| group | tests | same as bare | differ | of these: flag | without a reason |",
    "|---|---|---|---|---|---|",
    ...lines,
    "",
    ...reasonsOf([...groups.values()].flat()),
  ];
}

/** @param {readonly Row[]} rows */
function reasonsOf(rows) {
  /** @type {Map<string, string[]>} */
  const byReason = new Map();
  for (const row of rows.filter((one) => !isSame(one))) {
    const why = whyOf(row) ?? "**no reason: a fault of the guard**";
    byReason.set(why, [...(byReason.get(why) ?? []), `\`${row.name}\``]);
  }
  return [...byReason]
    .toSorted(([, left], [, right]) => right.length - left.length)
    .flatMap(([why, names]) => [`- ${why} (${names.length}): ${names.join(", ")}`]);
}

/** @param {readonly NodeRows[]} nodes @param {string} day */
export function documentOf(nodes, day) {
  return [
    "# Node's own tests under the guard",
    "",
    `${day} · \`npm run node-suite -- --checkout DIR --node 20\` and the same for 24, then \`--record\``,
    "",
    "Each file of test/parallel runs in a process of its own under the enforcing guard, with every check on, as a subject",
    "that declares every file operation on `/`, every network operation on `localhost` and on the unspecified addresses, and",
    "the sensitive imports; the other hosts and unix sockets that a test names are allowed by the host's classifier. One that",
    "fails or skips runs bare too; one that fails under the guard alone runs there once more. The rest passes in both.",
    '"flag": the test is started with a flag behind which the guard does not start.',
    "",
    ...nodes.flatMap((node) => [...tableOf(node), ""]),
  ].join("\n");
}
