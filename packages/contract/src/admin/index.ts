/**
 * The administration API as it travels: what console, command line and server say to each other. Requests and answers
 * only; who a person is and what they may do is the server's and the service's to say.
 */
export type {
  AdminApprovalFilter,
  AdminDeliveryFilter,
  AdminEventFilter,
  AdminIdentityFilter,
  AdminJobFilter,
  AdminProfileFilter,
  AdminRequestFilter,
  AdminSessionFilter,
} from "./admin-filter.ts";
export {
  ADMIN_PAGE_LIMIT,
  ADMIN_PAGE_LIMIT_MAX,
  type AdminPage,
  type AdminPageRequest,
  CURSOR_LENGTH_MAX,
} from "./admin-page.ts";
export {
  ADMIN_QUERIES,
  type AdminQuery,
  type AdminQueryName,
  type QueryResult,
  formatAdminQuery,
  isCursorText,
  parseAdminQuery,
} from "./admin-query.ts";
export { CREDENTIAL_STATES, type CredentialView, credentialPageWire } from "./credential-view.ts";
export {
  BATCH_MAX,
  type BatchAnswer,
  DECISION_KINDS,
  type DecisionBatch,
  batchAnswerWire,
  decisionBatchWire,
} from "./decision-batch.ts";
export { DELIVERY_STATES, type DeliveryView, deliveryPageWire, deliveryViewWire } from "./delivery-view.ts";
export {
  type EventStats,
  type EventView,
  type FollowedView,
  LIVE_TOPICS,
  type LiveChange,
  type LiveTopic,
  STATS_BUCKETS_MAX,
  type VerifyView,
  eventPageWire,
  eventStatsWire,
  eventViewWire,
  followedWire,
  liveChangeWire,
  verifyViewWire,
} from "./event-view.ts";
export {
  type MadeToken,
  TOKEN_SCOPES,
  TOKEN_TTL_MAX_MS,
  type TokenScope,
  type TokenView,
  type TokenWords,
  madeTokenWire,
  tokenPageWire,
  tokenWordsWire,
} from "./person-token.ts";
export {
  type ChangeAnswerView,
  type FreezeView,
  type FreezeWordsView,
  type Grant,
  type ModeView,
  type ModeWordsView,
  type RuleView,
  type RuleWordsView,
  changeAnswerWire,
  denialPageWire,
  freezeViewWire,
  freezeWordsWire,
  grantPageWire,
  modeViewWire,
  modeWordsWire,
  reasonWire,
  rulePageWire,
  ruleWordsWire,
} from "./policy-view.ts";
export {
  NEAR_MISSES,
  type NearMiss,
  type NearMissReason,
  type RequestDetail,
  type RequestView,
  type WideningView,
  requestDetailWire,
  requestPageWire,
  requestViewWire,
} from "./request-view.ts";
export {
  JOB_VIEW_STATES,
  type JobView,
  type ManifestView,
  type PermissionStateView,
  type ProfileView,
  type SessionView,
  type SessionWords,
  doneWire,
  jobPageWire,
  manifestPageWire,
  permissionStateViewWire,
  profilePageWire,
  sessionPageWire,
  sessionWordsWire,
} from "./run-view.ts";
export {
  type Account,
  type AccountAccess,
  type AdminSession,
  type Invite,
  type Invited,
  type NewAccount,
  type OwnPassword,
  PASSWORD_LENGTH_MAX,
  PASSWORD_LENGTH_MIN,
  SIGN_IN_WAYS,
  type SignInLink,
  type SignInLinkWords,
  type SignInWay,
  accountAccessWire,
  accountLinkWordsWire,
  accountPageWire,
  accountWire,
  adminSessionWire,
  disableAccountWire,
  inviteWire,
  invitedWire,
  linkSignInWire,
  newAccountWire,
  newPasswordWire,
  ownPasswordWire,
  passwordSignInWire,
  signInLinkWire,
  signInLinkWordsWire,
} from "./sign-in.ts";
export { GUIDE_STATES, type GuideView, guideWire } from "./guide-view.ts";
export { type ServerSettings, serverSettingsWire } from "./server-settings.ts";
export { type DeclaredUseView, USE_TARGETS_MAX, USE_UNDECLARED_MAX, declaredUseWire } from "./use-view.ts";
export {
  type CredentialWords,
  type Trial,
  type TrialAnswer,
  credentialWordsWire,
  trialAnswerWire,
  trialWire,
} from "./trial.ts";
