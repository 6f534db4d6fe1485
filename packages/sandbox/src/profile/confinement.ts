/**
 * Confinement: what a profile compiles to, all of it data. The launcher is given this and nothing else; the recorded
 * sandbox profile is made from it.
 */
import type { SandboxEnforcer } from "@sallyport/contract";
import type { TrapSet } from "../trap-set.ts";
import type { FileOperation } from "./landlock-right.ts";

/** Operations that go on without a question. */
export interface Grant {
  readonly path: string;
  readonly reach: "exact" | "tree";
  readonly operations: readonly FileOperation[];
  /** Those that Landlock holds to just this path as well, so that the kernel may go on by itself. */
  readonly landlocked: readonly FileOperation[];
}

export interface PathRight {
  readonly path: string;
  readonly rights: bigint;
}

export interface Confinement {
  readonly trapSet: TrapSet;
  readonly grants: readonly Grant[];
  readonly rights: readonly PathRight[];
  readonly handledRights: bigint;
  readonly scopes: bigint;
  /** Folders that are writable in the view; what is done on behalf does not need them. */
  readonly writable: readonly string[];
  readonly masks: readonly string[];
  readonly network: "none" | "gateway";
  /** Loopback ports that lead to the loopback of the host. */
  readonly forwardedPorts: readonly number[];
  readonly enforcedBy: readonly SandboxEnforcer[];
  readonly notEnforced: readonly string[];
}

export const PROFILE_FAULTS = [
  "no_landlock",
  "landlock_too_old",
  "no_namespaces",
  "no_notification",
  "network_without_gateway",
  "loopback_without_port",
  "create_without_modify",
  "single_path_without_traps",
  "missing_without_traps",
  "exception_without_traps",
  "execute_without_read",
  "bad_rule",
] as const;
export type ProfileFaultCode = (typeof PROFILE_FAULTS)[number];

/** Why the rules cannot be enforced here. */
export interface ProfileFault {
  readonly code: ProfileFaultCode;
  /** What is wrong and what to do; lower-case, no full stop. */
  readonly message: string;
}

export type Compiled =
  | { readonly ok: true; readonly confinement: Confinement }
  | { readonly ok: false; readonly faults: readonly ProfileFault[] };
