/**
 * The OpenAPI document of the routes, made from the schemas that parse: nothing is written twice.
 */
import { OpenAPIHono } from "@hono/zod-openapi";
import { errorBodyWire, externalAccessCheckWire } from "@sallyport/contract";
import {
  decisionWire,
  issuedCredentialWire,
  remoteCheckWire,
  remoteDecisionWire,
  remoteRequireWire,
  remoteWaitWire,
  waitAnswerWire,
} from "@sallyport/contract/remote";

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
    path: "/v1/runtime/credential/renew",
    summary: "Renew the credential of this call",
    answer: issuedCredentialWire.schema,
  },
  { path: "/v1/runtime/credential/revoke", summary: "Give the credential of this call back" },
  ...["approve_for_session", "approve_permanently", "deny"].map((kind) => ({
    path: `/v1/decisions/${kind}`,
    summary: "Decide on a request, or ahead of one, as a person with authority",
    body: remoteDecisionWire.schema,
    answer: decisionWire.schema,
  })),
]);

export function openApiDocument(origin: string): object {
  const app = new OpenAPIHono();
  for (const { path, summary, body, answer, streams } of ROUTES) {
    app.openAPIRegistry.registerPath({
      method: "post",
      path,
      summary,
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
        default: {
          description: "a failed call",
          content: { "application/problem+json": { schema: errorBodyWire.schema } },
        },
      },
    });
  }
  return app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: { title: "Sallyport", version: "1" },
    servers: [{ url: origin }],
  });
}
