/**
 * What a decision is made from: the facts the host holds (snapshot), the context it entered, and the question.
 * Plain data, so that the engine, its reference model and the wire speak of the same thing.
 */
import type {
  Access,
  ApprovalScope,
  Fault,
  Host,
  Match,
  Operation,
  PermissionMode,
  Phase,
  ResourceType,
  RuleEffect,
  RuleSource,
  Subject,
} from "@sallyport/contract";

/** An identifier of an organization or user as the host gives it; `21` and `"21"` are two users. */
export type PrincipalId = number | string;

/** A declared rule: absolute target text, spelled as in a manifest (section 2 of the specification). */
export interface AccessRule {
  readonly resourceType: ResourceType;
  readonly operation: Operation;
  readonly target: string;
  /** Where the host made the rule from a target rather than a declaration (a one-off URL): says how wide it is. */
  readonly match?: Match | undefined;
}

/** A compiled allowlist that frames refer to: a manifest's rules for one phase, or a one-off URL. */
export interface Contract {
  readonly id: string;
  readonly access: readonly AccessRule[];
}

/** What the host knows of a subject that is registered, so that host code may name it. */
export interface Registration {
  readonly subject: Subject;
  readonly contracts: readonly string[];
}

export interface HostRule extends AccessRule {
  readonly id: string;
  readonly effect: RuleEffect;
  readonly source: RuleSource;
  /** Absent: every subject. */
  readonly subject?: Subject | undefined;
  /** Whom it holds for; absent: anybody, also where there is none. */
  readonly organizationId?: PrincipalId | undefined;
  readonly userId?: PrincipalId | undefined;
  readonly sessionKey?: string | undefined;
}

/** A deny that nothing lifts: the store, the key ring, the admin socket, the API port. Holds for every subject. */
export interface BuiltinDeny extends AccessRule {
  readonly id: string;
}

export interface Approval {
  readonly id: string;
  readonly subject: Subject;
  readonly resourceType: ResourceType;
  readonly operation: Operation;
  /** Normalized target. */
  readonly target: string;
  readonly match: Match;
  readonly scope: ApprovalScope;
  /** A session approval holds for organization + user + key together; all three are `null` when permanent. */
  readonly organizationId: PrincipalId | null;
  readonly userId: PrincipalId | null;
  readonly sessionKey: string | null;
  /** Milliseconds since the epoch; the approval is dead at this instant. */
  readonly expiresAtMs: number | null;
  /** Uses left of a counted approval; dead at zero. */
  readonly usesLeft: number | null;
}

export interface Denial {
  readonly id: string;
  readonly subject: Subject;
  readonly resourceType: ResourceType;
  readonly operation: Operation;
  readonly target: string;
  readonly match: Match;
}

/** One level of the subject chain. */
export interface Frame {
  readonly subject: Subject;
  readonly phase: Phase;
  /** `host`: the runtime took the rules from its registry. `guarded`: guarded code made the frame up itself. */
  readonly entry: "host" | "guarded";
  /** The frame's own contract first, then one-off contracts that the host entered for a single call. */
  readonly contracts: readonly string[];
}

/** Host-owned; guarded code can neither forge, shed nor widen any of it. */
export interface Context {
  /** From the outermost in; the last one is active. Empty: no subject. */
  readonly frames: readonly Frame[];
  readonly organizationId: PrincipalId | null;
  readonly userId: PrincipalId | null;
  /** `null` or empty: no session. */
  readonly sessionKey: string | null;
  readonly mode: PermissionMode;
  /** When mode `bypass` ends. `bypass` without an end, or past it, is `default`. */
  readonly modeExpiresAtMs: number | null;
  /** Set-up runs now. */
  readonly setup: boolean;
  /** Record only: what would be asked or refused by the mode is let through; deny rules and denials still hold. */
  readonly observe: boolean;
  /** The OS sandbox enforces everything that was asked of it. */
  readonly confined: boolean;
  /** The snapshot is fresh and the audit log can be written. When not, only the allowlist allows. */
  readonly live: boolean;
}

/** Nobody in particular, in mode `default`: what is asked of rules alone, outside of any call. */
export const PLAIN_CONTEXT: Omit<Context, "frames"> = Object.freeze({
  organizationId: null,
  userId: null,
  sessionKey: null,
  mode: "default",
  modeExpiresAtMs: null,
  setup: false,
  observe: false,
  confined: false,
  live: true,
});

export interface HookAnswer {
  readonly answer: "allow" | "deny" | "ask";
  readonly ref: string;
}

export interface Question {
  /** Parsed at the edge; a fault is answered as such and never registered. */
  readonly access: Access | Fault;
  /** The canonical address that will be dialled for a host name. Absent where nothing was resolved. */
  readonly address?: Host | undefined;
  /** Host names that resolved to the target's IP literal in this process within the last 60 s. */
  readonly aliases?: readonly Host[] | undefined;
  /**
   * The same executable seen the other way: for a bare name its real path (filesystem execute),
   * for a path on PATH in a system directory its name (system_dependency execute).
   */
  readonly twin?: Access | undefined;
  /** A subject the caller names; it only narrows. */
  readonly named?: Subject | undefined;
  /** `default`: registers by default. `explicit`: the caller asked (`require…`, `registerRequest: true`). `passive`: `registerRequest: false`. */
  readonly ask: "default" | "explicit" | "passive";
  readonly hook?: HookAnswer | undefined;
  /** Answer of the registered classifier; used by mode `auto` only. Absent: none, or it failed. */
  readonly classifier?: HookAnswer | undefined;
  readonly nowMs: number;
}
