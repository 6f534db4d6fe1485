// @ts-check
/**
 * Purpose: our engine, once without help of its memory and once through it.
 *
 * Cold: before each window every subject gets a new `ActiveContext` (its memory is empty) and every target is parsed
 * anew (its text was never hashed); then each of the distinct targets is asked once.
 * Repeated: a few targets are asked again and again through the same contexts.
 */
import { parseAccess, parseSubject, whatwgUrl } from "@sallyport/contract";
import { ActiveContext, PLAIN_CONTEXT, Snapshot, decide } from "@sallyport/policy";
import { pickHot } from "../workload.mjs";
import { onAllQueries } from "./engine.mjs";

/**
 * @typedef {import("../workload.mjs").Workload} Workload
 * @typedef {import("../workload.mjs").Query} Query
 * @typedef {import("@sallyport/policy").Context} Context
 * @typedef {import("@sallyport/policy").Question} Question
 * @typedef {import("@sallyport/contract").Subject} Subject
 */

const NOW_MS = 1_800_000_000_000;

/** @param {number} number @returns {Subject} */
export function subjectOf(number) {
  const parsed = parseSubject("tool", `tool-${number}`);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.value;
}

/** @param {number} number @returns {Context} */
const contextOf = (number) => ({
  ...PLAIN_CONTEXT,
  frames: [{ subject: subjectOf(number), phase: "runtime", entry: "host", contracts: [`tool-${number}`] }],
  organizationId: 1,
  userId: 2,
  sessionKey: "session",
});

/** @param {number} length */
const numbers = (length) => Array.from({ length }, (_, number) => number);

/** One contract per subject. @param {Workload} workload @returns {import("@sallyport/policy").Contract[]} */
export function contractsOf({ rules, subjects }) {
  /** @type {import("@sallyport/policy").AccessRule[][]} */
  const lists = numbers(subjects).map(() => []);
  for (const { subject, resourceType, operation, declared } of rules) {
    const rule = { resourceType, operation, target: declared };
    lists[subject]?.push(/** @type {import("@sallyport/policy").AccessRule} */ (rule));
  }
  return lists.map((access, number) => ({ id: `tool-${number}`, access }));
}

export const emptySnapshot = () => new Snapshot({ seed: [0x1234567, 0x89abcdef | 0], parseUrl: whatwgUrl });

/** Applies a change that must be taken. @param {Snapshot} snapshot @param {import("@sallyport/policy").Change} change */
export function applyChange(snapshot, change) {
  const taken = snapshot.apply(change);
  if (!taken.ok) throw new Error(`a change was refused: ${taken.message}`);
}

/** @type {WeakMap<Workload, Snapshot>} */
const snapshots = new WeakMap();

/** The workload in an index; made once. @param {Workload} workload */
export function snapshotOf(workload) {
  const known = snapshots.get(workload);
  if (known !== undefined) return known;
  const snapshot = emptySnapshot();
  snapshots.set(workload, snapshot);
  for (const contract of contractsOf(workload)) applyChange(snapshot, { kind: "contract_set", contract });
  return snapshot;
}

/** @param {Query} query @returns {Question} */
export function questionOf(query) {
  const parsed = parseAccess(query, whatwgUrl);
  if (!parsed.ok) throw new Error(`the workload holds a target that is no target: ${query.target}`);
  // WHY: reading a character makes one flat text of the rope that joining its parts left: the last of normalizing.
  parsed.value.target.text.charCodeAt(0);
  return { access: parsed.value, ask: "default", nowMs: NOW_MS };
}

/** @param {Snapshot} snapshot @param {number} subjects */
export const openContexts = (snapshot, subjects) =>
  numbers(subjects).map((number) => new ActiveContext(snapshot, contextOf(number)));

/** WHY parallel arrays: the loop of the bare Map has the same shape, and neither pays for a destructured pair. */
class Asker {
  /** @type {ActiveContext[]} */
  actives = [];
  /** @type {Question[]} */
  questions = [];

  /** @param {Snapshot} snapshot @param {Workload} workload @param {readonly Query[]} queries */
  open(snapshot, workload, queries) {
    const contexts = openContexts(snapshot, workload.subjects);
    this.actives = queries.map(({ subject }) => /** @type {ActiveContext} */ (contexts[subject]));
    this.questions = queries.map(questionOf);
  }

  /** @param {number} from @param {number} to */
  ask(from, to) {
    const { actives, questions } = this;
    let allowed = 0;
    for (let at = from; at < to; at++) {
      const verdict = decide(
        /** @type {ActiveContext} */ (actives[at]),
        /** @type {Question} */ (questions[at]),
      );
      if (verdict.allowed) allowed++;
    }
    return allowed;
  }
}

/** @type {import("./engine.mjs").Engine} */
export const sallyportCold = {
  id: "sallyport",
  label: "Sallyport, first sight",
  load(workload) {
    const snapshot = snapshotOf(workload);
    const asker = new Asker();
    return {
      ...onAllQueries(workload),
      prepare: () => asker.open(snapshot, workload, workload.queries),
      ask: (from, to) => asker.ask(from, to),
    };
  },
};

/** @type {import("./engine.mjs").Engine} */
export const sallyportHot = {
  id: "sallyport-repeated",
  label: "Sallyport, repeated",
  load(workload) {
    const hot = pickHot(workload);
    const asker = new Asker();
    const queries = hot.map((at) => /** @type {Query} */ (workload.queries[at]));
    asker.open(snapshotOf(workload), workload, queries);
    return repeated(hot, workload, (from, to) => asker.ask(from, to));
  },
};

const TURNS = 100;

/**
 * The hot targets, over and over: query `at` is hot target `at % length`.
 * @param {readonly number[]} hot @param {Workload} workload @param {(from: number, to: number) => number} ask
 * @returns {import("./engine.mjs").Loaded}
 */
export function repeated(hot, workload, ask) {
  const { length } = hot;
  return {
    count: length * TURNS,
    expected: (at) => workload.expected[hot[at % length] ?? -1] === true,
    ask(from, to) {
      let allowed = 0;
      for (let at = from; at < to;) {
        const start = at % length;
        const end = Math.min(length, start + (to - at));
        allowed += ask(start, end);
        at += end - start;
      }
      return allowed;
    },
  };
}
