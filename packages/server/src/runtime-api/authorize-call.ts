/**
 * Who calls: the token or the session first, from the head of the call alone; then the body, bounded; then the proof over
 * both; then that it was not seen before. Only what passes all four reaches a route.
 */
import type { HeadFields, IncomingCall } from "../incoming-call.ts";
import { Problem, refusedCredential } from "../problem.ts";
import { type CallMark, type CallSessions, SESSION_SCHEME, callMark } from "./call-sessions.ts";
import { verifyProof } from "./proof.ts";
import type { ReplayMemory } from "./replay-cache.ts";
import type { HeldCredential, RuntimeCredentials } from "./runtime-credentials.ts";

export interface Authorizing {
  readonly credentials: RuntimeCredentials;
  readonly sessions: CallSessions;
  readonly replays: ReplayMemory;
  readonly origin: () => string;
  readonly nowMs: () => number;
  readonly bodyBytesMax: number;
}

export interface AuthorizedCall {
  readonly held: HeldCredential;
  readonly body: Uint8Array;
}

export async function authorizeCall(parts: Authorizing, call: IncomingCall): Promise<AuthorizedCall> {
  const mark = callMark(runtimeToken(call.head.headers, [SESSION_SCHEME]));
  return mark === undefined ? byProof(parts, call) : bySession(parts, call, mark);
}

/** Signed with the key of the credential. */
export async function byProof(
  { credentials, replays, origin, nowMs, bodyBytesMax }: Authorizing,
  call: IncomingCall,
): Promise<AuthorizedCall> {
  const { method, path, headers } = call.head;
  const token = runtimeToken(headers, ["dpop"]);
  if (token === undefined)
    throw refusedCredential(
      "the call has no credential: send `Authorization: DPoP` and a runtime credential",
    );
  const held = await credentials.verify(token);
  if (held === undefined)
    throw refusedCredential("the credential is not a live one of this server: renew it or ask for a new one");
  const body = await call.body(bodyBytesMax);
  const proven = await verifyProof({
    proof: headers.get("dpop") ?? "",
    method,
    url: `${origin()}${path}`,
    body,
    token,
    keyThumbprint: held.keyThumbprint,
    nowMs: nowMs(),
  });
  if (!proven.ok) throw refusedCredential(proven.message);
  switch (await replays.admit(held.keyThumbprint, proven.id, proven.untilMs, nowMs())) {
    case "fresh":
      return { held, body };
    case "replayed":
      throw refusedCredential("the proof was used before: make a new one for every call");
    case "full":
      throw new Problem({
        code: "request_limit",
        detail: "too many calls within the last minute: wait, then try again",
      });
  }
}

async function bySession(
  { credentials, sessions, origin, bodyBytesMax }: Authorizing,
  call: IncomingCall,
  mark: CallMark,
): Promise<AuthorizedCall> {
  const { method, path } = call.head;
  const held = sessions.holder(mark);
  if (held === undefined) throw refusedCredential("the session is over: open a new one");
  const body = await call.body(bodyBytesMax);
  const refusal = sessions.refusal(mark, method, `${origin()}${path}`, body);
  if (refusal !== null) throw refusedCredential(refusal);
  // INVARIANT: asked last, so that what was taken back while the body came is not let through.
  if (!(await credentials.isLive(held)))
    throw refusedCredential("the credential is not a live one of this server: renew it or ask for a new one");
  return { held, body };
}

/** The token of one of these schemes; `undefined` where the call has none. */
export function runtimeToken(headers: HeadFields, schemes: readonly string[]): string | undefined {
  const given = headers.get("authorization");
  if (given === null) return undefined;
  const [, scheme = "", token] = CREDENTIAL.exec(given) ?? [];
  return schemes.includes(scheme.toLowerCase()) ? token : undefined;
}

const CREDENTIAL = /^([A-Za-z]+) +([A-Za-z0-9._~+/=-]+)$/;

/**
 * Guarded code that calls what is for persons, by its token with or without a proof, or by its session; for the refusal
 * to be on record. `unknown`: it shows itself as guarded code, and not as any that is known.
 */
export async function guardedHolder(
  { credentials, sessions }: Pick<Authorizing, "credentials" | "sessions">,
  headers: HeadFields,
): Promise<HeldCredential | "unknown" | undefined> {
  const marked = runtimeToken(headers, [SESSION_SCHEME]);
  if (marked !== undefined) {
    const mark = callMark(marked);
    return (mark === undefined ? undefined : sessions.holder(mark)) ?? "unknown";
  }
  const token = runtimeToken(headers, ["dpop", "bearer"]);
  const held = token === undefined ? undefined : await credentials.verify(token);
  if (held !== undefined) return held;
  return runtimeToken(headers, ["dpop"]) !== undefined || headers.has("dpop") ? "unknown" : undefined;
}
