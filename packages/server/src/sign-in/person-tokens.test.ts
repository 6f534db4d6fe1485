import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type PersonBrowser, administrator, asked } from "../testing/person-browser.ts";
import { type ServerFixture, openServer } from "../testing/server-fixture.ts";

let fixture: ServerFixture;
let admin: PersonBrowser;
let nowMs: number;

beforeAll(async () => {
  nowMs = Date.now();
  fixture = await openServer({ admin: {}, nowMs: () => nowMs });
  admin = await administrator(fixture);
});
beforeEach(() => {
  nowMs = Date.now();
});
afterEach(() => {
  expect(fixture.faults).toEqual([]);
});
afterAll(() => fixture.close());

const TTL_MS = 3_600_000;
const PASSWORD = "correct horse battery";
const DECLARED = {
  subject: { type: "tool", name: "demo.read_file" },
  resource: { type: "network", operation: "receive", target: "https://declared.example.com/" },
};

async function made(scopes: readonly string[], by = admin) {
  const answer = await by.post("/v1/person-tokens", { name: "nightly report", scopes, ttl_ms: TTL_MS });
  expect(answer.status).toBe(200);
  const { token, view } = answer.json as { token: string; view: { id: string } };
  return { token, id: view.id };
}

/** A script: a token and nothing else. */
async function script(token: string, path: string, body?: object, headers: object = {}) {
  const response = await fetch(`${fixture.origin}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const json = response.headers.get("content-type")?.includes("json") ? await response.json() : null;
  await response.body?.cancel().catch(() => undefined);
  return { status: response.status, json: json as Readonly<Record<string, unknown>> };
}

const refusals = async () => (await fixture.events()).filter(({ type }) => type === "policy.refused").length;

describe("a token of a person", () => {
  it("reads what it is for, and asks what would happen", async () => {
    const { token } = await made(["requests", "check"]);
    expect((await script(token, "/v1/requests")).status).toBe(200);
    expect((await script(token, "/v1/check", DECLARED)).json).toMatchObject({ check: { allowed: true } });
  });

  it("is told once: neither the list, the store nor the log holds it", async () => {
    const { token, id } = await made(["runs"]);
    const listed = await admin.send("/v1/person-tokens");
    expect(listed.json["rows"]).toContainEqual(
      expect.objectContaining({ id, name: "nightly report", scopes: ["runs"], last_used_at: null }),
    );
    const rows = await fixture.store.read((tx) => tx.records.list("sign_in", { limit: 100 }));
    const events = await fixture.store.read((tx) => tx.events.search({}, { limit: 500 }));
    expect(JSON.stringify([listed.json, rows, events.rows.map(({ body }) => body)])).not.toContain(token);
    expect(JSON.stringify(events.rows.map(({ body }) => body))).not.toContain(id);
  });

  it("attack: for one thing reads nothing else, and the attempt is on record", async () => {
    const { token } = await made(["requests"]);
    const before = await refusals();
    const others = [
      "/v1/approvals",
      "/v1/jobs",
      "/v1/events",
      "/v1/live",
      "/v1/events/export",
      "/v1/accounts",
    ];
    for (const path of others) expect([path, (await script(token, path)).status]).toEqual([path, 403]);
    expect((await refusals()) - before).toBe(others.length);
  });

  it("attack: decides and changes nothing, makes no other token, and adds nothing to a cookie", async () => {
    const { token, id } = await made(["requests", "policy", "runs", "events", "check"]);
    const { requestId, digest } = await asked(fixture, "by-token");
    const decision = { by: { kind: "request", request_id: requestId, digest }, words: {} };
    const calls: readonly (readonly [string, object])[] = [
      ["/v1/decisions/approve_permanently", decision],
      ["/v1/decisions/approve_for_session", decision],
      ["/v1/decisions/deny", decision],
      ["/v1/decisions/block", decision],
      ["/v1/decisions/batch", { items: [] }],
      ["/v1/freeze", { frozen: true }],
      ["/v1/mode", { mode: "bypass" }],
      ["/v1/person-tokens", { name: "x", scopes: ["requests"], ttl_ms: TTL_MS }],
      [`/v1/person-tokens/${id}/revoke`, {}],
      ["/v1/sign-in/links", { name: "x" }],
      ["/v1/runtime-credentials", {}],
      ["/v1/events/verify", {}],
    ];
    const cookie = {
      cookie: String(admin.cookie),
      "x-csrf-token": String(admin.csrf),
      origin: fixture.origin,
    };
    for (const [path, body] of calls) {
      expect([path, (await script(token, path, body)).status]).toEqual([path, 403]);
      expect([path, (await script(token, path, body, cookie)).status]).toEqual([path, 403]);
    }
    const request = await fixture.store.read((tx) => tx.requests.get(requestId));
    expect(request?.status).toBe("pending");
    expect(fixture.service.overview.stateUnchecked().freeze.frozen).toBe(false);
  });

  it("attack: is no cookie, and a cookie is no token", async () => {
    const { token } = await made(["requests"]);
    const port = new URL(fixture.origin).port;
    for (const value of [token, token.slice("sallyport_".length)]) {
      const headers = { cookie: `sallyport_${port}=${value}`, "x-csrf-token": String(admin.csrf) };
      expect((await fetch(`${fixture.origin}/v1/requests`, { headers })).status).toBe(401);
    }
    const own = String(admin.cookie).split("=")[1] ?? "";
    for (const text of [own, `sallyport_${own}`])
      expect((await script(text, "/v1/requests")).status).toBe(401);
  });

  it("is over at once when it is revoked, by whoever may, and when its time has come", async () => {
    const revoked = await made(["requests"]);
    const late = await made(["requests"]);
    expect((await script(revoked.token, "/v1/requests")).status).toBe(200);
    expect((await script(late.token, "/v1/requests")).status).toBe(200);
    expect((await admin.post(`/v1/person-tokens/${revoked.id}/revoke`)).status).toBe(200);
    expect((await script(revoked.token, "/v1/requests")).status).toBe(401);
    expect((await admin.post(`/v1/person-tokens/${revoked.id}/revoke`)).status).toBe(404);
    nowMs += TTL_MS;
    expect((await script(late.token, "/v1/requests")).status).toBe(401);
  });

  it("of an account ends with what the account may: disabled, it is worth nothing at once", async () => {
    const words = { name: "ada", password: PASSWORD, roles: ["super"], organization_id: null };
    const account = await admin.post("/v1/accounts", words);
    const { PersonBrowser: Browser } = await import("../testing/person-browser.ts");
    const ada = new Browser(fixture.origin);
    await ada.signIn({ name: "ada", password: PASSWORD });
    const { token } = await made(["requests"], ada);
    expect((await script(token, "/v1/requests")).status).toBe(200);
    await admin.post(`/v1/accounts/${String(account.json["id"])}/disable`, { disabled: true });
    expect((await script(token, "/v1/requests")).status).toBe(401);
    expect((await ada.send("/v1/requests")).status).toBe(401);
  });

  it("attack: a sign-in id in the place of a token's ends no sign-in", async () => {
    const { rows } = await fixture.store.read((tx) => tx.records.list("sign_in", { limit: 100 }));
    for (const { id, body } of rows) {
      if ((body as { readonly kind?: string }).kind === "token") continue;
      expect((await admin.post(`/v1/person-tokens/${id}/revoke`)).status).toBe(404);
    }
    expect((await admin.send("/v1/session")).json).toMatchObject({ may_decide: true });
  });

  it("is listed page by page, each once", async () => {
    const ids = new Set<string>();
    for (let more = 0; more < 3; more++) ids.add((await made(["check"])).id);
    const seen: string[] = [];
    let after = "";
    do {
      const { json } = await admin.send(`/v1/person-tokens?limit=2${after === "" ? "" : `&after=${after}`}`);
      seen.push(...(json["rows"] as { id: string }[]).map(({ id }) => id));
      after = (json["next"] as string | null) ?? "";
    } while (after !== "");
    expect(new Set(seen).size).toBe(seen.length);
    for (const id of ids) expect(seen).toContain(id);
  });
});
