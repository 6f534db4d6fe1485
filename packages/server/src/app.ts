/**
 * The HTTP API as one application: what stands before every route, the routes, and what a fault becomes.
 * Trusts the injected service, sign-in and registry. Never answers another host name or another origin: a page of a
 * browser that was led here by its name server cannot speak with it.
 */
import { type AccessPolicy, PermissionError, type ResumeLending, type UrlParser } from "@sallyport/contract";
import { Hono } from "hono";
import type { AdminRoutes } from "./admin/admin-call.ts";
import type { Administration } from "./admin/administration.ts";
import { addHealthRoutes } from "./admin/health-routes.ts";
import { rawWords } from "./admin/request-routes.ts";
import type { AdminOptions } from "./admin/admin-options.ts";
import { type Authenticate, addCalls, decisionCalls } from "./decision-routes.ts";
import { type CallHead, type Handle, ownOrigin } from "./incoming-call.ts";
import { openApiDocument } from "./open-api.ts";
import { Problem, UNAVAILABLE, jsonResponse, malformed, problemResponse } from "./problem.ts";
import type { QuickLane } from "./quick-lane.ts";
import { BODY_BYTES_MAX } from "./read-body.ts";
import type { CallSessions } from "./runtime-api/call-sessions.ts";
import type { FrameOf } from "./runtime-api/remote-caller.ts";
import { ReplayCache, type ReplayMemory } from "./runtime-api/replay-cache.ts";
import type { RuntimeCredentials } from "./runtime-api/runtime-credentials.ts";
import { addRuntimeRoutes, quickRuntimeCalls } from "./runtime-api/runtime-routes.ts";
import { addOidcRoutes } from "./sign-in/oidc.ts";
import { StaticFiles } from "./static/static-files.ts";
import { WaitRoom } from "./runtime-api/wait-stream.ts";

export interface AppOptions {
  readonly service: AccessPolicy;
  readonly frameOf: FrameOf;
  readonly parseUrl: UrlParser;
  readonly authenticate: Authenticate;
  readonly credentials: RuntimeCredentials;
  readonly sessions: CallSessions;
  /** The origin that callers reach the server by. */
  readonly origin: () => string;
  readonly nowMs: () => number;
  readonly closing: AbortSignal;
  /** Left out: remote hosts run no resumes. */
  readonly resumes?: ResumeLending | undefined;
  readonly room?: WaitRoom | undefined;
  /** In memory unless said: nodes that answer to one origin share one. */
  readonly replays?: ReplayMemory | undefined;
  readonly bodyBytesMax?: number | undefined;
  /** Between two signs of life of a waiting answer; 15 seconds unless said. */
  readonly beatMs?: number | undefined;
  /** For persons. Left out: no administration API, no console. */
  readonly admin?: AdminOptions | undefined;
  readonly administration?: Administration | undefined;
  /** For the host's own log. Must not throw. */
  readonly onFault?: ((error: unknown) => void) | undefined;
}

export interface App {
  readonly fetch: Hono["fetch"];
  /** What passes by the framework. */
  readonly lane: QuickLane;
  /** What is answered, for the document to be held against. */
  readonly routes: readonly { readonly method: string; readonly path: string }[];
}

