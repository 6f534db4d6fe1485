/**
 * The typed client of the administration API over HTTP, for console and command line. Runs in a browser: only `fetch`.
 * Trusts the server at its origin for what it says; parses every answer before it is given on.
 */
import type { Decision } from "@sallyport/contract";
import {
  type AdminApprovalFilter,
  type AdminEventFilter,
  type AdminIdentityFilter,
  type AdminJobFilter,
  type AdminPageRequest,
  type AdminProfileFilter,
  type AdminQuery,
  type AdminRequestFilter,
  type AdminSession,
  type CredentialWords,
  type DecisionBatch,
  type FreezeWordsView,
  type ModeWordsView,
  type NewAccount,
  type RuleWordsView,
  type SessionWords,
  type SignInLinkWords,
  type Trial,
  accountPageWire,
  accountWire,
  adminSessionWire,
  batchAnswerWire,
  changeAnswerWire,
  credentialWordsWire,
  decisionBatchWire,
  denialPageWire,
  disableAccountWire,
  doneWire,
  eventPageWire,
  eventStatsWire,
  followedWire,
  formatAdminQuery,
  freezeViewWire,
  freezeWordsWire,
  grantPageWire,
  jobPageWire,
  linkSignInWire,
  liveChangeWire,
  manifestPageWire,
  modeViewWire,
  modeWordsWire,
  newAccountWire,
  newPasswordWire,
  passwordSignInWire,
  permissionStateViewWire,
  profilePageWire,
  requestDetailWire,
  requestPageWire,
  rulePageWire,
  ruleWordsWire,
  sessionPageWire,
  sessionWordsWire,
  signInLinkWire,
  signInLinkWordsWire,
  trialAnswerWire,
  trialWire,
  verifyViewWire,
} from "@sallyport/contract/admin";
import {
  type RemoteDecision,
  decisionWire,
  issuedCredentialWire,
  remoteDecisionWire,
} from "@sallyport/contract/remote";
import { AdminCallError, type AdminCallOptions, AdminCaller } from "./admin-call.ts";
import type { AdminClient, AdminDecisionKind, FollowOptions } from "./admin-calls.ts";
import { eventData, textLines } from "./admin-stream.ts";

export { AdminCallError, type AdminCallOptions } from "./admin-call.ts";
export type { AdminClient, AdminDecisionKind, FollowOptions } from "./admin-calls.ts";

export function createAdminClient(options: AdminCallOptions): AdminClient {
  return new HttpAdminClient(new AdminCaller(options));
}

const SSE = "text/event-stream, application/problem+json";
const LINES = "application/jsonl, application/problem+json";
const at = (id: string): string => encodeURIComponent(id);
const because = (reason: string | undefined): object => (reason === undefined ? {} : { reason });

class HttpAdminClient implements AdminClient {
  readonly #caller: AdminCaller;

  constructor(caller: AdminCaller) {
    this.#caller = caller;
  }

  async session(): Promise<AdminSession> {
    return this.#signed(await this.#caller.call(adminSessionWire, { method: "GET", path: "/session" }));
  }

