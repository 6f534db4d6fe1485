/** All verbs over one scope. A group is made when it is first used: most transactions need two or three. */
import type { StoreTransaction } from "../port.ts";
import { approvalVerbs } from "./approval-verbs.ts";
import { eventVerbs } from "./audit-verbs.ts";
import { checkpointVerbs } from "./checkpoint-verbs.ts";
import { continuationVerbs } from "./continuation-verbs.ts";
import { jobVerbs } from "./job-verbs.ts";
import { denialVerbs, ruleVerbs, sessionVerbs, settingVerbs } from "./policy-verbs.ts";
import { recordVerbs } from "./record-verbs.ts";
import { requestVerbs } from "./request-verbs.ts";
import { nodeVerbs, revisionVerbs, storeNowMs } from "./revision-verbs.ts";
import type { Scope } from "./scope.ts";

const GROUPS = {
  requests: requestVerbs,
  continuations: continuationVerbs,
  approvals: approvalVerbs,
  denials: denialVerbs,
  rules: ruleVerbs,
  sessions: sessionVerbs,
  settings: settingVerbs,
  jobs: jobVerbs,
  events: eventVerbs,
  checkpoints: checkpointVerbs,
  revisions: revisionVerbs,
  nodes: nodeVerbs,
  records: recordVerbs,
} as const satisfies {
  readonly [K in Exclude<keyof StoreTransaction, "nowMs">]: (scope: Scope) => StoreTransaction[K];
};
type Group = keyof typeof GROUPS;

class Transaction {
  readonly #scope: Scope;
  readonly #made: { [K in Group]?: StoreTransaction[K] } = {};

  constructor(scope: Scope) {
    this.#scope = scope;
  }

  nowMs(): Promise<number> {
    return storeNowMs(this.#scope);
  }

  group(name: Group): unknown {
    return (this.#made[name] ??= GROUPS[name](this.#scope) as never);
  }
}

for (const name of Object.keys(GROUPS) as readonly Group[]) {
  Object.defineProperty(Transaction.prototype, name, {
    get(this: Transaction) {
      return this.group(name);
    },
  });
}

export const storeTransaction = (scope: Scope): StoreTransaction =>
  new Transaction(scope) as unknown as StoreTransaction;
