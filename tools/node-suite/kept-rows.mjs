// @ts-check
/**
 * Purpose: what became of each test, kept in the cache folder as one line of JSON per run, so that a run that was broken
 * off goes on where it was, and what bare Node does is found out once. The last line of a test counts.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "../setup.mjs";

/** @typedef {"passed" | "skipped" | "failed"} Outcome */
/** @typedef {{ name: string, tag?: string | undefined, bare?: Outcome | undefined, guarded?: Outcome | "flag" | undefined, said?: string | undefined }} Row */

const ENDING = ".jsonl";

function keptFolder() {
  const folder = join(cacheFolder(), "node-suite");
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** The Nodes of which something is known. */
export function keptVersions() {
  return readdirSync(keptFolder())
    .filter((name) => name.endsWith(ENDING))
    .map((name) => name.slice(0, -ENDING.length))
    .toSorted();
}

/** @param {string} version of the Node, exact */
export function openRows(version) {
  const file = join(keptFolder(), `${version}${ENDING}`);
  /** @type {Map<string, Row>} */
  const rows = new Map();
  for (const line of existsSync(file) ? readFileSync(file, "utf8").split("\n") : []) {
    if (line !== "") keep(JSON.parse(line));
  }
  /** @param {Row} row */
  function keep(row) {
    rows.set(row.name, { ...rows.get(row.name), ...row });
  }
  return Object.freeze({
    /** @returns {Row[]} */
    all: () => [...rows.values()].toSorted((left, right) => (left.name < right.name ? -1 : 1)),
    /** @param {string} name @returns {Row} */
    of: (name) => rows.get(name) ?? { name },
    /** @param {Row} row */
    add: (row) => {
      keep(row);
      appendFileSync(file, `${JSON.stringify(row)}\n`);
    },
  });
}
