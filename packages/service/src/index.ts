/**
 * The access-policy service: checks, requests, approvals, denials, resumes, waiting, propagation and the audit log of
 * one node. It is given a store by its port and never opens one.
 */
export { AccessService } from "./access-service.ts";
export { ActionRegistry, type ResumeAction, type ResumeHandler, type ResumeRun } from "./actions.ts";
export type { AuditLog } from "./audit-log.ts";
export type { AuditTrail, VerifyWords } from "./audit-trail.ts";
export type { Ask, CallerContext, CallerUser, RequestedForm, Wait } from "./caller-context.ts";
export type { ChangeAnswer, Changed } from "./change-policy.ts";
export type {
  ApprovalWords,
  ByAccess,
  ByRequest,
  Decided,
  Decision,
  DecisionKind,
  DecisionWords,
  Refusal,
  RefusalCode,
  SessionApprovalWords,
} from "./decision-request.ts";
export type { BatchItem, DecidedBatch } from "./decide-batch.ts";
export type { Freeze, FreezeWords } from "./freeze.ts";
export { CredentialBook, type RevocableToken } from "./credential-book.ts";
export { ForwardingGate, type ForwardingGateOptions } from "./gate/forwarding-gate.ts";
export type { AskedOfChild } from "./gate/gate-node.ts";
export type { GateServer } from "./gate/gate-server.ts";
export type { ChildOptions, GateSession } from "./gate/gate-session.ts";
export { HeldLease, type HeldLeaseOptions } from "./held-lease.ts";
export type { Listing } from "./listing.ts";
export { type NewId, type NodeClock, randomId, systemClock } from "./node-clock.ts";
export {
  type Classifier,
  DEFAULT_LIMITS,
  type DecisionHook,
  type HookRewrite,
  type NetworkAllowed,
  type ServiceLimits,
} from "./node-parts.ts";
export type { ServiceChange } from "./live-changes.ts";
export type { Overview, ServiceState } from "./overview.ts";
export type { Act, RecordedAction } from "./record-act.ts";
export type { RequireAsk } from "./require.ts";
export type { EnterCaller, ResumeExecutor } from "./resume-executor.ts";
export type { AccessServiceOptions } from "./service-options.ts";
export type { Revocation } from "./revoke.ts";
export type { ModeWords, RuleWords } from "./rules.ts";
export type { WaitAnswer } from "./wait-for-request.ts";
export {
  Authority,
  type AuthorityGround,
  type AuthorityNames,
  DEFAULT_AUTHORITY_NAMES,
  PERMISSION_FAULTS,
  type PermissionFault,
  type PermissionFaultReason,
  resolveAuthority,
} from "./authority/resolve-authority.ts";
export { CHAIN_FAULTS, type ChainFault, type ChainFaultReason } from "./audit/chain-fault.ts";
export {
  type ChainBegin,
  type Checkpoint,
  type CheckpointKeys,
  type CheckpointSigner,
  type SignedCheckpoint,
  checkSignature,
  checkpointKeyId,
  checkpointKeys,
  checkpointLine,
  generateCheckpointSigner,
  headsOf,
  parseCheckpointLine,
  signCheckpoint,
  signerOf,
} from "./audit/checkpoint.ts";
export {
  type ChainHead,
  type EventEnvelope,
  type EventOfRow,
  type EventRow,
  eventOfRow,
  genesisOf,
  headOf,
  linksTo,
  nextRow,
} from "./audit/event-chain.ts";
export { type MaskingKey, maskMessage, maskTarget } from "./audit/event-masking.ts";
export { type CheckpointSink, checkpointFile } from "./audit/checkpoint-sink.ts";
export { verifyExport } from "./audit/export-events.ts";
export type { LogEvidence, LogReport, LogSound } from "./audit/verify-log.ts";
export type { CheckpointOptions } from "./checkpoint-writer.ts";
export type { ChainPosition, FollowCursor, FollowWords, Followed } from "./follow-events.ts";
export { deciderId, ruleFact } from "./policy-rows.ts";
export type { TrialAnswer } from "./trial.ts";
export type { RetainWords, Retained, RetentionRefusal } from "./retention.ts";
export type { TelemetryProviders } from "./telemetry.ts";
export { maskEvent } from "./audit/mask-event.ts";
export { type ChainInput, type ChainReport, type ChainSound, verifyChain } from "./audit/verify-chain.ts";
export { type Shown, digestText, parseDigest, shownDigest } from "./digest/shown-digest.ts";
export { ADMISSIONS, type Admission, RequestLimits, type RequestLimitOptions } from "./limits/rate-limit.ts";
export {
  type LoadedRing,
  type RingFiles,
  type RingPlace,
  loadKeyRing,
  saveKeyRing,
} from "./seal/key-ring-file.ts";
export {
  type KeyRing,
  type KeyRingResult,
  type SealKey,
  activeKey,
  newKeyRing,
  retireKey,
  rotateKeyRing,
} from "./seal/key-ring.ts";
export {
  type ContinuationIdentity,
  OPEN_FAULTS,
  type OpenFault,
  type Opened,
  type Sealed,
  openContext,
  sealContext,
} from "./seal/sealed-context.ts";
export { type WideningOptions, suggestWidenings } from "./widening/suggest-widening.ts";
export { type Suggestion, visible } from "./widening/suggestion.ts";
