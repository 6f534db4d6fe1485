// @ts-check
/**
 * Purpose: the rules and the questions that every engine is given, and the obvious oracle that says who is right.
 * The same seed gives the same workload on every machine.
 *
 * A rule allows one subject one operation below one folder: `folder` ends in a slash, so that a plain `startsWith`
 * matches by whole segments. `declared` is the same rule in the spelling of a manifest.
 */

/**
 * @typedef {"network" | "filesystem"} ResourceType
 * @typedef {{ subject: number, resourceType: ResourceType, operation: string, folder: string, declared: string }} Rule
 * @typedef {{ subject: number, resourceType: ResourceType, operation: string, target: string }} Query
 * @typedef {{ size: number, subjects: number, rules: readonly Rule[], queries: readonly Query[], expected: readonly boolean[] }} Workload
 * @typedef {() => number} Random uniform in [0, 1)
 */

export const SUBJECT_COUNT = 50;
export const QUERY_COUNT = 20_000;
export const HOT_COUNT = 256;
const HIT_SHARE = 0.7;
const SEED = 0x5a11;

const OPERATIONS = Object.freeze({
  network: ["connect", "receive", "send"],
  filesystem: ["read", "create", "modify", "delete", "execute"],
});
const FOLDER_NAMES = ["data", "reports", "cache", "uploads", "assets", "exports", "models", "logs"];
const FILE_NAMES = ["index.json", "summary.csv", "part.bin", "page.html", "notes.txt", "state.db"];

