/**
 * Who is behind a call of the administration API at each of its two doors. At the HTTP door a person comes by cookie with
 * the second half of the secret in a header, by a token that reads, or by the host's own sign-in; at the socket door by
 * being able to open the socket. Guarded code is nobody at either, and its attempt is on record.
 */
import type { AccessService } from "@sallyport/service";
import type { Authenticate } from "../decision-routes.ts";
import type { CallHead } from "../incoming-call.ts";
import { Problem, malformed, refusedCredential } from "../problem.ts";
import { guardedHolder, runtimeToken } from "../runtime-api/authorize-call.ts";
import type { CallSessions } from "../runtime-api/call-sessions.ts";
import { type FrameOf, credentialCaller } from "../runtime-api/remote-caller.ts";
import type { RuntimeCredentials } from "../runtime-api/runtime-credentials.ts";
import { cookieValue, signInCookie } from "../sign-in/cookie.ts";
import { NOBODY, type Person, type PersonFacts, hostPerson, personCaller } from "../sign-in/person.ts";
import { type PersonTokens, isPersonToken } from "../sign-in/person-tokens.ts";
import type { SignInBook } from "../sign-in/sign-in-book.ts";
import type { AdminCall, AdminRoute } from "./admin-call.ts";

export type Door = "http" | "socket";

export interface PersonDoorParts {
  readonly service: AccessService;
  readonly signIns: SignInBook;
  readonly tokens: PersonTokens;
  readonly credentials: RuntimeCredentials;
  readonly sessions: CallSessions;
  readonly frameOf: FrameOf;
  readonly authenticate: Authenticate;
  readonly origin: () => string;
}

export type WhoCalls = Pick<AdminCall, "caller" | "person">;

export class PersonDoor {
  readonly #parts: PersonDoorParts;

  constructor(parts: PersonDoorParts) {
    this.#parts = parts;
  }

  /** The person behind a call. `null`: nobody is signed in. Throws for a token: no token does what a person does. */
  async person(head: CallHead, door: Door): Promise<Person | null> {
    const token = personToken(head);
    if (token !== undefined) await this.#tokenCaller(undefined, token);
    return this.#signedIn(head, door);
  }

  async whoCalls(route: AdminRoute, head: CallHead, door: Door): Promise<WhoCalls> {
    const token = personToken(head);
    if (token !== undefined) return { caller: await this.#tokenCaller(route.scope, token), person: null };
    const guarded = door === "http" ? await this.#guardedCode(head) : undefined;
    // INVARIANT: the service refuses it and puts it on record, whatever else the call carries.
    if (guarded !== undefined) return { caller: guarded, person: null };
    if (route.open === true && route.method === "POST" && door === "http")
      mustBeOwnPage(head, this.#parts.origin());
    const person = await this.#signedIn(head, door);
    if (person !== null) return { caller: person.caller, person };
    if (route.open === true) return { caller: NOBODY, person: null };
    throw refusedCredential("nobody is signed in: sign in, then try again");
  }

  /** Whether a stream that was begun would still be. */
  async isWelcome({ head, caller }: AdminCall, door: Door): Promise<boolean> {
    const token = personToken(head);
    const now =
      token === undefined
        ? (await this.#signedIn(head, door))?.caller
        : (await this.#parts.tokens.byToken(token))?.caller;
    if (now === undefined || now.user?.id !== caller.user?.id) return false;
    return this.#parts.service.overview.mayDecide(now);
  }

  async #signedIn(head: CallHead, door: Door): Promise<Person | null> {
    if (door === "socket") return localAdministrator();
    const { origin, signIns, authenticate } = this.#parts;
    const cookie = cookieValue(head.headers, signInCookie(origin()).name);
    if (cookie !== null) {
      mustBeOwnPage(head, origin());
      const person = await signIns.byToken(cookie, head.headers.get("x-csrf-token") ?? "");
      if (person !== null) return person;
    }
    const caller = await authenticate(head);
    return caller === null ? null : hostPerson(caller);
  }

  /**
   * INVARIANT: a token reads what it is for and nothing else; beside a cookie it is the lesser that counts. What it may
   * not do is on record.
   */
  async #tokenCaller(scope: AdminRoute["scope"], token: string): Promise<AdminCall["caller"]> {
    const { tokens, service } = this.#parts;
    const held = await tokens.byToken(token);
    if (held === null) throw refusedCredential("the token is not a live one: make a new one");
    if (scope !== undefined && held.scopes.includes(scope)) return held.caller;
    await service.overview.refusedSignIn(held.caller, "a token was used for what it is not for");
    throw new Problem({
      code: "permission_error",
      detail: "this token is not for that call: tokens read what they were made for, and never decide",
    });
  }

  async #guardedCode({ headers }: CallHead): Promise<AdminCall["caller"] | undefined> {
    if (!headers.has("authorization") && !headers.has("dpop")) return undefined;
    const held = await guardedHolder(this.#parts, headers);
    if (held === undefined) return undefined;
    if (held === "unknown") throw refusedCredential("a runtime credential is nobody here: sign in");
    return credentialCaller(held.grant, this.#parts.frameOf);
  }
}

function personToken({ headers }: CallHead): string | undefined {
  const token = runtimeToken(headers, ["bearer"]);
  return isPersonToken(token) ? token : undefined;
}

/**
 * INVARIANT: what a browser does on behalf of another page is refused: a call that changes something names our origin,
 * and no call comes from another site or another port.
 */
function mustBeOwnPage({ method, headers }: CallHead, origin: string): void {
  const from = headers.get("origin");
  const isChange = method !== "GET" && method !== "HEAD";
  if (from === null ? isChange : from !== origin)
    throw malformed("a call with a cookie must come from the server's own page", 403);
  const site = headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none")
    throw malformed("a call with a cookie must come from the server's own page", 403);
}

/** Whoever can open the socket: the owner of the data folder, or root. */
function localAdministrator(): Person {
  const uid = process.getuid?.() ?? 0;
  const facts: PersonFacts = {
    id: `local:${uid}`,
    name: "local administrator",
    roles: ["super"],
    accessLevel: null,
    organizationId: null,
  };
  const caller = personCaller(facts);
  return { facts, way: "socket", caller, expiresAtMs: null, csrfToken: null, signInId: null };
}
