/**
 * The typed client of the administration API over HTTP, for console and command line. Runs in a browser: only `fetch`.
 * Trusts the server at its origin for what it says; parses every answer before it is given on.
 */
import type { Decision } from "@sallyport/contract";
import {
  type AdminApprovalFilter,
  type AdminDeliveryFilter,
  type AdminEventFilter,
  type AdminIdentityFilter,
  type AdminJobFilter,
  type AdminPageRequest,
  type AdminProfileFilter,
  type DecisionBatch,
  type FreezeWordsView,
  type ManifestView,
  type ModeWordsView,
  type RuleWordsView,
  type SessionWords,
  type Trial,
  batchAnswerWire,
  changeAnswerWire,
  decisionBatchWire,
  declaredUseWire,
  deliveryPageWire,
  deliveryViewWire,
  denialPageWire,
  eventPageWire,
  eventStatsWire,
  followedWire,
  freezeViewWire,
  freezeWordsWire,
  grantPageWire,
  guideWire,
  jobPageWire,
  manifestPageWire,
  modeViewWire,
  modeWordsWire,
  profilePageWire,
  requestDetailWire,
  rulePageWire,
  ruleWordsWire,
  sessionPageWire,
  sessionWordsWire,
  trialAnswerWire,
  trialWire,
  verifyViewWire,
} from "@sallyport/contract/admin";
import { type RemoteDecision, decisionWire, remoteDecisionWire } from "@sallyport/contract/remote";
import { type AdminCallOptions, AdminCaller } from "./admin-call.ts";
import type { AdminClient, AdminDecisionKind, FollowOptions } from "./admin-calls.ts";
import { textLines } from "./admin-stream.ts";
import { HttpPeopleClient, at, because } from "./people-client.ts";

export { AdminCallError, type AdminCallOptions, AdminCaller } from "./admin-call.ts";
export { inboxClientOf } from "./inbox-client.ts";
export type { AdminClient, AdminDecisionKind, FollowOptions, InboxClient } from "./admin-calls.ts";

export function createAdminClient(options: AdminCallOptions): AdminClient {
  return adminClientOf(new AdminCaller(options));
}

/** The same over a caller that is shared: what it remembers of the sign-in holds for all of them. */
export function adminClientOf(caller: AdminCaller): AdminClient {
  return new HttpAdminClient(caller);
}

const LINES = "application/jsonl, application/problem+json";

class HttpAdminClient extends HttpPeopleClient implements AdminClient {
  request(id: string) {
    return this.caller.call(requestDetailWire, { method: "GET", path: `/requests/${at(id)}` });
  }

  async decide(kind: AdminDecisionKind, by: RemoteDecision["by"], words: RemoteDecision["words"] = {}) {
    const body = remoteDecisionWire.format({ by, words });
    return (await this.caller.post(decisionWire, `/decisions/${kind}`, body)) as Decision;
  }

  decideBatch(items: DecisionBatch["items"]) {
    return this.caller.post(batchAnswerWire, "/decisions/batch", decisionBatchWire.format({ items }));
  }

  approvals(filter: AdminApprovalFilter = {}, page: AdminPageRequest = {}) {
    return this.caller.list(grantPageWire, "/approvals", { ...filter, ...page });
  }

  revokeApproval(id: string, reason?: string) {
    return this.caller.post(changeAnswerWire, `/approvals/${at(id)}/revoke`, because(reason));
  }

  denials(filter: AdminIdentityFilter = {}, page: AdminPageRequest = {}) {
    return this.caller.list(denialPageWire, "/denials", { ...filter, ...page });
  }

  revokeDenial(id: string, reason?: string) {
    return this.caller.post(changeAnswerWire, `/denials/${at(id)}/revoke`, because(reason));
  }

  rules() {
    return this.caller.list(rulePageWire, "/rules", {});
  }

  setRule(words: RuleWordsView) {
    return this.caller.post(changeAnswerWire, "/rules", ruleWordsWire.format(words as never));
  }

  removeRule(id: string, reason?: string) {
    return this.caller.post(changeAnswerWire, `/rules/${at(id)}/remove`, because(reason));
  }

  mode() {
    return this.caller.call(modeViewWire, { method: "GET", path: "/mode" });
  }

  setMode(words: ModeWordsView) {
    return this.caller.post(changeAnswerWire, "/mode", modeWordsWire.format(words));
  }

  freezeState() {
    return this.caller.call(freezeViewWire, { method: "GET", path: "/freeze" });
  }

  freeze(words: FreezeWordsView) {
    return this.caller.post(changeAnswerWire, "/freeze", freezeWordsWire.format(words));
  }

  jobs(filter: AdminJobFilter = {}, page: AdminPageRequest = {}) {
    return this.caller.list(jobPageWire, "/jobs", { ...filter, ...page });
  }

  retryJob(id: string) {
    return this.caller.post(changeAnswerWire, `/jobs/${at(id)}/retry`);
  }

  sessions(page: AdminPageRequest = {}) {
    return this.caller.list(sessionPageWire, "/sessions", { ...page });
  }

  endSession(session: SessionWords) {
    return this.caller.post(changeAnswerWire, "/sessions/end", sessionWordsWire.format(session));
  }

  declaredUse(subject: { readonly type: string; readonly name: string }, phase: ManifestView["phase"]) {
    const query = { subjectType: subject.type, subjectName: subject.name, phase };
    return this.caller.list(declaredUseWire, "/manifests/use", query);
  }

  manifests() {
    return this.caller.list(manifestPageWire, "/manifests", {});
  }

  guide() {
    return this.caller.call(guideWire, { method: "GET", path: "/guide" });
  }

  sandboxProfiles(filter: AdminProfileFilter = {}, page: AdminPageRequest = {}) {
    return this.caller.list(profilePageWire, "/sandbox-profiles", { ...filter, ...page });
  }

  events(filter: AdminEventFilter = {}, page: AdminPageRequest = {}) {
    return this.caller.list(eventPageWire, "/events", { ...filter, ...page });
  }

  followEvents(filter: AdminEventFilter = {}, { after, signal }: FollowOptions = {}) {
    return this.stream(followedWire, "/events/follow", { ...filter, after }, signal);
  }

  async *exportEvents(signal?: AbortSignal): AsyncGenerator<string> {
    const response = await this.caller.open({ method: "GET", path: "/events/export", signal }, LINES);
    if (response.body !== null) yield* textLines(response.body as ReadableStream<Uint8Array>);
  }

  verifyEvents() {
    return this.caller.post(verifyViewWire, "/events/verify");
  }

  eventStats(bucketMs: number, filter: AdminEventFilter = {}) {
    return this.caller.list(eventStatsWire, "/events/stats", { ...filter, bucketMs });
  }

  deliveries(filter: AdminDeliveryFilter = {}, page: AdminPageRequest = {}) {
    return this.caller.list(deliveryPageWire, "/deliveries", { ...filter, ...page });
  }

  retryDelivery(id: string, reason?: string) {
    return this.caller.post(deliveryViewWire, `/deliveries/${at(id)}/retry`, because(reason));
  }

  check(trial: Trial) {
    return this.caller.post(trialAnswerWire, "/check", trialWire.format(trial));
  }
}
