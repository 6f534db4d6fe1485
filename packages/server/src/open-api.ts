/**
 * The OpenAPI document of the routes, made from the schemas that parse: nothing is written twice.
 */
import { OpenAPIHono } from "@hono/zod-openapi";
import { errorBodyWire, externalAccessCheckWire } from "@sallyport/contract";
import {
  decisionWire,
  issuedCredentialWire,
  lendJobsWire,
  lentJobsWire,
  openSessionWire,
  openedSessionWire,
  remoteCheckWire,
  remoteDecisionWire,
  remoteRequireWire,
  remoteStateWire,
  remoteWaitWire,
  settleJobWire,
  settledJobWire,
  stateAnswerWire,
  waitAnswerWire,
} from "@sallyport/contract/remote";

import { ADMIN_QUERIES } from "@sallyport/contract/admin";
import type { AdminRoute, AdminRoutes } from "./admin/admin-call.ts";

type Schema = typeof errorBodyWire.schema | object;

interface Described {
  readonly path: string;
  readonly summary: string;
  readonly body?: Schema;
  readonly answer?: Schema;
  /** The answer may also come as server-sent events. */
  readonly streams?: true;
}

const ROUTES: readonly Described[] = Object.freeze([
  {
    path: "/v1/runtime/check",
    summary: "Check an access as guarded code",
    body: remoteCheckWire.schema,
    answer: externalAccessCheckWire.schema,
    streams: true,
  },
  {
    path: "/v1/runtime/require",
    summary: "Check an access, and say what goes on after an approval",
    body: remoteRequireWire.schema,
    answer: externalAccessCheckWire.schema,
    streams: true,
  },
  {
    path: "/v1/runtime/wait",
    summary: "Wait for the decision on an own request",
    body: remoteWaitWire.schema,
    answer: waitAnswerWire.schema,
    streams: true,
  },
  {
    path: "/v1/runtime/state",
    summary: "What guarded code stands under",
    body: remoteStateWire.schema,
    answer: stateAnswerWire.schema,
  },
  {
    path: "/v1/runtime/jobs/lend",
    summary: "Offer resume actions, and take jobs of them that are due",
    body: lendJobsWire.schema,
    answer: lentJobsWire.schema,
  },
  {
    path: "/v1/runtime/jobs/settle",
    summary: "Keep a job, or say that it is done or failed",
    body: settleJobWire.schema,
    answer: settledJobWire.schema,
  },
  {
    path: "/v1/runtime/session",
    summary: "Open a session: calls of it carry a MAC instead of a signature",
    body: openSessionWire.schema,
    answer: openedSessionWire.schema,
  },
  {
    path: "/v1/runtime/credential/renew",
    summary: "Renew the credential of this call",
    answer: issuedCredentialWire.schema,
  },
  { path: "/v1/runtime/credential/revoke", summary: "Give the credential of this call back" },
  ...["approve_for_session", "approve_permanently", "deny"].map(decisionRoute),
]);

function decisionRoute(kind: string): Described {
  return {
    path: `/v1/decisions/${kind}`,
    summary: "Decide on a request, or ahead of one, as a person with authority",
    body: remoteDecisionWire.schema,
    answer: decisionWire.schema,
  };
}

type Security = readonly { readonly [scheme: string]: string[] }[];

/** A person who is signed in: the cookie alone is worth nothing. */
const PERSON: Security = [{ cookie: [], csrf: [] }];
const SCHEMES = {
  cookie: {
    type: "apiKey",
    in: "cookie",
    name: "__Host-sallyport",
    description: "set at sign-in; `sallyport_` and the port where the server is reached without TLS",
  },
  csrf: { type: "apiKey", in: "header", name: "X-CSRF-Token", description: "told once, at sign-in" },
  person_token: {
    type: "http",
    scheme: "bearer",
    description: "a token of a person: it reads, and decides nothing",
  },
  runtime_credential: {
    type: "http",
    scheme: "DPoP",
    description: "a credential of guarded code, with a proof in `DPoP`",
  },
  metrics_token: { type: "http", scheme: "bearer", description: "of a monitor, where the server has one" },
} as const;

