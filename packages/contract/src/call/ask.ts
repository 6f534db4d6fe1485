/**
 * What a caller asks of the access-policy service: its own words, which carry nothing of identity.
 */
import type { Access } from "../access.ts";
import type { Fault } from "../parsed.ts";
import type { Subject } from "../subject.ts";
import type { Host } from "../target/host.ts";
import type { Attester } from "../wire/pending-request.ts";

export interface Wait {
  readonly timeoutMs: number;
  /** Of the platform; only `aborted` and the event are used. */
  readonly signal?: WaitSignal | undefined;
}

/** The part of an `AbortSignal` that a wait needs: this package knows no platform. */
export interface WaitSignal {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** What somebody asked for in their own words, for the record. */
export interface RequestedForm {
  readonly type: string;
  readonly operation: string;
  readonly target: string;
}

/** What a hook put in the place of what was asked for, and what was decided on. */
export interface RewrittenAccess {
  readonly access: Access;
  /** Where the hook keeps the input that it made; `updated_input_ref` of the decision. */
  readonly ref: string;
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
  /** How often it was done since it was last told, for the record of what was declared. Once unless said. */
  readonly times?: number | undefined;
  /**
   * The caller can do something else than it asked for: told what, before the answer, which speaks of the last one
   * that was told. Absent: what a hook rewrites is refused, because the answer would be about another access.
   */
  readonly takeRewritten?: ((rewritten: RewrittenAccess) => void) | undefined;
}

export interface RequireAsk extends Omit<Ask, "registerRequest"> {
  readonly resumeAction?: string | undefined;
  /** Plain JSON of at most 16 KiB. */
  readonly resumeContext?: unknown;
}

export interface WaitAnswer {
  readonly outcome: "allowed" | "denied" | "timed_out" | "cancelled" | "not_found" | "not_interactive";
}
