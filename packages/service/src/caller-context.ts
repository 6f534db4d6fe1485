/**
 * Who is calling, as the host holds it, and what is asked. Trusts the host for every field of a caller: guarded code
 * never makes one. An ask is the caller's own words and carries nothing of identity.
 */
import type {
  Access,
  Attester,
  Fault,
  Host,
  PermissionMode,
  SandboxProfile,
  Subject,
} from "@sallyport/contract";
import type { Context, Frame, PrincipalId } from "@sallyport/policy";
import type { OriginColumns, SessionIdentity } from "@sallyport/store";

/** The user that the runtime knows; the id is kept as it was given. */
export interface CallerUser {
  readonly id: PrincipalId;
  readonly roles: readonly string[];
  readonly accessLevel: string | null;
}

/** Host-owned. Guarded code can neither forge, shed nor widen any of it. */
export interface CallerContext {
  /** From the outermost in; the last one is active. Empty: no subject. */
  readonly frames: readonly Frame[];
  readonly user: CallerUser | null;
  /** Zero is an organization. */
  readonly organizationId: PrincipalId | null;
  /** `null` or empty: no session. */
  readonly sessionKey: string | null;
  readonly taskId: string | null;
  /** A person can be asked now. */
  readonly interactive: boolean;
  /** `null` (and `bypass`): the mode that was set for this service. */
  readonly mode: PermissionMode | null;
  readonly modeExpiresAtMs: number | null;
  readonly observe: boolean;
  /** The OS sandbox enforces everything that was asked of it. */
  readonly confined: boolean;
  /** `null`: nothing stands at the wall. */
  readonly sandboxProfile: SandboxProfile | null;
  /** `runtime`: the call came with a credential of guarded code. It can ask, and never decide. */
  readonly credential: "host" | "runtime";
}

export interface Wait {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** What somebody asked for in their own words, for the record. */
export interface RequestedForm {
  readonly type: string;
  readonly operation: string;
  readonly target: string;
}

export interface Ask {
  /** Parsed at the edge; a fault is answered as such and never registered. */
  readonly access: Access | Fault;
  /** Needed where `access` is a fault, so that the record shows what was tried. */
  readonly requested?: RequestedForm | undefined;
  readonly address?: Host | undefined;
  readonly aliases?: readonly Host[] | undefined;
  readonly twin?: Access | undefined;
  /** A subject the caller names; it only narrows. */
  readonly named?: Subject | undefined;
  /** `false`: leaves no request. `true`: the caller asks, also in mode `on_request`. */
  readonly registerRequest?: boolean | undefined;
  readonly wait?: Wait | undefined;
  readonly attestedBy: Attester;
  /** A real operation, which spends one use of a counted approval; an explicit check spends none. */
  readonly enforced: boolean;
  /** Something is at the target already. */
  readonly exists?: boolean | undefined;
}

export function isAccess(access: Access | Fault): access is Access {
  return !("code" in access);
}

/** INVARIANT: an empty session key is none, and two callers without one share nothing by it. */
export function sessionOf(caller: CallerContext): SessionIdentity {
  return {
    organizationId: caller.organizationId,
    userId: caller.user?.id ?? null,
    sessionKey: caller.sessionKey === "" ? null : caller.sessionKey,
  };
}

export function originOf(caller: CallerContext): OriginColumns {
  return { ...sessionOf(caller), taskId: caller.taskId };
}

/** What a node knows beside the caller. */
export interface NodeState {
  readonly live: boolean;
  readonly setup: boolean;
  readonly mode: PermissionMode;
  readonly modeExpiresAtMs: number | null;
}

/**
 * INVARIANT: `bypass` needs authority, an end and an event, so it only comes from the service's own setting; a caller
 * that brings it along has the service's mode.
 */
export function policyContext(caller: CallerContext, state: NodeState): Context {
  const isOwnMode = caller.mode !== null && caller.mode !== "bypass";
  return {
    frames: caller.frames,
    ...sessionOf(caller),
    mode: isOwnMode ? (caller.mode ?? state.mode) : state.mode,
    modeExpiresAtMs: isOwnMode ? caller.modeExpiresAtMs : state.modeExpiresAtMs,
    setup: state.setup,
    observe: caller.observe,
    confined: caller.confined,
    live: state.live,
  };
}

/** The service by itself: what it does without any caller, such as expiring requests and checking jobs again. */
export const THE_SERVICE: CallerContext = Object.freeze<CallerContext>({
  frames: [],
  user: null,
  organizationId: null,
  sessionKey: null,
  taskId: null,
  interactive: false,
  mode: null,
  modeExpiresAtMs: null,
  observe: false,
  confined: false,
  sandboxProfile: null,
  credential: "host",
});
