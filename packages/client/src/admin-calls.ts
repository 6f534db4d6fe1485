/**
 * What a client of the administration API can do: one method for each call. Answers are values of the contract. Throws
 * `AdminCallError` where the server refuses the call itself; a decision that is refused is a value.
 */
import type { Decision, Denial } from "@sallyport/contract";
import type {
  Account,
  AdminApprovalFilter,
  AdminEventFilter,
  AdminIdentityFilter,
  AdminJobFilter,
  AdminPage,
  AdminPageRequest,
  AdminProfileFilter,
  AdminRequestFilter,
  AdminSession,
  BatchAnswer,
  ChangeAnswerView,
  CredentialWords,
  DecisionBatch,
  EventStats,
  EventView,
  FollowedView,
  FreezeView,
  FreezeWordsView,
  Grant,
  JobView,
  LiveChange,
  ManifestView,
  ModeView,
  ModeWordsView,
  NewAccount,
  PermissionStateView,
  ProfileView,
  RequestDetail,
  RequestView,
  RuleView,
  RuleWordsView,
  SessionView,
  SignInLink,
  SignInLinkWords,
  SessionWords,
  Trial,
  TrialAnswer,
  VerifyView,
} from "@sallyport/contract/admin";
import type { IssuedCredential, RemoteDecision } from "@sallyport/contract/remote";

export type AdminDecisionKind = "approve_for_session" | "approve_permanently" | "deny" | "block";

export interface FollowOptions {
  /** `cursor` of the last event that was seen, or `start`; what comes from now on unless said. */
  readonly after?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface AdminClient {
  /** Who is signed in; also where nobody is. Remembers the CSRF token. */
  session(): Promise<AdminSession>;
  signInWithLink(token: string): Promise<AdminSession>;
  signInWithPassword(name: string, password: string): Promise<AdminSession>;
  signOut(): Promise<void>;
  /** A one-time link for somebody who lost their way in. */
  createSignInLink(words: SignInLinkWords): Promise<SignInLink>;

  accounts(page?: AdminPageRequest): Promise<AdminPage<Account>>;
  createAccount(words: NewAccount): Promise<Account>;
  setPassword(accountId: string, password: string): Promise<Account>;
  disableAccount(
    accountId: string,
    words?: { readonly disabled: boolean; readonly reason?: string },
  ): Promise<Account>;

  requests(filter?: AdminRequestFilter, page?: AdminPageRequest): Promise<AdminPage<RequestView>>;
  request(id: string): Promise<RequestDetail>;
  decide(
    kind: AdminDecisionKind,
    by: RemoteDecision["by"],
    words?: RemoteDecision["words"],
  ): Promise<Decision>;
  /** All or none. */
  decideBatch(items: DecisionBatch["items"]): Promise<BatchAnswer>;

  approvals(filter?: AdminApprovalFilter, page?: AdminPageRequest): Promise<AdminPage<Grant>>;
  revokeApproval(id: string, reason?: string): Promise<ChangeAnswerView>;
  denials(filter?: AdminIdentityFilter, page?: AdminPageRequest): Promise<AdminPage<Denial>>;
  revokeDenial(id: string, reason?: string): Promise<ChangeAnswerView>;
  rules(): Promise<AdminPage<RuleView>>;
  setRule(words: RuleWordsView): Promise<ChangeAnswerView>;
  removeRule(id: string, reason?: string): Promise<ChangeAnswerView>;
  mode(): Promise<ModeView>;
  setMode(words: ModeWordsView): Promise<ChangeAnswerView>;
  freezeState(): Promise<FreezeView>;
  freeze(words: FreezeWordsView): Promise<ChangeAnswerView>;

  jobs(filter?: AdminJobFilter, page?: AdminPageRequest): Promise<AdminPage<JobView>>;
  retryJob(id: string): Promise<ChangeAnswerView>;
  sessions(page?: AdminPageRequest): Promise<AdminPage<SessionView>>;
  endSession(session: SessionWords): Promise<ChangeAnswerView>;
  manifests(): Promise<AdminPage<ManifestView>>;
  permissionState(): Promise<PermissionStateView>;
  sandboxProfiles(filter?: AdminProfileFilter, page?: AdminPageRequest): Promise<AdminPage<ProfileView>>;

  events(filter?: AdminEventFilter, page?: AdminPageRequest): Promise<AdminPage<EventView>>;
  /** Ends with its signal, or where the connection ends: go on from the last cursor. */
  followEvents(filter?: AdminEventFilter, options?: FollowOptions): AsyncGenerator<FollowedView>;
  /** The whole log as JSON lines that can be verified alone. */
  exportEvents(signal?: AbortSignal): AsyncGenerator<string>;
  verifyEvents(): Promise<VerifyView>;
  eventStats(bucketMs: number, filter?: AdminEventFilter): Promise<EventStats>;
  /** Says that something changed, never what; the first one is `hello`. */
  live(signal?: AbortSignal): AsyncGenerator<LiveChange>;

  /** What would happen. Registers nothing. */
  check(trial: Trial): Promise<TrialAnswer>;
  issueCredential(words: CredentialWords): Promise<IssuedCredential>;
  revokeCredential(credentialId: string, reason?: string): Promise<void>;
}
