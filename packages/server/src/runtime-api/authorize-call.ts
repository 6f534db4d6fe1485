/**
 * Who calls: the token first, from the head of the call alone; then the body, bounded; then the proof over both; then
 * that it was not seen before. Only what passes all four reaches a route.
 */
import { Problem, refusedCredential } from "../problem.ts";
import { readBody } from "../read-body.ts";
import { verifyProof } from "./proof.ts";
import type { ReplayMemory } from "./replay-cache.ts";
import type { HeldCredential, RuntimeCredentials } from "./runtime-credentials.ts";

export interface Authorizing {
  readonly credentials: RuntimeCredentials;
  readonly replays: ReplayMemory;
  readonly origin: () => string;
  readonly nowMs: () => number;
  readonly bodyBytesMax: number;
}

export interface AuthorizedCall {
  readonly held: HeldCredential;
  readonly body: Uint8Array;
}

export async function authorizeCall(
  { credentials, replays, origin, nowMs, bodyBytesMax }: Authorizing,
  request: Request,
  path: string,
): Promise<AuthorizedCall> {
  const token = runtimeToken(request.headers, ["dpop"]);
  if (token === undefined)
    throw refusedCredential(
      "the call has no credential: send `Authorization: DPoP` and a runtime credential",
    );
  const held = await credentials.verify(token);
  if (held === undefined)
    throw refusedCredential("the credential is not a live one of this server: renew it or ask for a new one");
  const body = await readBody(request, bodyBytesMax);
  const proven = await verifyProof({
    proof: request.headers.get("dpop") ?? "",
    method: request.method,
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

/** The token of one of these schemes; `undefined` where the call has none. */
export function runtimeToken(headers: Headers, schemes: readonly string[]): string | undefined {
  const [, scheme = "", token] =
    /^([A-Za-z]+) +([A-Za-z0-9._~+/=-]+)$/.exec(headers.get("authorization") ?? "") ?? [];
  return schemes.includes(scheme.toLowerCase()) ? token : undefined;
}
