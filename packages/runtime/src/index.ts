/**
 * What a host embeds: the registry of its subjects, the runtime that enters them, and the SDK that their code holds.
 * Trusts the host; trusts nothing that guarded code hands in.
 */
export { type Runtime, type RuntimeOptions, type RuntimePorts, createRuntime } from "./create-runtime.ts";
export { SubjectRefusedError } from "./errors.ts";
export { type DeclaredCover, declaredCover } from "./learn/declared-cover.ts";
export { type Draft, type DraftRule, type LeftOut, draftManifest } from "./learn/draft-manifest.ts";
export { type Seen, type SeenAccess, SeenBook, type SeenImport } from "./learn/seen-book.ts";
export { readInstallerHosts, type InstallerSettings } from "./registry/installer-hosts.ts";
export { withOneOff } from "./registry/one-off.ts";
export type {
  AssetRegistration,
  EngineRegistration,
  ExtractorRegistration,
  LocalRegistration,
  McpRegistration,
  ModuleRegistration,
} from "./registry/registration.ts";
export type {
  OneOff,
  RefusalReason,
  Registered,
  RegistryChange,
  RegistryEvent,
  RegistryRefusal,
  SubjectDeclaration,
  SubjectEntry,
  Unregistered,
} from "./registry/registry-answer.ts";
export {
  type EnterOptions,
  SubjectRegistry,
  type SubjectRegistryOptions,
} from "./registry/subject-registry.ts";
export type { ContextOptions, OneOffUrl, RunOptions, RunUser } from "./run-options.ts";
export type { SdkAccess } from "./sdk/access.ts";
export type { AccessResult } from "./sdk/access-result.ts";
export type { Action, ActionHandler, ActionRun, ContextSchema, SdkActions } from "./sdk/actions.ts";
export type {
  ApprovalOptions,
  DecidedSubject,
  DecisionInput,
  DecisionOptions,
  SessionOptions,
} from "./sdk/decision-input.ts";
export type { SdkPermission } from "./sdk/permission.ts";
export type {
  BuiltAccess,
  CheckInput,
  CheckOptions,
  PlainAccess,
  RequireInput,
  RequireOptions,
  WaitInput,
} from "./sdk/plain-access.ts";
export type { SdkSandbox } from "./sdk/sandbox.ts";
export type { DecisionVerb, HostAction } from "./sdk/sdk-ground.ts";
export type { Sdk, SubjectInput } from "./sdk/sdk.ts";
export { type AttachChild, type ChildSpawnOptions, GATE_FD_VARIABLE } from "./children/spawn-child.ts";
export type { ChildWorkerOptions } from "./children/start-worker.ts";
