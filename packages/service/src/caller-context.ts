/**
 * What the service reads out of a caller. Trusts the host for every field of one: guarded code never makes one.
 */
import {
  type Access,
  BLANK_CALLER,
  type CallerContext,
  type Fault,
  type PermissionMode,
} from "@sallyport/contract";
import type { Context } from "@sallyport/policy";
import type { OriginColumns, SessionIdentity } from "@sallyport/store";

export type { Ask, CallerContext, CallerUser, RequestedForm, Wait } from "@sallyport/contract";

export function isAccess(access: Access | Fault): access is Access {
  return !("code" in access);
}

/**
 * The active frame and those around it up to the one that the host entered.
 * INVARIANT: a frame that guarded code made up lends nobody its actions: all of these have to be allowed to name one.
 */
export function standingFrames(frames: CallerContext["frames"]): CallerContext["frames"] {
  return frames.slice(
    Math.max(
      0,
      frames.findLastIndex(({ entry }) => entry === "host"),
    ),
  );
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
  return {
    organizationId: caller.organizationId,
    userId: caller.user?.id ?? null,
    sessionKey: caller.sessionKey === "" ? null : caller.sessionKey,
    taskId: caller.taskId,
  };
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
  const { organizationId, userId, sessionKey } = sessionOf(caller);
  return {
    frames: caller.frames,
    organizationId,
    userId,
    sessionKey,
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
  ...BLANK_CALLER,
  credential: "host",
});