/** For monitors. */
const HEALTH: readonly {
  readonly path: string;
  readonly summary: string;
  readonly not?: string;
  readonly security: Security;
}[] = [
  { path: "/healthz", summary: "Whether the process lives", security: [] },
  { path: "/readyz", summary: "Whether approvals can be vouched for", not: "not ready", security: [] },
  {
    path: "/metrics",
    summary: "Figures for Prometheus; they name nobody",
    security: [{}, { metrics_token: [] }],
  },
];

const plain = (description: string) => ({
  description,
  content: { "text/plain": { schema: { type: "string" as const } } },
});

function describeHealth({ openAPIRegistry }: OpenAPIHono): void {
  for (const { path, summary, not, security } of HEALTH)
    openAPIRegistry.registerPath({
      method: "get",
      path,
      summary,
      security: [...security],
      responses: {
        200: plain("the answer"),
        ...(not === undefined ? {} : { 503: plain(not) }),
        default: FAILED,
      },
    });
}

const FAILED = {
  description: "a failed call",
  content: { "application/problem+json": { schema: errorBodyWire.schema } },
};

export function openApiDocument(origin: string, routes: AdminRoutes = []): object {
  const app = new OpenAPIHono();
  const schemes = routes.length === 0 ? { runtime_credential: SCHEMES.runtime_credential } : SCHEMES;
  for (const [name, scheme] of Object.entries(schemes))
    app.openAPIRegistry.registerComponent("securitySchemes", name, scheme);
  if (routes.length > 0) describeHealth(app);
  const known = routes.length === 0 ? ROUTES : [...ROUTES, decisionRoute("block")];
  for (const { path, summary, body, answer, streams } of known) {
    app.openAPIRegistry.registerPath({
      method: "post",
      path,
      summary,
      security: path.startsWith("/v1/runtime/") ? [{ runtime_credential: [] }] : [...PERSON],
      ...(body === undefined
        ? {}
        : {
            request: { body: { required: true, content: { "application/json": { schema: body as never } } } },
          }),
      responses: {
        200: {
          description: "the answer",
          content: {
            "application/json": { schema: (answer ?? {}) as never },
            ...(streams === true ? { "text/event-stream": { schema: { type: "string" } } } : {}),
          },
        },
        default: FAILED,
      },
    });
  }
  for (const route of routes) app.openAPIRegistry.registerPath(describedRoute(route));
  return app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: { title: "Sallyport", version: "1" },
    servers: [{ url: origin }],
  });
}

/** A route of the administration API, from the same row that answers it. */
function describedRoute({ method, path, summary, query, body, answer, stream, open, scope }: AdminRoute) {
  const type = { events: "text/event-stream", lines: "application/jsonl" } as const;
  const names = [...path.matchAll(/:([a-z]+)/g)].map(([, name]) => name ?? "");
  const inPath = names.map((name) => ({
    name,
    in: "path" as const,
    required: true,
    schema: { type: "string" as const },
  }));
  const inQuery = (query === undefined ? [] : Object.entries(ADMIN_QUERIES[query])).map(([name, kind]) => ({
    name,
    in: "query" as const,
    required: false,
    schema: querySchema(kind),
  }));
  const content =
    stream === undefined
      ? { "application/json": { schema: answer.schema as never } }
      : { [type[stream]]: { schema: { type: "string" as const } } };
  return {
    method: method.toLowerCase() as "get" | "post",
    path: `/v1${path.replace(/:([a-z]+)/g, "{$1}")}`,
    summary,
    parameters: [...inPath, ...inQuery],
    security: open === true ? [] : [...PERSON, ...(scope === undefined ? [] : [{ person_token: [] }])],
    ...(body === undefined
      ? {}
      : {
          request: {
            body: { required: true, content: { "application/json": { schema: body.schema as never } } },
          },
        }),
    responses: {
      200: { description: "the answer", content },
      default: FAILED,
    },
  };
}

type QueryKind = (typeof ADMIN_QUERIES)["events"][keyof (typeof ADMIN_QUERIES)["events"]];

function querySchema(kind: QueryKind | { readonly kind: string; readonly values?: readonly string[] }) {
  if (kind.kind === "integer") return { type: "integer" as const };
  return "values" in kind && kind.values !== undefined
    ? { type: "string" as const, enum: [...kind.values] }
    : { type: "string" as const };
}
