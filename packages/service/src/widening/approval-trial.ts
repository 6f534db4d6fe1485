/**
 * A trial of one approval: would it have allowed this access? Asks the policy engine itself, with that approval and
 * nothing else, so that what is offered is what will hold.
 */
import { randomInt } from "node:crypto";
import { type Access, type Match, type Subject, type UrlParser, parseSubject } from "@sallyport/contract";
import {
  ActiveContext,
  type HashSeed,
  type Question,
  PLAIN_CONTEXT,
  Snapshot,
  decide,
} from "@sallyport/policy";

export interface TrialApproval {
  readonly target: string;
  readonly match: Match;
}

/** What the host knew about the access when it was blocked. */
export type KnownFacts = Pick<Question, "address" | "aliases" | "twin">;

const TRIAL_ID = "trial";

export class ApprovalTrial {
  readonly #active: ActiveContext | undefined;

  constructor(
    pair: Pick<Access, "resourceType" | "operation">,
    approval: TrialApproval,
    parseUrl: UrlParser,
  ) {
    const snapshot = new Snapshot({ seed: newSeed(), parseUrl });
    const taken = snapshot.apply({
      kind: "approval_set",
      approval: {
        id: TRIAL_ID,
        subject: SUBJECT,
        resourceType: pair.resourceType,
        operation: pair.operation,
        target: approval.target,
        match: approval.match,
        scope: "permanent",
        organizationId: null,
        userId: null,
        sessionKey: null,
        expiresAtMs: null,
        usesLeft: null,
      },
    });
    this.#active = taken.ok ? new ActiveContext(snapshot, CONTEXT) : undefined;
  }

  covers(access: Access, known: KnownFacts = {}): boolean {
    if (this.#active === undefined) return false;
    const { code, refs } = decide(this.#active, { access, ...known, ask: "passive", nowMs: 0 });
    return code === "allowed_permanent" && refs[0] === TRIAL_ID;
  }
}

/** WHY not the subject of the request: host code is allowed without any approval. */
const SUBJECT = trialSubject();

const CONTEXT = Object.freeze({
  frames: [{ subject: SUBJECT, phase: "runtime" as const, entry: "host" as const, contracts: [] }],
  ...PLAIN_CONTEXT,
});

function trialSubject(): Subject {
  const parsed = parseSubject("tool", "trial");
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.value;
}

function newSeed(): HashSeed {
  return [randomInt(2 ** 32), randomInt(2 ** 32)];
}
