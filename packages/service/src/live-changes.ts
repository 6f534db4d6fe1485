/**
 * That something changed, and of what kind, on any node: made from the log as it grows. Says nothing of what it was, so
 * that whoever watches has to ask, and asking takes authority.
 */
import type { PolicyAction } from "@sallyport/contract";
import { LIVE_TOPICS, type LiveTopic } from "@sallyport/contract/admin";
import { followEvents } from "./follow-events.ts";
import type { NodeParts } from "./node-parts.ts";

const BY_ACTION: Readonly<Record<PolicyAction, readonly LiveTopic[]>> = {
  approve_for_session: ["requests", "approvals", "sessions", "jobs"],
  approve_permanently: ["requests", "approvals", "denials", "jobs"],
  deny: ["requests", "approvals", "denials"],
  block: ["requests", "approvals", "denials", "rules"],
  revoke_approval: ["approvals", "sessions"],
  revoke_denial: ["denials"],
  set_rule: ["rules"],
  remove_rule: ["rules"],
  set_mode: ["mode"],
  set_freeze: ["freeze"],
  end_session: ["sessions", "approvals", "requests"],
  complete_setup: [],
  retry_resume: ["jobs"],
  retain_events: [],
  set_account: [],
  set_own_password: [],
  sign_in: [],
  issue_credential: [],
  revoke_credential: [],
  issue_token: [],
  revoke_token: [],
  retry_delivery: ["deliveries"],
  give_up_delivery: ["deliveries"],
  list: [],
};

export interface ServiceChange {
  readonly revision: number;
  readonly what: readonly LiveTopic[];
}

/** Ends with its signal and with the service. For the host: it needs no person. */
export async function* liveChanges(parts: NodeParts, signal: AbortSignal): AsyncGenerator<ServiceChange> {
  for await (const followed of await followEvents(parts, { signal })) {
    const topics = new Set<LiveTopic>(["events"]);
    if (followed.kind === "event") {
      const { type, code } = followed.event;
      for (const topic of topicsOf(type, code)) topics.add(topic);
    }
    yield { revision: parts.live.revision, what: LIVE_TOPICS.filter((topic) => topics.has(topic)) };
  }
}

function topicsOf(type: string, code: string | null): readonly LiveTopic[] {
  if (type === "permission.requested") return ["requests", "sessions"];
  if (type === "permission.resolved") return ["requests", "jobs"];
  if (type !== "policy.changed" || code === null) return [];
  return Object.hasOwn(BY_ACTION, code) ? BY_ACTION[code as PolicyAction] : LIVE_TOPICS;
}
