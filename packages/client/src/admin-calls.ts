/**
 * What a client of the administration API can do: one method for each call. Answers are values of the contract. Throws
 * `AdminCallError` where the server refuses the call itself; a decision that is refused is a value.
 */
import type { Decision, Denial } from "@sallyport/contract";
import type {
  Account,
  AccountAccess,
  AdminApprovalFilter,
  AdminDeliveryFilter,
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
  CredentialView,
  CredentialWords,
  DecisionBatch,
  DeclaredUseView,
  DeliveryView,
  EventStats,
  EventView,
  FollowedView,
  FreezeView,
  FreezeWordsView,
  Grant,
  GuideView,
  Invite,
  Invited,
  JobView,
  LiveChange,
  MadeToken,
  ManifestView,
  ModeView,
  ModeWordsView,
  NewAccount,
  OwnPassword,
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
  TokenView,
  TokenWords,
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
  /** One's own; every sign-in of the account ends, also this one. */
  setOwnPassword(words: OwnPassword): Promise<void>;
  /** A one-time link for somebody who lost their way in. */
  createSignInLink(words: SignInLinkWords): Promise<SignInLink>;

  accounts(page?: AdminPageRequest): Promise<AdminPage<Account>>;
  createAccount(words: NewAccount): Promise<Account>;
  /** An account without a password, and the link that its person comes in by; told once. */
  inviteAccount(words: Invite): Promise<Invited>;
  /** A new link for the person of an account; told once. */
  createAccountLink(accountId: string): Promise<Invited>;
  setAccountAccess(accountId: string, words: AccountAccess): Promise<Account>;
  endSignIns(accountId: string, reason?: string): Promise<Account>;
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
  /** Held against every recorded check of the subject. */
  declaredUse(
    subject: { readonly type: string; readonly name: string },
    phase: ManifestView["phase"],
  ): Promise<DeclaredUseView>;
  guide(): Promise<GuideView>;
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

  /** Notifications that wait for a try or were given up. */
  deliveries(filter?: AdminDeliveryFilter, page?: AdminPageRequest): Promise<AdminPage<DeliveryView>>;
  /** Another chance for one that was given up. */
  retryDelivery(id: string, reason?: string): Promise<DeliveryView>;
  /** Tokens of persons for scripts: they read, and never decide. */
  tokens(page?: AdminPageRequest): Promise<AdminPage<TokenView>>;
  /** The answer is the only place where the token itself is told. */
  createToken(words: TokenWords): Promise<MadeToken>;
  revokeToken(id: string, reason?: string): Promise<void>;

  /** What would happen. Registers nothing. */
  check(trial: Trial): Promise<TrialAnswer>;
  /** Those that persons issued; never the token itself. */
  credentials(page?: AdminPageRequest): Promise<AdminPage<CredentialView>>;
  issueCredential(words: CredentialWords): Promise<IssuedCredential>;
  revokeCredential(credentialId: string, reason?: string): Promise<void>;
}

/** What the first page of the console needs. */
export type InboxClient = Pick<
  AdminClient,
  "session" | "signInWithLink" | "signInWithPassword" | "signOut" | "requests" | "permissionState" | "live"
>;