  async signInWithLink(token: string): Promise<AdminSession> {
    return this.#signed(
      await this.#post(adminSessionWire, "/sign-in/link", linkSignInWire.format({ token })),
    );
  }

  async signInWithPassword(name: string, password: string): Promise<AdminSession> {
    const words = passwordSignInWire.format({ name, password });
    return this.#signed(await this.#post(adminSessionWire, "/sign-in/password", words));
  }

  async signOut(): Promise<void> {
    await this.#post(doneWire, "/sign-out");
    this.#caller.remember(null);
  }

  createSignInLink(words: SignInLinkWords) {
    return this.#post(signInLinkWire, "/sign-in/links", signInLinkWordsWire.format(words));
  }

  accounts(page: AdminPageRequest = {}) {
    return this.#list(accountPageWire, "/accounts", { ...page });
  }

  createAccount(words: NewAccount) {
    return this.#post(accountWire, "/accounts", newAccountWire.format(words));
  }

  setPassword(accountId: string, password: string) {
    return this.#post(
      accountWire,
      `/accounts/${at(accountId)}/password`,
      newPasswordWire.format({ password }),
    );
  }

  disableAccount(
    accountId: string,
    words: { readonly disabled: boolean; readonly reason?: string } = { disabled: true },
  ) {
    return this.#post(accountWire, `/accounts/${at(accountId)}/disable`, disableAccountWire.format(words));
  }

  requests(filter: AdminRequestFilter = {}, page: AdminPageRequest = {}) {
    return this.#list(requestPageWire, "/requests", { ...filter, ...page });
  }

  request(id: string) {
    return this.#caller.call(requestDetailWire, { method: "GET", path: `/requests/${at(id)}` });
  }

  async decide(kind: AdminDecisionKind, by: RemoteDecision["by"], words: RemoteDecision["words"] = {}) {
    const body = remoteDecisionWire.format({ by, words });
    return (await this.#post(decisionWire, `/decisions/${kind}`, body)) as Decision;
  }

  decideBatch(items: DecisionBatch["items"]) {
    return this.#post(batchAnswerWire, "/decisions/batch", decisionBatchWire.format({ items }));
  }

  approvals(filter: AdminApprovalFilter = {}, page: AdminPageRequest = {}) {
    return this.#list(grantPageWire, "/approvals", { ...filter, ...page });
  }

  revokeApproval(id: string, reason?: string) {
    return this.#post(changeAnswerWire, `/approvals/${at(id)}/revoke`, because(reason));
  }

  denials(filter: AdminIdentityFilter = {}, page: AdminPageRequest = {}) {
    return this.#list(denialPageWire, "/denials", { ...filter, ...page });
  }

  revokeDenial(id: string, reason?: string) {
    return this.#post(changeAnswerWire, `/denials/${at(id)}/revoke`, because(reason));
  }

  rules() {
    return this.#list(rulePageWire, "/rules", {});
  }

  setRule(words: RuleWordsView) {
    return this.#post(changeAnswerWire, "/rules", ruleWordsWire.format(words as never));
  }

  removeRule(id: string, reason?: string) {
    return this.#post(changeAnswerWire, `/rules/${at(id)}/remove`, because(reason));
  }

  mode() {
    return this.#caller.call(modeViewWire, { method: "GET", path: "/mode" });
  }

  setMode(words: ModeWordsView) {
    return this.#post(changeAnswerWire, "/mode", modeWordsWire.format(words));
  }

  freezeState() {
    return this.#caller.call(freezeViewWire, { method: "GET", path: "/freeze" });
  }

  freeze(words: FreezeWordsView) {
    return this.#post(changeAnswerWire, "/freeze", freezeWordsWire.format(words));
  }

  jobs(filter: AdminJobFilter = {}, page: AdminPageRequest = {}) {
    return this.#list(jobPageWire, "/jobs", { ...filter, ...page });
  }

  retryJob(id: string) {
    return this.#post(changeAnswerWire, `/jobs/${at(id)}/retry`);
  }

  sessions(page: AdminPageRequest = {}) {
    return this.#list(sessionPageWire, "/sessions", { ...page });
  }

  endSession(session: SessionWords) {
    return this.#post(changeAnswerWire, "/sessions/end", sessionWordsWire.format(session));
  }

  manifests() {
    return this.#list(manifestPageWire, "/manifests", {});
  }

  permissionState() {
    return this.#caller.call(permissionStateViewWire, { method: "GET", path: "/permission-state" });
  }

  sandboxProfiles(filter: AdminProfileFilter = {}, page: AdminPageRequest = {}) {
    return this.#list(profilePageWire, "/sandbox-profiles", { ...filter, ...page });
  }

  events(filter: AdminEventFilter = {}, page: AdminPageRequest = {}) {
    return this.#list(eventPageWire, "/events", { ...filter, ...page });
  }

  followEvents(filter: AdminEventFilter = {}, { after, signal }: FollowOptions = {}) {
    return this.#stream(followedWire, "/events/follow", { ...filter, after }, signal);
  }

  async *exportEvents(signal?: AbortSignal): AsyncGenerator<string> {
    const response = await this.#caller.open({ method: "GET", path: "/events/export", signal }, LINES);
    if (response.body !== null) yield* textLines(response.body as ReadableStream<Uint8Array>);
  }

  verifyEvents() {
    return this.#post(verifyViewWire, "/events/verify");
  }

  eventStats(bucketMs: number, filter: AdminEventFilter = {}) {
    return this.#list(eventStatsWire, "/events/stats", { ...filter, bucketMs });
  }

  live(signal?: AbortSignal) {
    return this.#stream(liveChangeWire, "/live", {}, signal);
  }

  check(trial: Trial) {
    return this.#post(trialAnswerWire, "/check", trialWire.format(trial));
  }

  issueCredential(words: CredentialWords) {
    return this.#post(issuedCredentialWire, "/runtime-credentials", credentialWordsWire.format(words));
  }

  async revokeCredential(credentialId: string, reason?: string): Promise<void> {
    await this.#post(doneWire, `/runtime-credentials/${at(credentialId)}/revoke`, because(reason));
  }

  #signed(session: AdminSession): AdminSession {
    this.#caller.remember(session.csrfToken);
    return session;
  }

  #list<W extends { readonly parse: (value: unknown) => unknown }>(wire: W, path: string, query: object) {
    return this.#caller.call(wire, { method: "GET", path, query: formatAdminQuery(query as AdminQuery) });
  }

  #post<W extends { readonly parse: (value: unknown) => unknown }>(
    wire: W,
    path: string,
    body: unknown = {},
  ) {
    return this.#caller.call(wire, { method: "POST", path, body });
  }

  async *#stream<Value>(
    wire: { readonly parse: (value: unknown) => { readonly ok: boolean; readonly value?: Value } },
    path: string,
    query: object,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Value> {
    const asked = formatAdminQuery(query as AdminQuery);
    const response = await this.#caller.open({ method: "GET", path, query: asked, signal }, SSE);
    if (response.body === null) return;
    for await (const data of eventData(response.body as ReadableStream<Uint8Array>)) {
      const parsed = wire.parse(JSON.parse(data));
      if (!parsed.ok) throw new AdminCallError("unavailable", 200, "the stream is not understood");
      yield parsed.value as Value;
    }
  }
}
