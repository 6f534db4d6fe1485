/**
 * Who is calling, as the host holds it. Guarded code never makes one: every field is the host's word.
 */
import type { PermissionMode, Phase } from "../decision.ts";
import type { Subject } from "../subject.ts";
import type { SandboxProfile } from "../wire/permission-facts.ts";
import type { FrameEntry } from "../wire/subject.ts";

/** An organization or user as the host gives it: `21` and `"21"` are two. */
type PrincipalId = number | string;

/** One level of the subject chain. */
export interface CallerFrame {
  readonly subject: Subject;
  readonly phase: Phase;
  readonly entry: FrameEntry;
  /** The frame's own contract first, then one-off contracts that the host entered for a single call. */
  readonly contracts: readonly string[];
}

/** The user that the runtime knows; the id is kept as it was given. */
export interface CallerUser {
  readonly id: PrincipalId;
  readonly roles: readonly string[];
  readonly accessLevel: string | null;
}

/** Whose session. `null` or an empty key: no session. */
export interface CallerSession {
  readonly organizationId: PrincipalId | null;
  readonly userId: PrincipalId | null;
  readonly sessionKey: string | null;
}

/** Host-owned. Guarded code can neither forge, shed nor widen any of it. */
export interface CallerContext {
  /** From the outermost in; the last one is active. Empty: no subject. */
  readonly frames: readonly CallerFrame[];
  readonly user: CallerUser | null;
  /** Zero is an organization. */
  readonly organizationId: PrincipalId | null;
  /** `null` or empty: no session. */
  readonly sessionKey: string | null;
  readonly taskId: string | null;
  /** A person can be asked now. */
  readonly interactive: boolean;
  /** `null` (and `bypass`): the mode that was set for the service. */
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

/**
 * A caller of whom nothing is said. What other callers are made from, field by field.
 * INVARIANT: it may do less than any other, so that a field which is left out gives nothing away.
 */
export const BLANK_CALLER: CallerContext = Object.freeze<CallerContext>({
  frames: Object.freeze([]),
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
  credential: "runtime",
});
