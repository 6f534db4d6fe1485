/**
 * The administration API: the table of its routes, and who is behind a call at each of its two doors. At the HTTP door a
 * person comes by cookie with the second half of the secret in a header, or by the host's own sign-in; at the socket door
 * by being able to open the socket. Guarded code is nobody at either, and its attempt is on record.
 */
import { PermissionError, type UrlParser } from "@sallyport/contract";
import { type ManifestView, type SignInWay } from "@sallyport/contract/admin";
import type { AccessService } from "@sallyport/service";
import type { Hono } from "hono";
import type { Authenticate, CallHead } from "../decision-routes.ts";
import { Problem, jsonResponse, malformed, refusedCredential } from "../problem.ts";
import { parseStoredBody, readBody } from "../read-body.ts";
import { runtimeToken } from "../runtime-api/authorize-call.ts";
import { type FrameOf, credentialCaller } from "../runtime-api/remote-caller.ts";
import type { RuntimeCredentials } from "../runtime-api/runtime-credentials.ts";
import { Accounts } from "../sign-in/accounts.ts";
import { AttemptLimit, type AttemptLimits, CALL_LIMITS } from "../sign-in/attempt-limit.ts";
import { cookieValue, signInCookie } from "../sign-in/cookie.ts";
import { type Person, type PersonFacts, hostPerson, personCaller } from "../sign-in/person.ts";
import { type MadeLink, SignInBook, type SignInTimes } from "../sign-in/sign-in-book.ts";
import { type AdminCall, type AdminRoute, type AdminRoutes, queryOf } from "./admin-call.ts";
import { eventRoutes } from "./event-routes.ts";
import { LiveHub } from "./live-hub.ts";
import { policyRoutes } from "./policy-routes.ts";
import { requestRoutes } from "./request-routes.ts";
import { runRoutes } from "./run-routes.ts";
import { administratorFacts, sessionRoutes } from "./session-routes.ts";
import { type FollowerLimits, Followers } from "./sse.ts";
import { trialRoutes } from "./trial-routes.ts";

export type Door = "http" | "socket";

export interface AdministrationOptions {
  readonly service: AccessService;
  readonly frameOf: FrameOf;
  readonly parseUrl: UrlParser;
  readonly credentials: RuntimeCredentials;
  readonly authenticate: Authenticate;
  /** Empty where the server does not listen. */
  readonly origin: () => string;
  readonly nowMs: () => number;
  readonly closing: AbortSignal;
  readonly bodyBytesMax: number;
  readonly version: string;
  readonly ways: readonly SignInWay[];
  readonly manifests: () => readonly ManifestView[];
  readonly followers?: Partial<FollowerLimits> | undefined;
  readonly times?: Partial<SignInTimes> | undefined;
  readonly calls?: Partial<AttemptLimits> | undefined;
}

export class Administration {
  readonly signIns: SignInBook;
  readonly followers: Followers;
  readonly #options: AdministrationOptions;
  readonly #calls: AttemptLimit;
  readonly #routes: { readonly [D in Door]: AdminRoutes };

  constructor(options: AdministrationOptions) {
    const { service, nowMs, closing } = options;
    this.#options = options;
    const accounts = new Accounts(service.overview, nowMs);
    this.signIns = new SignInBook(service.overview, accounts, nowMs, options.times);
    this.followers = new Followers(options.followers);
    this.#calls = new AttemptLimit({ ...CALL_LIMITS, ...options.calls }, nowMs);
    const hub = new LiveHub(service, closing);
    const table = (door: Door): AdminRoutes => [
      ...sessionRoutes({ ...options, accounts, signIns: this.signIns }),
      ...requestRoutes(service, options.parseUrl),
      ...policyRoutes(service),
      ...runRoutes(service, options.manifests),
      ...eventRoutes({
        service,
        followers: this.followers,
        hub,
        closing,
        isWelcome: (call) => this.#isWelcome(call, door),
      }),
      ...trialRoutes(options),
    ];
    this.#routes = { http: table("http"), socket: table("socket") };
  }

  get routes(): AdminRoutes {
    return this.#routes.http;
  }

  /** For the host's own code: the first administrator. */
  makeAdministratorLink(name: string, ttlMs?: number): Promise<MadeLink> {
    return this.signIns.makeLink(administratorFacts(name), "link", ttlMs);
  }

