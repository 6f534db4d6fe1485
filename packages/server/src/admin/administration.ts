/**
 * The administration API: the table of its routes, and what every call of them goes through before its handler: who is
 * behind it (`person-door.ts`), how often, with which query and body.
 */
import type { UrlParser } from "@sallyport/contract";
import type { GuideView, ManifestView, SignInWay } from "@sallyport/contract/admin";
import type { AccessService } from "@sallyport/service";
import type { Hono } from "hono";
import type { Authenticate } from "../decision-routes.ts";
import {
  type Answer,
  type CallHead,
  type Handle,
  type IncomingCall,
  callOf,
  responseOf,
} from "../incoming-call.ts";
import { Deliveries } from "../notify/deliveries.ts";
import { Problem, malformed } from "../problem.ts";
import { parseStoredBody } from "../read-body.ts";
import type { CallSessions } from "../runtime-api/call-sessions.ts";
import type { FrameOf } from "../runtime-api/remote-caller.ts";
import type { RuntimeCredentials } from "../runtime-api/runtime-credentials.ts";
import { Accounts } from "../sign-in/accounts.ts";
import { AttemptLimit, type AttemptLimits, CALL_LIMITS } from "../sign-in/attempt-limit.ts";
import { HeldRecords } from "../sign-in/held-records.ts";
import type { Person } from "../sign-in/person.ts";
import { PersonTokens } from "../sign-in/person-tokens.ts";
import { DEFAULT_TIMES, type MadeLink, SignInBook, type SignInTimes } from "../sign-in/sign-in-book.ts";
import { type AdminRoute, type AdminRoutes, queryOf } from "./admin-call.ts";
import { credentialRoutes } from "./credential-routes.ts";
import { deliveryRoutes, tokenRoutes } from "./delivery-routes.ts";
import { eventRoutes } from "./event-routes.ts";
import { LiveHub } from "./live-hub.ts";
import { type Door, PersonDoor } from "./person-door.ts";
import { policyRoutes } from "./policy-routes.ts";
import { requestRoutes } from "./request-routes.ts";
import { runRoutes } from "./run-routes.ts";
import { administratorFacts, sessionRoutes } from "./session-routes.ts";
import { type FollowerLimits, Followers } from "./sse.ts";
import { trialRoutes } from "./trial-routes.ts";
import { useRoutes } from "./use-routes.ts";

export interface AdministrationOptions {
  readonly service: AccessService;
  readonly frameOf: FrameOf;
  readonly parseUrl: UrlParser;
  readonly credentials: RuntimeCredentials;
  readonly sessions: CallSessions;
  readonly authenticate: Authenticate;
  /** Empty where the server does not listen. */
  readonly origin: () => string;
  readonly nowMs: () => number;
  readonly closing: AbortSignal;
  readonly bodyBytesMax: number;
  readonly version: string;
  readonly ways: readonly SignInWay[];
  readonly manifests: () => readonly ManifestView[];
  readonly guide?: (() => GuideView) | undefined;
  /** Of the webhooks that the host has. */
  readonly webhookIds: readonly string[];
  readonly followers?: Partial<FollowerLimits> | undefined;
  readonly times?: Partial<SignInTimes> | undefined;
  readonly calls?: Partial<AttemptLimits> | undefined;
}

export class Administration {
  readonly signIns: SignInBook;
  readonly followers: Followers;
  readonly #options: AdministrationOptions;
  readonly #calls: AttemptLimit;
  readonly #door: PersonDoor;
  readonly #routes: { readonly [D in Door]: AdminRoutes };

  constructor(options: AdministrationOptions) {
    const { service, nowMs, closing } = options;
    this.#options = options;
    const { overview } = service;
    const accounts = new Accounts(overview, nowMs);
    const book = { overview, accounts, held: new HeldRecords(overview, "sign_in"), nowMs };
    this.signIns = new SignInBook({ ...book, times: options.times });
    const vouchedMs = options.times?.idleMs ?? DEFAULT_TIMES.idleMs;
    const tokens = new PersonTokens({ ...book, vouchedMs });
    this.#door = new PersonDoor({ ...options, signIns: this.signIns, tokens });
    const webhookIds = new Set(options.webhookIds);
    const deliveries = new Deliveries({ overview, webhookIds, nowMs });
    this.followers = new Followers(options.followers);
    this.#calls = new AttemptLimit({ ...CALL_LIMITS, ...options.calls }, nowMs);
    const hub = new LiveHub(service, closing);
    const table = (door: Door): AdminRoutes => [
      ...sessionRoutes({ ...options, accounts, signIns: this.signIns }),
      ...requestRoutes(service, options.parseUrl),
      ...policyRoutes(service),
      ...runRoutes(options),
      ...eventRoutes({
        service,
        followers: this.followers,
        hub,
        closing,
        isWelcome: (call) => this.#door.isWelcome(call, door),
      }),
      ...trialRoutes(options),
      ...credentialRoutes(options),
      ...useRoutes(service, options.manifests),
      ...deliveryRoutes(deliveries),
      ...tokenRoutes(service, tokens),
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
      app.on(route.method, [`/v1${route.path}`], async (c) =>
        responseOf(await this.#answer(route, door, callOf(c.req.raw), c.req.param())),
      );
    }
  }

  /** The calls that are made all the time at the HTTP door, by path. */
  quickCalls(): ReadonlyMap<string, Handle> {
    const quick = this.#routes.http.filter(({ isQuick }) => isQuick === true);
    return new Map(
      quick.map((route): [string, Handle] => [
        `/v1${route.path}`,
        (call) => this.#answer(route, "http", call, NO_PARAMS),
      ]),
    );
  }

  /** The person behind a call. `null`: nobody is signed in. */
  person(head: CallHead, door: Door): Promise<Person | null> {
    return this.#door.person(head, door);
  }

  async #answer(
    route: AdminRoute,
    door: Door,
    call: IncomingCall,
    params: Readonly<Record<string, string>>,
  ): Promise<Answer> {
    const { bodyBytesMax } = this.#options;
    const { head, gone } = call;
    const who = await this.#door.whoCalls(route, head, door);
    if (!this.#calls.take(who.caller.user?.id ?? ""))
      throw new Problem({ code: "request_limit", detail: "too many calls: wait a moment, then try again" });
    if (!Object.values(params).every((param) => PARAM.test(param))) throw malformed("the path is not an id");
    const query = queryOf(route.query, call.search);
    const body =
      route.body === undefined
        ? undefined
        : parseStoredBody(await call.body(bodyBytesMax), route.body as StoredWire);
    const answer = await route.handle({ ...who, params, query, body, head, gone });
    return answer instanceof Response ? answer : JSON.stringify(route.answer.format(answer as never));
  }
}

const NO_PARAMS = Object.freeze({});
type StoredWire = Parameters<typeof parseStoredBody>[1];

/** As ids are that Sallyport makes. */
const PARAM = /^[A-Za-z0-9._:-]{1,128}$/;
