/**
 * Who is behind a call of the administration API. A person comes from a sign-in, from the admin socket or from the
 * host, never from the body of a call. Guarded code is no person, whatever it carries.
 */
import { BLANK_CALLER, type CallerContext } from "@sallyport/contract";
import type { SignInWay } from "@sallyport/contract/admin";

export interface PersonFacts {
  readonly id: number | string;
  /** For people. */
  readonly name: string;
  readonly roles: readonly string[];
  readonly accessLevel: string | null;
  /** `null`: of no organization. Zero is one. */
  readonly organizationId: number | string | null;
}

export interface Person {
  readonly facts: PersonFacts;
  readonly way: SignInWay;
  readonly caller: CallerContext;
  /** When the sign-in ends at the latest; `null`: with the connection, or when the host says so. */
  readonly expiresAtMs: number | null;
  /** Of a sign-in by cookie; the caller has shown it. */
  readonly csrfToken: string | null;
  /** Names the sign-in in the store; for ending it. */
  readonly signInId: string | null;
  /** The name of the local account that the sign-in stands on; left out where there is none. */
  readonly account?: string | undefined;
}

/** What the service is told: no subject, no session, the person as they stand. */
export function personCaller(facts: PersonFacts): CallerContext {
  const { id, roles, accessLevel, organizationId } = facts;
  return Object.freeze<CallerContext>({
    ...BLANK_CALLER,
    user: Object.freeze({ id, roles: Object.freeze([...roles]), accessLevel }),
    organizationId,
    interactive: true,
    credential: "host",
  });
}

/** The host itself, or whoever has not come in yet: no person at all. */
export const NOBODY: CallerContext = Object.freeze({ ...strangerCaller(""), user: null });

/** Somebody of whom nothing is known but the name that was given: for the record of a sign-in that was refused. */
export function strangerCaller(name: string): CallerContext {
  return personCaller({ id: name, name, roles: [], accessLevel: null, organizationId: null });
}

/** A person whom the embedding host vouches for. */
export function hostPerson(caller: CallerContext): Person {
  const { user, organizationId } = caller;
  const facts: PersonFacts = {
    id: user?.id ?? "",
    name: String(user?.id ?? "nobody"),
    roles: user?.roles ?? [],
    accessLevel: user?.accessLevel ?? null,
    organizationId,
  };
  return { facts, way: "host", caller, expiresAtMs: null, csrfToken: null, signInId: null };
}
