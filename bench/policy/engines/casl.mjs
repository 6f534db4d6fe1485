// @ts-check
/**
 * Purpose: @casl/ability, one ability per subject. CASL finds the rules of a resource type and operation by itself and
 * then tries their conditions one by one: as functions (the fastest way to say it), or as mongo `$regex`.
 */
import { groupBy } from "../workload.mjs";
import { onAllQueries, requirePeer } from "./engine.mjs";

/**
 * @typedef {import("../workload.mjs").Workload} Workload
 * @typedef {import("../workload.mjs").Rule} Rule
 * @typedef {{ resourceType: string, target: string }} Thing
 * @typedef {{ can(operation: string, thing: Thing): boolean }} OneAbility
 */

const { Ability, createMongoAbility } = requirePeer("@casl/ability");

const detectSubjectType = (/** @type {Thing} */ thing) => thing.resourceType;

/** @param {Workload} workload @param {(rules: Rule[]) => OneAbility} makeAbility */
function load(workload, makeAbility) {
  const rules = groupBy(workload.rules, ({ subject }) => `${subject}`);
  const abilities = new Map([...rules].map(([subject, own]) => [subject, makeAbility(own)]));
  const none = makeAbility([]);
  const { queries } = workload;
  const own = queries.map(({ subject }) => abilities.get(`${subject}`) ?? none);
  const operations = queries.map(({ operation }) => operation);
  const things = queries.map(({ resourceType, target }) => ({ resourceType, target }));
  return {
    ...onAllQueries(workload),
    /** @param {number} from @param {number} to */
    ask(from, to) {
      let allowed = 0;
      for (let at = from; at < to; at++) {
        const ability = /** @type {OneAbility} */ (own[at]);
        if (ability.can(/** @type {string} */ (operations[at]), /** @type {Thing} */ (things[at]))) allowed++;
      }
      return allowed;
    },
  };
}

/** @type {import("./engine.mjs").Engine} */
export const caslLambda = {
  id: "casl",
  label: "CASL 7.0.1, functions",
  load: (workload) =>
    load(
      workload,
      (rules) =>
        new Ability(
          rules.map(({ resourceType, operation, folder }) => ({
            action: operation,
            subject: resourceType,
            conditions: (/** @type {Thing} */ thing) => thing.target.startsWith(folder),
          })),
          { conditionsMatcher: (/** @type {unknown} */ matches) => matches, detectSubjectType },
        ),
    ),
};

/** @param {string} text */
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** @type {import("./engine.mjs").Engine} */
export const caslMongo = {
  id: "casl-mongo",
  label: "CASL 7.0.1, $regex",
  load: (workload) =>
    load(workload, (rules) =>
      createMongoAbility(
        rules.map(({ resourceType, operation, folder }) => ({
          action: operation,
          subject: resourceType,
          conditions: { target: { $regex: `^${escaped(folder)}` } },
        })),
        { detectSubjectType },
      ),
    ),
};
