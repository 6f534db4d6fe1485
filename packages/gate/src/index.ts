/**
 * The way from a guarded process to a decision: the private realm that decides, and the adapters that say where a path
 * leads and which names an address has. Everything here may run beside foreign code and must be imported before it.
 */
export { BranchDuplex } from "./branch/branch-duplex.ts";
export { capturedUrl } from "./captured-url.ts";
export { type CheckOptions, type Foreseen, GateClient, type RequireOptions } from "./client/gate-client.ts";
export {
  type Acting,
  HATCH_MODULE,
  GUARD_MODULE,
  type GateHatch,
  type SubjectName,
} from "./client/gate-hatch.ts";
export type { HostedTerms } from "./client/gate-terms.ts";
export { type ConnectOptions, connectGate } from "./client/connect-gate.ts";
export { type StartedWorker, startGateWorker } from "./client/start-gate-worker.ts";
export type { KnownQuestion } from "./client/known-question.ts";
export { monotonicMs } from "./client/monotonic.ts";
export { type LaterOptions, SyncGateClient, type SyncOptions } from "./client/sync-gate-client.ts";
export type { Branch } from "./client/worker-message.ts";
export type { SyncGateOptions } from "./client/worker-transport.ts";
export {
  LOOKUPS_MAX,
  NAME_LIFE_MS,
  NameCache,
  type ResolvedName,
  type Resolver,
  resolveNames,
} from "./name-cache.ts";
export {
  type AccessPorts,
  type NormalizedAccess,
  type RawQuestion,
  normalizeAccess,
} from "./normalize-access.ts";
export { pathText } from "./path-text.ts";
export {
  type PrivateRealm,
  type PrivateRealmOptions,
  openPrivateRealm,
  readRealmScript,
} from "./private-realm.ts";
export * as gateBounds from "./protocol/bounds.ts";
export { GateChannel, type GateTimers, systemTimers } from "./protocol/gate-channel.ts";
export { GATE_FAULTS, GateFault, type GateFaultCode } from "./protocol/gate-fault.ts";
export {
  type AskMessage,
  type AskWords,
  type BranchMessage,
  type ChildEvent,
  type ChildMessage,
  FRAME_BYTES_MAX,
  type HostedNames,
  type InquireMessage,
  type ServiceMessage,
  childMessages,
} from "./protocol/message.ts";
export { realPath } from "./real-path.ts";