export function createApp(options: AppOptions): App {
  const app = new Hono();
  const { service, frameOf, parseUrl, authenticate, credentials, sessions, origin, nowMs, closing } = options;
  const bodyBytesMax = options.bodyBytesMax ?? BODY_BYTES_MAX;
  const mustBeOurs = ownOrigin(origin);
  app.use(async (c, next) => {
    mustBeOurs(c.req.raw.headers);
    await next();
  });
  const runtime = {
    service,
    frameOf,
    parseUrl,
    credentials,
    sessions,
    origin,
    nowMs,
    closing,
    bodyBytesMax,
    resumes: options.resumes,
    replays: options.replays ?? new ReplayCache(),
    room: options.room ?? new WaitRoom({ perCredentialMax: 256, max: 4096 }),
    beatMs: options.beatMs ?? 15_000,
  };
  addRuntimeRoutes(app, runtime);
  const decisions = { service, credentials, sessions, frameOf, parseUrl, bodyBytesMax };
  const { admin, administration } = options;
  const deciding =
    admin === undefined || administration === undefined
      ? decisionCalls({ ...decisions, authenticate })
      : addPersonRoutes(app, options, admin, administration);
  addCalls(app, deciding);
  const routes = administration?.routes ?? [];
  addDocument(app, origin, routes);
  answerFaults(app, options.onFault);
  const persons = administration?.quickCalls() ?? [];
  const handles = new Map([...quickRuntimeCalls(runtime), ...deciding, ...persons]);
  const faultResponse = (error: unknown): Response => faultAnswer(error, options.onFault);
  return { fetch: app.fetch, lane: { handles, mustBeOurs, faultResponse }, routes: app.routes };
}

/** Made once: it does not change while the server runs. */
function addDocument(app: Hono, origin: () => string, routes: AdminRoutes): void {
  let document: object | undefined;
  app.get("/v1/openapi.json", () => jsonResponse((document ??= openApiDocument(origin(), routes))));
}

/** The second door: the administration API alone, for whoever can open the socket. */
export function createSocketApp(
  options: AppOptions,
  admin: AdminOptions,
  administration: Administration,
): Hono {
  const app = new Hono();
  const authenticate = async () => (await administration.person(SOCKET_HEAD, "socket"))?.caller ?? null;
  addCalls(app, personDecisions(options, admin, authenticate));
  administration.mount(app, "socket");
  addDocument(app, () => "http://localhost", administration.routes);
  answerFaults(app, options.onFault);
  return app;
}

const SOCKET_HEAD: CallHead = { method: "POST", path: "/", headers: new Headers() };

function addPersonRoutes(
  app: Hono,
  options: AppOptions,
  admin: AdminOptions,
  administration: Administration,
): ReadonlyMap<string, Handle> {
  const { origin, nowMs } = options;
  const { service, metricsToken, oidc, consoleFolder } = admin;
  const deciding = personDecisions(
    options,
    admin,
    async (head) => (await administration.person(head, "http"))?.caller ?? null,
  );
  addHealthRoutes(app, { service, followers: administration.followers, origin, metricsToken });
  administration.mount(app, "http");
  if (oidc !== undefined)
    addOidcRoutes(app, { options: oidc, signIns: administration.signIns, origin, nowMs });
  if (consoleFolder === undefined) return deciding;
  const files = new StaticFiles(consoleFolder);
  app.get("*", async (c, next) => {
    const file = c.req.path.startsWith("/v1/") ? undefined : files.respond(c.req.raw);
    if (file === undefined) await next();
    return file;
  });
  return deciding;
}

function personDecisions(
  options: AppOptions,
  { service }: AdminOptions,
  authenticate: Authenticate,
): ReadonlyMap<string, Handle> {
  const { credentials, sessions, frameOf, parseUrl, bodyBytesMax = BODY_BYTES_MAX } = options;
  return decisionCalls({
    service,
    authenticate,
    credentials,
    sessions,
    frameOf,
    parseUrl,
    bodyBytesMax,
    block: (caller, by, words) => service.block(caller, by, words),
    shown: (decision) => service.overview.shownDecision(decision),
    rawWords: (by, words) => rawWords(service, by, words),
  });
}

function answerFaults(app: Hono, onFault: AppOptions["onFault"]): void {
  app.notFound(() => problemResponse(malformed("there is no such call here", 404).words));
  app.onError((error) => faultAnswer(error, onFault));
}

function faultAnswer(error: unknown, onFault: AppOptions["onFault"]): Response {
  if (error instanceof Problem) return problemResponse(error.words);
  if (error instanceof PermissionError)
    return problemResponse({ code: "permission_error", detail: error.message });
  onFault?.(error);
  return problemResponse(UNAVAILABLE);
}
