/**
 * The HTTP API as one application: what stands before every route, the routes, and what a fault becomes.
 * Trusts the injected service, sign-in and registry. Never answers another host name or another origin: a page of a
 * browser that was led here by its name server cannot speak with it.
 */
import type { AccessPolicy, UrlParser } from "@sallyport/contract";
import { Hono } from "hono";
import { type Authenticate, addDecisionRoutes } from "./decision-routes.ts";
import { openApiDocument } from "./open-api.ts";
import { Problem, UNAVAILABLE, jsonResponse, malformed, problemResponse } from "./problem.ts";
import { BODY_BYTES_MAX } from "./read-body.ts";
import type { FrameOf } from "./runtime-api/remote-caller.ts";
import { ReplayCache } from "./runtime-api/replay-cache.ts";
import type { RuntimeCredentials } from "./runtime-api/runtime-credentials.ts";
import { addRuntimeRoutes } from "./runtime-api/runtime-routes.ts";
import { WaitRoom } from "./runtime-api/wait-stream.ts";

export interface AppOptions {
  readonly service: AccessPolicy;
  readonly frameOf: FrameOf;
  readonly parseUrl: UrlParser;
  readonly authenticate: Authenticate;
  readonly credentials: RuntimeCredentials;
  /** The origin that callers reach the server by. */
  readonly origin: () => string;
  readonly nowMs: () => number;
  readonly closing: AbortSignal;
  readonly room?: WaitRoom | undefined;
  readonly replays?: ReplayCache | undefined;
  readonly bodyBytesMax?: number | undefined;
  /** Between two signs of life of a waiting answer; 15 seconds unless said. */
  readonly beatMs?: number | undefined;
  /** For the host's own log. Must not throw. */
  readonly onFault?: ((error: unknown) => void) | undefined;
}

export function createApp(options: AppOptions): Hono {
  const app = new Hono();
  const { service, frameOf, parseUrl, authenticate, credentials, origin, nowMs, closing } = options;
  const bodyBytesMax = options.bodyBytesMax ?? BODY_BYTES_MAX;
  app.use(async (c, next) => {
    const { headers } = c.req.raw;
    if (headers.get("host") !== new URL(origin()).host)
      throw malformed("this server does not answer to that host name: use its own origin", 421);
    const from = headers.get("origin");
    if (from !== null && from !== origin())
      throw malformed("calls from pages of other origins are refused", 403);
    await next();
  });
  addRuntimeRoutes(app, {
    service,
    frameOf,
    parseUrl,
    credentials,
    origin,
    nowMs,
    closing,
    bodyBytesMax,
    replays: options.replays ?? new ReplayCache(),
    room: options.room ?? new WaitRoom({ perCredentialMax: 256, max: 4096 }),
    beatMs: options.beatMs ?? 15_000,
  });
  addDecisionRoutes(app, { service, authenticate, credentials, frameOf, parseUrl, bodyBytesMax });
  app.get("/v1/openapi.json", () => jsonResponse(openApiDocument(origin())));
  app.notFound(() => problemResponse(malformed("there is no such call here", 404).words));
  app.onError((error) => {
    if (error instanceof Problem) return problemResponse(error.words);
    options.onFault?.(error);
    return problemResponse(UNAVAILABLE);
  });
  return app;
}
