/**
 * What a client shows of itself: the runtime credential of guarded code with its key, or the host's own headers of a
 * person who is signed in. Reads what a token is for so that it is not used for another session; the server decides.
 */
import { type IssuedCredential, type RuntimeGrant, runtimeGrantWire } from "@sallyport/contract/remote";
import type { CallerContext } from "@sallyport/contract";
import type { HolderKey } from "./holder-key.ts";

/** A credential of guarded code. Asks, and never decides. */
export interface RuntimeCredential {
  readonly kind: "runtime";
  readonly issued: IssuedCredential;
  readonly grant: RuntimeGrant;
  readonly key: HolderKey;
}

/** A person who is signed in, as the host's sign-in knows it. */
export interface PersonCredential {
  readonly kind: "person";
  readonly headers: () => Readonly<Record<string, string>>;
}

export type Credential = RuntimeCredential | PersonCredential;

export function runtimeCredential(issued: IssuedCredential, key: HolderKey): RuntimeCredential {
  const grant = grantOf(issued.token);
  if (grant === undefined) throw new TypeError("the token is not a runtime credential: ask the host for one");
  return Object.freeze({ kind: "runtime", issued, grant, key });
}

/** Whether a call of this caller may be made with it: the same user, organization and session, each for itself. */
export function isFor({ grant }: RuntimeCredential, caller: CallerContext): boolean {
  const { user, organizationId, sessionKey } = caller;
  return (
    (user?.id ?? null) === grant.userId &&
    organizationId === grant.organizationId &&
    (sessionKey === "" ? null : sessionKey) === grant.sessionKey
  );
}

function grantOf(token: string): RuntimeGrant | undefined {
  try {
    const [, claims = ""] = token.split(".");
    const text = atob(claims.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
    const payload = JSON.parse(new TextDecoder().decode(bytes)) as { readonly grant?: unknown };
    const parsed = runtimeGrantWire.parse(payload.grant);
    return parsed.ok ? parsed.value : undefined;
  } catch {
    return undefined;
  }
}
