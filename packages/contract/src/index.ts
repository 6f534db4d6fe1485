/**
 * The vocabulary of Sallyport, once: subjects, access, targets, patterns, manifests, decisions, events, errors.
 * Pure: no Node built-ins, no clock, no randomness. Trusts no input; parsers return a value or a fault.
 */
export { type Access, type RawAccess, type Target, type TargetOf, accessTo, checkPair, parseAccess, parseTarget } from "./access.ts";
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
export { type Host, type UrlParser, foldLocalHost, isIpLiteral, isLocalAddress, parseHost } from "./target/host.ts";
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
export { MATCHES, type Match, type Pattern, type PatternKind, foldUrl, isAmbiguousPath, parsePattern, patternOf } from "./target/pattern.ts";
export { type SystemDependencyTarget, parseSystemDependencyTarget } from "./target/system-dependency.ts";
export type { TargetText } from "./target/target-text.ts";
export { whatwgUrl } from "./whatwg-url.ts";
