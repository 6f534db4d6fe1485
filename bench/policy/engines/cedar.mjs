// @ts-check
/**
 * Purpose: Cedar (wasm) in the way that suits it best: policies parsed once, one set per subject, resource type and
 * operation, so that a question meets only the policies that could allow it. The target comes in the context, since
 * entities are converted on every call.
 */
import { setFlagsFromString } from "node:v8";
import { groupBy, shardOf } from "../workload.mjs";
import { onAllQueries, requirePeer } from "./engine.mjs";

/** @typedef {{ type: "success" | "failure", response?: { decision: "allow" | "deny" } }} Answer */

// WHY: with our engine in the same process Node 20 aborts ("unreachable code" in the deoptimizer), and with this flag it
// does not; it looks like an inlined wasm call that returns an object. Cedar alone is as fast with the flag as without.
setFlagsFromString("--no-turbo-inline-js-wasm-calls");

const cedar = requirePeer("@cedar-policy/cedar-wasm/nodejs");

/** @param {string} id @param {string} staticPolicies */
function preparse(id, staticPolicies) {
  const answer = cedar.preparsePolicySet(id, { staticPolicies });
  if (answer.type !== "success") throw new Error(`cedar refused a policy set: ${JSON.stringify(answer)}`);
}

/** @param {{ subject: number, operation: string }} of */
const headOf = ({ subject, operation }) =>
  `principal == Subject::"${subject}", action == Action::"${operation}", resource`;

/** @type {import("./engine.mjs").Engine} */
export const cedarSharded = {
  id: "cedar",
  label: "Cedar 4.13.0 (wasm), sharded",
  load(workload) {
    const shards = groupBy(workload.rules, shardOf);
    preparse("none", "");
    for (const [name, rules] of shards) {
      const policies = rules.map(
        (rule) => `permit(${headOf(rule)}) when { context.target like "${rule.folder}*" };`,
      );
      preparse(name, policies.join("\n"));
    }
    const calls = workload.queries.map((query) => ({
      principal: { type: "Subject", id: `${query.subject}` },
      action: { type: "Action", id: query.operation },
      resource: { type: "Target", id: query.resourceType },
      context: { target: query.target },
      preparsedPolicySetId: shards.has(shardOf(query)) ? shardOf(query) : "none",
      entities: [],
    }));
    return {
      ...onAllQueries(workload),
      ask(from, to) {
        let allowed = 0;
        for (let at = from; at < to; at++) {
          /** @type {Answer} */
          const answer = cedar.statefulIsAuthorized(calls[at]);
          if (answer.response === undefined) throw new Error(`cedar failed: ${JSON.stringify(answer)}`);
          if (answer.response.decision === "allow") allowed++;
        }
        return allowed;
      },
    };
  },
};
