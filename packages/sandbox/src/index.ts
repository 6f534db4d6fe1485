/**
 * The OS sandbox: rules compiled into kernel rights, a native launcher that applies them, and a broker that asks about
 * the rest. Trusts the host that opens it; never starts anything outside the wall.
 */
export { Broker, type BrokerParts, type Decide, type Recorder, type Ruling } from "./broker.ts";
export type { Resolve } from "./egress/admission.ts";
export type { DialOptions, UpstreamProxy } from "./egress/dial.ts";
export type { EgressOptions } from "./egress/egress-gateway.ts";
export { type GateNetworkOptions, gateNetwork } from "./egress/gate-network.ts";
export { hostProxy } from "./egress/host-proxy.ts";
export {
  type NetworkDecider,
  type NetworkQuestion,
  type NetworkRuling,
  REFUSALS,
  type Refusal,
} from "./egress/network-question.ts";
export { findControlGroups } from "./control-group.ts";
export { confinedEnvironment } from "./environment.ts";
export { SANDBOX_ERRORS, SandboxError, type SandboxErrorCode } from "./errors.ts";
export { type GateDeciderOptions, gateDecider, gateRecords, gateViolations } from "./gate-decider.ts";
export { type HeldPolicy, HeldRules } from "./held-rules.ts";
export type { HostPlaces } from "./host-places.ts";
export type { ProcessLimits } from "./launch-description.ts";
export {
  type MachineFacts,
  type MachineFinding,
  RUNGS,
  type Rung,
  readMachineFacts,
} from "./machine-facts.ts";
export { obtainProgram } from "./native-launcher.ts";
export { type ProfileRules, type Sandbox, openSandbox } from "./open-sandbox.ts";
export { type MachineWall, type ProfileInput, compileProfile } from "./profile/compile-profile.ts";
export {
  type Compiled,
  type Confinement,
  type Grant,
  PROFILE_FAULTS,
  type PathRight,
  type ProfileFault,
  type ProfileFaultCode,
} from "./profile/confinement.ts";
export type { FileOperation } from "./profile/landlock-right.ts";
export type { Confined, ConfinedOptions } from "./spawn-confined.ts";
export { StandingGrants, settledSocket } from "./standing-grants.ts";
export { TRAP_SETS, type TrapSet } from "./trap-set.ts";
export type { GainedPart, LauncherMessage, TrappedCall, TrappedPart } from "./trapped-call.ts";
