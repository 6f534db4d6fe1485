// @ts-check
/**
 * Purpose: casbin's `enforceSync`, which evaluates its matcher for one policy after the other: once with all rules in
 * one enforcer, as its documentation has it, and once with one enforcer per subject, resource type and operation.
 */
import { groupBy, shardOf } from "../workload.mjs";
import { onAllQueries, requirePeer } from "./engine.mjs";

/**
 * @typedef {import("../workload.mjs").Workload} Workload
 * @typedef {import("../workload.mjs").Rule} Rule
 * @typedef {{ enforceSync(...request: string[]): boolean }} Enforcer
 */

const { newEnforcer, newModelFromString } = requirePeer("casbin");

const WHOLE = `
[request_definition]
r = sub, type, act, obj
[policy_definition]
p = sub, type, act, obj
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = r.sub == p.sub && r.type == p.type && r.act == p.act && isBelow(r.obj, p.obj)
`;

const SHARD = `
[request_definition]
r = obj
[policy_definition]
p = obj
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = isBelow(r.obj, p.obj)
`;

/** @param {string} model @param {string[][]} policies @returns {Promise<Enforcer>} */
async function makeEnforcer(model, policies) {
  const enforcer = await newEnforcer(newModelFromString(model));
  await enforcer.addFunction("isBelow", (/** @type {string} */ target, /** @type {string} */ folder) =>
    target.startsWith(folder),
  );
  await enforcer.addPolicies(policies);
  return enforcer;
}

/** @type {import("./engine.mjs").Engine} */
export const casbinWhole = {
  id: "casbin",
  label: "casbin 5.51.1",
  async load(workload) {
    const enforcer = await makeEnforcer(
      WHOLE,
      workload.rules.map((rule) => [`${rule.subject}`, rule.resourceType, rule.operation, rule.folder]),
    );
    const requests = workload.queries.map(
      (query) =>
        /** @type {const} */ ([`${query.subject}`, query.resourceType, query.operation, query.target]),
    );
    return {
      ...onAllQueries(workload),
      ask(from, to) {
        let allowed = 0;
        for (let at = from; at < to; at++) {
          const request = /** @type {NonNullable<(typeof requests)[number]>} */ (requests[at]);
          if (enforcer.enforceSync(request[0], request[1], request[2], request[3])) allowed++;
        }
        return allowed;
      },
    };
  },
};

/** @type {import("./engine.mjs").Engine} */
export const casbinSharded = {
  id: "casbin-sharded",
  label: "casbin 5.51.1, sharded",
  async load(workload) {
    // WHY: without any policy casbin evaluates the matcher once on empty values, and every text begins with nothing.
    const none = await makeEnforcer(SHARD, [["nothing begins like this"]]);
    /** @type {Map<string, Enforcer>} */
    const shards = new Map();
    for (const [name, rules] of groupBy(workload.rules, shardOf)) {
      const policies = rules.map(({ folder }) => [folder]);
      shards.set(name, await makeEnforcer(SHARD, policies));
    }
    const own = workload.queries.map((query) => shards.get(shardOf(query)) ?? none);
    const targets = workload.queries.map(({ target }) => target);
    return {
      ...onAllQueries(workload),
      ask(from, to) {
        let allowed = 0;
        for (let at = from; at < to; at++) {
          const enforcer = /** @type {Enforcer} */ (own[at]);
          if (enforcer.enforceSync(/** @type {string} */ (targets[at]))) allowed++;
        }
        return allowed;
      },
    };
  },
};
