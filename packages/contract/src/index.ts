/**
 * The vocabulary of Sallyport, once: subjects, access, targets, patterns, manifests, decisions, events, errors.
 * Pure: no Node built-ins, no clock, no randomness. Trusts no input; parsers return a value or a fault.
 */
export {
  type Access,
  type RawAccess,
  type Target,
  type TargetOf,
  accessTo,
  checkPair,
  parseAccess,
  parseTarget,
} from "./access.ts";
export type { AccessAsking, AccessDeciding, AccessPolicy } from "./call/access-policy.ts";
export type {
  Ask,
  RequestedForm,
  RequireAsk,
  RewrittenAccess,
  Wait,
  WaitAnswer,
  WaitSignal,
} from "./call/ask.ts";
export {
  BLANK_CALLER,
  type CallerContext,
  type CallerFrame,
  type CallerSession,
  type CallerUser,
} from "./call/caller.ts";
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
} from "./call/decision-words.ts";
export type {
  JobLending,
  LendAnswer,
  LentJob,
  OfferedAction,
  ResumeHolder,
  ResumeLending,
} from "./call/resume-lending.ts";
export {
  APPROVAL_SCOPES,
  type ApprovalScope,
  CHECK_CODES,
  type CheckCode,
  DECISION_SOURCES,
  type DecisionSource,
  OUTCOMES,
  type Outcome,
  PERMISSION_MODES,
  type PermissionMode,
  PHASES,
  type Phase,
  RULE_EFFECTS,
  RULE_SOURCES,
  type RuleEffect,
  type RuleSource,
} from "./decision.ts";
export { type Fault, type FaultCode, FAULT_CODES, type Ok, type Parsed, fault, ok } from "./parsed.ts";
export {
  OPERATIONS,
  type Operation,
  type OperationOf,
  RESOURCE_OPERATIONS,
  RESOURCE_TYPES,
  type ResourceOperation,
  type ResourceType,
  isOperationOf,
  isResourceType,
  operationLabel,
  pairIndex,
} from "./resource.ts";
export {
  SUBJECT_NAME_LENGTH_MAX,
  SUBJECT_TYPES,
  type Subject,
  type SubjectName,
  type SubjectType,
  isSubjectType,
  parseSubject,
  sameSubject,
  subjectLabel,
} from "./subject.ts";
export {
  type FilesystemTarget,
  type PathResolution,
  type RealPathPort,
  canonicalFilesystemPath,
  parseFilesystemTarget,
  resolveFilesystemTarget,
} from "./target/filesystem.ts";
export {
  type Host,
  type UrlParser,
  foldLocalHost,
  isIpLiteral,
  isLocalAddress,
  parseHost,
} from "./target/host.ts";
export {
  type EndpointTarget,
  type NetworkTarget,
  type UnixTarget,
  type UrlTarget,
  endpointText,
  parseNetworkTarget,
  urlText,
  withHost,
} from "./target/network.ts";
export {
  MATCHES,
  type Match,
  type Pattern,
  type PatternKind,
  foldUrl,
  isAmbiguousPath,
  parsePattern,
  patternOf,
} from "./target/pattern.ts";
export {
  SYSTEM_FOLDERS,
  type SystemDependencyTarget,
  parseSystemDependencyTarget,
} from "./target/system-dependency.ts";
export type { TargetText } from "./target/target-text.ts";
export { whatwgUrl } from "./whatwg-url.ts";
export {
  type AccessConstructors,
  type AccessOf,
  accessConstructors,
  filesystem,
  network,
  systemDependency,
} from "./access-constructors.ts";
export { type Impact, destructiveFacts } from "./destructive.ts";
export {
  AccessPendingError,
  ERROR_CODES,
  type ErrorCode,
  ExternalAccessError,
  type PendingCheck,
  PermissionError,
} from "./errors.ts";
export {
  type DerivedRules,
  configUrlRules,
  installerRules,
  mcpRules,
  oneOffRules,
} from "./manifest/derived-rules.ts";
export { MANIFEST_BYTES_MAX, loadManifest, readManifest } from "./manifest/load-manifest.ts";
export {
  type ConfigUrl,
  type ExpandedRule,
  MANIFEST_KINDS,
  MANIFEST_VARIABLES,
  type Manifest,
  type ManifestEnvironment,
  type ManifestFault,
  type ManifestKind,
  type ManifestResult,
  type ManifestRule,
  type RuleExample,
  type RuleExamples,
  type ManifestVariable,
  type ManifestWarning,
  type PhaseContract,
  WARNING_CODES,
  type WarningCode,
} from "./manifest/manifest.ts";
export {
  SENSITIVE_IMPORTS,
  SENSITIVE_IMPORT_NAMES,
  type SensitiveImport,
  sensitiveImportOf,
} from "./manifest/sensitive-import.ts";
export { publishedSchemas } from "./published-schema.ts";
export { type Approval, type Denial, MATCHES_OF, approvalWire, denialWire } from "./wire/approval.ts";
export type { CamelCased } from "./wire/camel-case.ts";
export { WIRES, type WireName } from "./wire/catalogue.ts";
export { type Wire, type WireResult, type WireType, defineWire } from "./wire/define-wire.ts";
export { type ErrorBody, errorBodyWire } from "./wire/error-body.ts";
export {
  type AccessEvent,
  type EventType,
  POLICY_ACTIONS,
  type PolicyAction,
  RESOLUTIONS,
  type Resolution,
  eventWire,
  permissionEvaluatedWire,
  permissionRequestedWire,
  permissionResolvedWire,
  policyChangedWire,
  policyRefusedWire,
  sandboxAppliedWire,
  sandboxViolationWire,
} from "./wire/event.ts";
export { type ExternalAccessCheck, externalAccessCheckWire } from "./wire/external-access-check.ts";
export { type HostRule, hostRuleWire } from "./wire/host-rule.ts";
export {
  type ActionId,
  type ApprovalId,
  type ContractId,
  type DecisionId,
  type DenialId,
  type Digest,
  type EventId,
  type OrganizationId,
  type Ref,
  type RequestId,
  type RuleId,
  type SessionKey,
  type TaskId,
  type Timestamp,
  type UserId,
} from "./wire/identifier.ts";
export { pointerTo, quoted } from "./wire/json-pointer.ts";
export type { PointedFault } from "./wire/json-value.ts";
export {
  type Origin,
  type Resume,
  type RuntimeUser,
  originWire,
  resumeWire,
  runtimeUserWire,
} from "./wire/origin.ts";
export {
  ATTESTERS,
  type Attester,
  type PendingRequest,
  REQUEST_STATUSES,
  type RequestRecord,
  type RequestStatus,
  pendingRequestWire,
  requestRecordWire,
} from "./wire/pending-request.ts";
export {
  type DestructiveFacts,
  POLICY_SOURCES,
  type PermissionDecision,
  type PermissionState,
  type PolicySource,
  SANDBOX_ENFORCERS,
  SANDBOX_MODES,
  SANDBOX_NETWORKS,
  type SandboxEnforcer,
  type SandboxMode,
  type SandboxNetwork,
  type SandboxProfile,
  destructiveFactsWire,
  permissionDecisionWire,
  permissionStateWire,
  sandboxProfileWire,
} from "./wire/permission-facts.ts";
export {
  type RequestedResource,
  type Resource,
  type WireAccessRule,
  accessOfResource,
  accessRuleWire,
  requestedResourceWire,
  resourceOf,
  resourceWire,
} from "./wire/resource.ts";
export {
  FRAME_ENTRIES,
  type FrameEntry,
  type SubjectFrame,
  subjectFrameWire,
  subjectWire,
} from "./wire/subject.ts";