  mount(app: Hono, door: Door): void {
    for (const route of this.#routes[door]) {
      app.on(route.method, [`/v1${route.path}`], (c) => this.#answer(route, door, c.req.raw, c.req.param()));
    }
  }

  /** The person behind a call. `null`: nobody is signed in. */
  async person(head: CallHead, door: Door): Promise<Person | null> {
    if (door === "socket") return localAdministrator();
    const { origin } = this.#options;
    const cookie = cookieValue(head.headers, signInCookie(origin()).name);
    if (cookie !== null) {
      mustBeOwnPage(head, origin());
      const person = await this.signIns.byToken(cookie, head.headers.get("x-csrf-token") ?? "");
      if (person !== null) return person;
    }
    const caller = await this.#options.authenticate(head);
    return caller === null ? null : hostPerson(caller);
  }

  async #answer(
    route: AdminRoute,
    door: Door,
    request: Request,
    params: Readonly<Record<string, string>>,
  ): Promise<Response> {
    const { bodyBytesMax } = this.#options;
    const head = headOf(request);
    const who = await this.#whoCalls(route, head, door);
    if (!this.#calls.take(who.caller.user?.id ?? ""))
      throw new Problem({ code: "request_limit", detail: "too many calls: wait a moment, then try again" });
    if (!Object.values(params).every((param) => PARAM.test(param))) throw malformed("the path is not an id");
    const query = queryOf(route.query, request.url);
    const body =
      route.body === undefined
        ? undefined
        : parseStoredBody(await readBody(request, bodyBytesMax), route.body as StoredWire);
    try {
      const answer = await route.handle({ ...who, params, query, body, request });
      return answer instanceof Response ? answer : jsonResponse(route.answer.format(answer as never));
    } catch (error) {
      if (error instanceof PermissionError)
        throw new Problem({ code: "permission_error", detail: error.message });
      throw error;
    }
  }

  async #whoCalls(
    route: AdminRoute,
    head: CallHead,
    door: Door,
  ): Promise<Pick<AdminCall, "caller" | "person">> {
    const guarded = door === "http" ? await this.#guardedCode(head) : undefined;
    // INVARIANT: the service refuses it and puts it on record, whatever else the call carries.
    if (guarded !== undefined) return { caller: guarded, person: null };
    if (route.open === true && route.method === "POST" && door === "http")
      mustBeOwnPage(head, this.#options.origin());
    const person = await this.person(head, door);
    if (person !== null) return { caller: person.caller, person };
    if (route.open === true) return { caller: NOBODY, person: null };
    throw refusedCredential("nobody is signed in: sign in, then try again");
  }

  async #guardedCode({ headers }: CallHead): Promise<AdminCall["caller"] | undefined> {
    const token = runtimeToken(headers, ["dpop", "bearer"]);
    const held = token === undefined ? undefined : await this.#options.credentials.verify(token);
    return held === undefined ? undefined : credentialCaller(held.grant, this.#options.frameOf);
  }

  async #isWelcome({ request, caller }: AdminCall, door: Door): Promise<boolean> {
    const person = await this.person(headOf(request), door);
    return person !== null && person.facts.id === caller.user?.id && this.#mayDecide(person);
  }

  #mayDecide(person: Person): boolean {
    return this.#options.service.overview.mayDecide(person.caller);
  }
}

type StoredWire = Parameters<typeof parseStoredBody>[1];

/** As ids are that Sallyport makes. */
const PARAM = /^[A-Za-z0-9._:-]{1,128}$/;

const headOf = ({ method, url, headers }: Request): CallHead => ({
  method,
  path: new URL(url).pathname,
  headers,
});

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

const nobodyFacts: PersonFacts = { id: "", name: "", roles: [], accessLevel: null, organizationId: null };
const NOBODY = Object.freeze({ ...personCaller(nobodyFacts), user: null });

/** Whoever can open the socket: the owner of the data folder, or root. */
function localAdministrator(): Person {
  const uid = process.getuid?.() ?? 0;
  return hostPersonOf({
    id: `local:${uid}`,
    name: "local administrator",
    roles: ["super"],
    accessLevel: null,
    organizationId: null,
  });
}

function hostPersonOf(facts: PersonFacts): Person {
  const caller = personCaller(facts);
  return { facts, way: "socket", caller, expiresAtMs: null, csrfToken: null, signInId: null };
}
