/**
 * The routes by which a person decides. Who that is, the injected sign-in says; a credential of guarded code is refused
 * here whatever else the call carries, and the attempt is recorded.
 */
import {
  type AccessDeciding,
  type ByAccess,
  type ByRequest,
  type CallerContext,
  type Decision,
  PermissionError,
  type SessionApprovalWords,
  type UrlParser,
  accessOfResource,
} from "@sallyport/contract";
import { type RemoteDecision, decisionWire, remoteDecisionWire } from "@sallyport/contract/remote";
import type { Hono } from "hono";
import { type CallHead, type Handle, type IncomingCall, callOf, responseOf } from "./incoming-call.ts";
import { Problem, refusedCredential } from "./problem.ts";
import { parseStoredBody } from "./read-body.ts";
import { guardedHolder } from "./runtime-api/authorize-call.ts";
import type { CallSessions } from "./runtime-api/call-sessions.ts";
import { type FrameOf, credentialCaller } from "./runtime-api/remote-caller.ts";
import type { RuntimeCredentials } from "./runtime-api/runtime-credentials.ts";

/** The person behind a call as the host knows it; `null`: nobody is signed in. */
export type Authenticate = (call: CallHead) => Promise<CallerContext | null>;

export interface DecisionRouteParts {
  readonly service: AccessDeciding;
  readonly authenticate: Authenticate;
  readonly credentials: RuntimeCredentials;
  readonly sessions: CallSessions;
  readonly frameOf: FrameOf;
  readonly parseUrl: UrlParser;
  readonly bodyBytesMax: number;
  /** Left out: no deny rules are made over this API. */
  readonly block?: Decide | undefined;
  /** An answer as it is shown. */
  readonly shown?: ((decision: Decision) => Decision) | undefined;
  /** Finds again what a person chose among masked widenings. */
  readonly rawWords?:
    | ((by: ByRequest | ByAccess, words: SessionApprovalWords) => Promise<SessionApprovalWords>)
    | undefined;
}

type Decide = (
  caller: CallerContext,
  by: ByRequest | ByAccess,
  words: SessionApprovalWords,
) => Promise<Decision>;

/** By path. */
export function decisionCalls(parts: DecisionRouteParts): ReadonlyMap<string, Handle> {
  const { service } = parts;
  const decisions: Readonly<Record<string, Decide>> = {
    approve_for_session: (caller, by, words) => service.approveForSession(caller, by, words),
    approve_permanently: (caller, by, words) => service.approvePermanently(caller, by, words),
    deny: (caller, by, words) => service.deny(caller, by, words),
    ...(parts.block === undefined ? {} : { block: parts.block }),
  };
  return new Map(
    Object.entries(decisions).map(([kind, decide]): [string, Handle] => [
      `/v1/decisions/${kind}`,
      (call) => decided(parts, decide, call),
    ]),
  );
}

export function addCalls(app: Hono, calls: ReadonlyMap<string, Handle>): void {
  for (const [path, handle] of calls)
    app.post(path, async (c) => responseOf(await handle(callOf(c.req.raw))));
}

async function decided(parts: DecisionRouteParts, decide: Decide, call: IncomingCall): Promise<string> {
  await refuseGuardedCode(parts, call.head, decide);
  const caller = await parts.authenticate(call.head);
  if (caller === null) throw refusedCredential("nobody is signed in: sign in as a person who may decide");
  const remote = parseStoredBody(await call.body(parts.bodyBytesMax), remoteDecisionWire);
  const by = byOf(remote, parts.parseUrl);
  const words = (await parts.rawWords?.(by, remote.words)) ?? remote.words;
  const decision = await deciding(decide(caller, by, words));
  return JSON.stringify(decisionWire.format((parts.shown?.(decision) ?? decision) as never));
}

const NOTHING: ByRequest = Object.freeze({ requestId: "none", digest: "" });

/**
 * INVARIANT: a token of guarded code decides nothing, with or without a proof, beside any other credential. The service is
 * asked with the caller it stands for, so that the refusal is recorded; the body is not even read.
 */
async function refuseGuardedCode(
  parts: DecisionRouteParts,
  { headers }: CallHead,
  decide: Decide,
): Promise<void> {
  const held = await guardedHolder(parts, headers);
  if (held === undefined) return;
  if (held === "unknown")
    throw refusedCredential("a runtime credential never decides: sign in as a person who may decide");
  await deciding(decide(credentialCaller(held.grant, parts.frameOf), NOTHING, {}));
  throw new Problem({ code: "permission_error", detail: "guarded code may not decide" });
}

async function deciding(decision: Promise<Decision>): Promise<Decision> {
  try {
    return await decision;
  } catch (error) {
    if (error instanceof PermissionError)
      throw new Problem({ code: "permission_error", detail: error.message });
    throw error;
  }
}

export function byOf({ by }: RemoteDecision, parseUrl: UrlParser): ByRequest | ByAccess {
  if (by.kind === "request") return { requestId: by.requestId, digest: by.digest };
  const parsed = accessOfResource(by.resource, parseUrl);
  if (!parsed.ok) throw new Problem({ code: parsed.code, detail: parsed.message });
  const { subject, session } = by;
  return { subject, access: parsed.value, ...(session === undefined ? {} : { session }) };
}