/** mulberry32. @param {number} seed @returns {Random} */
export function randomFrom(seed) {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** @template T @param {readonly T[]} list @param {Random} random @returns {T} */
const pick = (list, random) => /** @type {T} */ (list[Math.floor(random() * list.length)]);

/**
 * One flat string. WHY: a template leaves a rope that the first reader flattens, and the first reader is measured.
 * @param {string} text
 */
export const flat = (text) => Buffer.from(text, "latin1").toString("latin1");

/** @param {number} index @param {Random} random @returns {Rule} */
function makeRule(index, random) {
  const subject = index % SUBJECT_COUNT;
  const name = pick(FOLDER_NAMES, random);
  // WHY: by turns, and the subjects by turns as well, so that each subject has half of each.
  if (Math.floor(index / SUBJECT_COUNT) % 2 === index % 2) {
    const operation = pick(OPERATIONS.filesystem, random);
    const depth = random() < 0.5 ? "" : `${pick(FOLDER_NAMES, random)}/`;
    const folder = flat(`/srv/tenant-${index % 97}/${depth}project-${index}/${name}/`);
    return { subject, resourceType: "filesystem", operation, folder, declared: folder };
  }
  const operation = pick(OPERATIONS.network, random);
  const host = `api-${index}.region-${index % 13}.example.com`;
  if (random() < 0.5) {
    return {
      subject,
      resourceType: "network",
      operation,
      folder: flat(`https://${host}/`),
      declared: flat(host),
    };
  }
  const folder = flat(`https://${host}/v${1 + (index % 3)}/${name}/`);
  return { subject, resourceType: "network", operation, folder, declared: folder };
}

/** Only folders that may be read: what Node's own permissions can say. @param {number} index @param {Random} random @returns {Rule} */
function makePathRule(index, random) {
  const folder = flat(`/srv/tenant-${index % 97}/project-${index}/${pick(FOLDER_NAMES, random)}/`);
  return { subject: 0, resourceType: "filesystem", operation: "read", folder, declared: folder };
}

/** A target below the rule's folder; the number makes it distinct. @param {number} number @param {Random} random */
const below = (number, random) => `${pick(FOLDER_NAMES, random)}/item-${number}/${pick(FILE_NAMES, random)}`;

/**
 * Three ways to miss: another operation, a sibling that only looks alike, a root that nobody declared.
 * @param {Rule} rule @param {number} number @param {Random} random @param {boolean} pathsOnly @returns {Query}
 */
function makeMiss(rule, number, random, pathsOnly) {
  const { subject, resourceType, operation } = rule;
  const way = Math.floor(random() * (pathsOnly ? 2 : 3));
  const tail = below(number, random);
  if (way === 0) {
    const target = flat(`${rule.folder.slice(0, -1)}-evil/${tail}`);
    const isHost = rule.folder !== rule.declared;
    const alike = isHost ? flat(`https://${rule.declared}.evil.test/${tail}`) : target;
    return { subject, resourceType, operation, target: alike };
  }
  if (way === 1) {
    const root = resourceType === "network" ? `https://unknown-${number}.example.net` : `/unknown-${number}`;
    return { subject, resourceType, operation, target: flat(`${root}/${tail}`) };
  }
  const others = OPERATIONS[resourceType].filter((other) => other !== operation);
  return { subject, resourceType, operation: pick(others, random), target: flat(rule.folder + tail) };
}

/**
 * @param {number} size number of rules
 * @param {{ pathsOnly?: boolean, queries?: number }} [options]
 * @returns {Workload}
 */
export function makeWorkload(size, { pathsOnly = false, queries: count = QUERY_COUNT } = {}) {
  const random = randomFrom(SEED ^ size);
  const rules = Array.from({ length: size }, (_, index) =>
    pathsOnly ? makePathRule(index, random) : makeRule(index, random),
  );
  const queries = Array.from({ length: count }, (_, number) => {
    const rule = pick(rules, random);
    if (random() >= HIT_SHARE) return makeMiss(rule, number, random, pathsOnly);
    const { subject, resourceType, operation, folder } = rule;
    return { subject, resourceType, operation, target: flat(folder + below(number, random)) };
  });
  if (new Set(queries.map(({ target }) => target)).size !== count)
    throw new Error("targets are not distinct");
  const subjects = pathsOnly ? 1 : SUBJECT_COUNT;
  return { size, subjects, rules, queries, expected: judgeAll(rules, queries) };
}

/**
 * The part of a workload that concerns the first subjects: for an engine that takes long to load but holds each
 * subject apart, so that the others make no difference to a check.
 * @param {Workload} workload @param {number} subjects @returns {Workload}
 */
export function onlySubjects({ size, rules, queries, expected }, subjects) {
  const isKept = (/** @type {{ subject: number }} */ { subject }) => subject < subjects;
  return {
    size,
    subjects,
    rules: rules.filter(isKept),
    queries: queries.filter(isKept),
    expected: expected.filter((_, at) => isKept(/** @type {Query} */ (queries[at]))),
  };
}

/** Path rules of one subject, and fewer questions: the oracle reads every rule for each. @param {number} size */
export const makePathWorkload = (size) => makeWorkload(size, { pathsOnly: true, queries: 5_000 });

/**
 * The oracle: reads every rule of the subject for that resource type and operation, one after the other.
 * @param {readonly Rule[]} rules @param {readonly Query[]} queries @returns {boolean[]}
 */
function judgeAll(rules, queries) {
  const shards = groupBy(rules, shardOf);
  return queries.map((query) =>
    (shards.get(shardOf(query)) ?? []).some(({ folder }) => query.target.startsWith(folder)),
  );
}

/** The few targets that are asked again and again. @param {Workload} workload @returns {number[]} positions in `queries` */
export function pickHot({ queries }) {
  const random = randomFrom(SEED);
  /** @type {Set<number>} */
  const chosen = new Set();
  while (chosen.size < HOT_COUNT) chosen.add(Math.floor(random() * queries.length));
  return [...chosen];
}

/** @param {Rule | Query} of @returns {string} one name per subject, resource type and operation */
export const shardOf = ({ subject, resourceType, operation }) => `${subject}.${resourceType}.${operation}`;

/** @template {Rule | Query} T @param {readonly T[]} list @param {(item: T) => string} nameOf @returns {Map<string, T[]>} */
export function groupBy(list, nameOf) {
  /** @type {Map<string, T[]>} */
  const groups = new Map();
  for (const item of list) {
    const name = nameOf(item);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [item]);
    else group.push(item);
  }
  return groups;
}
