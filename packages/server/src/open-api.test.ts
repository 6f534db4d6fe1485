import { generateKeyPairSync, randomUUID } from "node:crypto";
import { whatwgUrl } from "@sallyport/contract";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Administration } from "./admin/administration.ts";
import { type App, createApp } from "./app.ts";
import { CallSessions } from "./runtime-api/call-sessions.ts";
import { RuntimeCredentials } from "./runtime-api/runtime-credentials.ts";
import { type ServerFixture, openServer } from "./testing/server-fixture.ts";

type Content = Readonly<Record<string, { readonly schema?: object }>>;
interface Operation {
  readonly summary?: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content: Content }>>;
}

/** For the browser of a person on its way, and the document itself. */
const BESIDE = new Set([
  "GET /v1/openapi.json",
  "GET /v1/sign-in/oidc/start",
  "GET /v1/sign-in/oidc/callback",
]);
const ORIGIN = "http://127.0.0.1:4180";

let fixture: ServerFixture;
let app: App;
let described: ReadonlyMap<string, Operation>;
let schemes: readonly string[];

beforeAll(async () => {
  fixture = await openServer();
  const { service } = fixture;
  const nowMs = Date.now;
  const origin = () => ORIGIN;
  const signingKey = { id: "key", privateKey: generateKeyPairSync("ed25519").privateKey };
  const parts = {
    frameOf: () => null,
    parseUrl: whatwgUrl,
    authenticate: async () => null,
    credentials: new RuntimeCredentials({ signingKey, newId: randomUUID, audience: origin, nowMs }),
    sessions: new CallSessions(nowMs),
    origin,
    nowMs,
    closing: new AbortController().signal,
    bodyBytesMax: 1024,
  };
  const oidc = { issuer: "http://127.0.0.1:1", clientId: "id", clientSecret: "secret", roles: {} };
  const administration = new Administration({
    ...parts,
    service,
    version: "test",
    ways: ["link"],
    manifests: () => [],
    webhookIds: [],
  });
  app = createApp({ ...parts, service, admin: { service, version: "test", oidc }, administration });
  const response = await app.fetch(
    new Request(`${ORIGIN}/v1/openapi.json`, { headers: { host: "127.0.0.1:4180" } }),
  );
  const document = (await response.json()) as {
    readonly openapi: string;
    readonly components: { readonly securitySchemes: Readonly<Record<string, object>> };
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  };
  expect(document.openapi).toBe("3.1.0");
  schemes = Object.keys(document.components.securitySchemes);
  described = new Map(
    Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]): [string, Operation] => [
        `${method.toUpperCase()} ${path.replace(/\{([a-z]+)\}/g, ":$1")}`,
        operation,
      ]),
    ),
  );
});
afterAll(() => fixture.close());

/** WHY not `ALL`: that stands before every route and is none. */
const answered = (): readonly string[] =>
  app.routes.filter(({ method }) => method !== "ALL").map(({ method, path }) => `${method} ${path}`);

describe("the OpenAPI document", () => {
  it("names every call that is answered, and no other", () => {
    const calls = answered().filter((call) => !BESIDE.has(call));
    expect([...described.keys()].toSorted()).toEqual([...new Set(calls)].toSorted());
    expect(calls.length).toBeGreaterThan(50);
    for (const beside of BESIDE) expect(answered()).toContain(beside);
  });

  it("says of every call what it is for, what it takes and what it answers, by schemas", () => {
    for (const [call, { summary, parameters = [], requestBody, responses }] of described) {
      expect([call, summary]).toEqual([call, expect.stringMatching(/\w/)]);
      const named = [...call.matchAll(/:([a-z]+)/g)].map(([, name]) => name);
      expect([call, parameters.filter((one) => one.in === "path").map(({ name }) => name)]).toEqual([
        call,
        named,
      ]);
      const contents = [requestBody?.content, ...Object.values(responses).map(({ content }) => content)];
      for (const content of contents) {
        if (content === undefined) continue;
        for (const [type, { schema }] of Object.entries(content))
          expect([call, type, typeof schema]).toEqual([call, type, "object"]);
      }
      expect([call, Object.keys(responses)]).toEqual([
        call,
        call === "GET /readyz" ? ["200", "503", "default"] : ["200", "default"],
      ]);
      expect(responses["default"]?.content).toHaveProperty("application/problem+json");
    }
  });

  it("says of every call by what a caller is known, in schemes that it describes", () => {
    const open = [...described].filter(([, { security }]) => security?.length === 0).map(([call]) => call);
    expect(open.toSorted()).toEqual([
      "GET /healthz",
      "GET /readyz",
      "GET /v1/session",
      "POST /v1/sign-in/link",
      "POST /v1/sign-in/password",
    ]);
    const named = [...described.values()].flatMap(({ security = [{ unnamed: [] }] }) =>
      security.flatMap((one) => Object.keys(one)),
    );
    expect([...new Set(named)].toSorted()).toEqual(schemes.toSorted());
  });

  it("holds what passes by the framework too", () => {
    expect(app.lane.handles.size).toBeGreaterThan(0);
    for (const path of app.lane.handles.keys()) expect(described.has(`POST ${path}`)).toBe(true);
  });
});
