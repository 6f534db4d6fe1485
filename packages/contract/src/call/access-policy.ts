/**
 * The access-policy service as those see it who call it: in the same process, over a gate, or over HTTP. The caller
 * comes first everywhere and is the host's word; what follows is the caller's own.
 */
import type { ExternalAccessCheck } from "../wire/external-access-check.ts";
import type { PermissionState } from "../wire/permission-facts.ts";
import type { Ask, RequireAsk, Wait, WaitAnswer } from "./ask.ts";
import type { CallerContext } from "./caller.ts";
import type {
  ApprovalWords,
  ByAccess,
  ByRequest,
  Decision,
  DecisionWords,
  SessionApprovalWords,
} from "./decision-words.ts";

/** Asking. Blocked is a value; nothing here throws because something is blocked. */
export interface AccessAsking {
  check(caller: CallerContext, ask: Ask): Promise<ExternalAccessCheck>;
  require(caller: CallerContext, ask: RequireAsk): Promise<ExternalAccessCheck>;
  wait(caller: CallerContext, requestId: string, wait: Wait): Promise<WaitAnswer>;
  /** What the caller stands under: its own facts, never those of others. `undefined`: nobody acts, or it is not known. */
  state(caller: CallerContext): Promise<PermissionState | undefined>;
}

/** Deciding. Throws `PermissionError` for callers without authority, before anything is said about what exists. */
export interface AccessDeciding {
  approveForSession(
    caller: CallerContext,
    by: ByRequest | ByAccess,
    words?: SessionApprovalWords,
  ): Promise<Decision>;
  approvePermanently(
    caller: CallerContext,
    by: ByRequest | ByAccess,
    words?: ApprovalWords,
  ): Promise<Decision>;
  deny(caller: CallerContext, by: ByRequest | ByAccess, words?: DecisionWords): Promise<Decision>;
}

export interface AccessPolicy extends AccessAsking, AccessDeciding {}
