/** Attacks on the credentials of remote hosts, each refused. */
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { createClient, generateHolderKey, runtimeCredential } from "@sallyport/client";
import {
  AGENT,
  BANK,
  READER,
  type ServerFixture,
  access,
  ask,
  grant,
  guardedCaller,
  openServer,
  receive,
} from "@sallyport/server/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CHECK_PATH, type Holder, checkBody, headersOf, holderOf, rawCall } from "./raw-call.ts";

let fixture: ServerFixture;
let holder: Holder;
let nowMs: number;

beforeEach(async () => {
  nowMs = Date.now();
  fixture = await openServer({ nowMs: () => nowMs });
  holder = await holderOf(fixture);
});
afterEach(async () => {
  expect(fixture.faults).toEqual([]);
  await fixture.close();
});

const REFUSED = { status: 401, code: "invalid_credential" };
const ASKED = { status: 200, code: "approval_required" };
const bodyWith = (changes: object) => JSON.stringify(checkBody(changes));

/** The claims of a token changed, with its signature left as it is. */
function altered(token: string, change: (claims: Record<string, unknown>) => object): string {
  const [head, claims = "", signature] = token.split(".");
  const read = JSON.parse(Buffer.from(claims, "base64url").toString()) as Record<string, unknown>;
  return [head, Buffer.from(JSON.stringify(change(read))).toString("base64url"), signature].join(".");
}

describe("a forged credential", () => {
  it("is refused where its claims were changed, it is unsigned, or another key signed it", async () => {
    expect(await rawCall(fixture, holder)).toMatchObject(ASKED);
    const { token } = holder.issued;
    const wider = altered(token, (claims) => ({
      ...claims,
      grant: { ...(claims["grant"] as object), user_id: 1 },
    }));
    expect(await rawCall(fixture, holder, { token: wider })).toMatchObject(REFUSED);
    const [, claims] = token.split(".");
    const none = Buffer.from(JSON.stringify({ alg: "none", typ: "sallyport-runtime+jwt", kid: "key-1" }));
    expect(
      await rawCall(fixture, holder, { token: `${none.toString("base64url")}.${claims}.` }),
    ).toMatchObject(REFUSED);
    const { credentials } = await otherServer();
    const foreign = await credentials.issue(grant, holder.key.thumbprint);
    expect(await rawCall(fixture, holder, { token: foreign.token })).toMatchObject(REFUSED);
  });

  it("for another server is refused, though the same key signed it", async () => {
    const signingKey = { id: "shared", privateKey: generateKeyPairSync("ed25519").privateKey };
    const [here, there] = [
      await openServer({ credentials: { signingKey } }),
      await openServer({ credentials: { signingKey } }),
    ];
    try {
      const key = await generateHolderKey();
      const own = { key, issued: await here.issue(key.thumbprint) };
      expect(await rawCall(here, own)).toMatchObject(ASKED);
      expect(await rawCall(there, own)).toMatchObject(REFUSED);
    } finally {
      await Promise.all([here.close(), there.close()]);
    }
  });

  it("of one that runs out, was revoked, or comes from before a restart is refused", async () => {
    const live = await holderOf(fixture);
    await fixture.server.credentials.revoke(live.issued.credentialId);
    expect(await rawCall(fixture, live)).toMatchObject(REFUSED);
    nowMs += 5 * 60_000;
    const late = { proven: { nowMs } };
    expect(await rawCall(fixture, holder, late)).toMatchObject(REFUSED);
    nowMs -= 5 * 60_000 + 1;
    const early = await holderOf(fixture);
    expect(await rawCall(fixture, early)).toMatchObject(REFUSED);
  });

  it("cannot be issued for the host's own code", async () => {
    const core = { subject: { type: "core", name: "core" }, phase: "runtime" } as never;
    await expect(fixture.issue(holder.key.thumbprint, { subjects: [core] })).rejects.toThrow("core:core");
  });
});

describe("a replayed credential", () => {
  it("is refused the second time with the same proof", async () => {
    const headers = await headersOf(fixture, holder);
    const proof = headers["dpop"] ?? "";
    expect(await rawCall(fixture, holder, { proof })).toMatchObject(ASKED);
    const again = await rawCall(fixture, holder, { proof });
    expect(again).toMatchObject(REFUSED);
    expect(again.detail).toContain("used before");
  });

  it("is refused without its key, with another key, and as a plain bearer token", async () => {
    const thief = { ...holder, key: await generateHolderKey() };
    expect(await rawCall(fixture, thief)).toMatchObject(REFUSED);
    expect(await rawCall(fixture, holder, { proof: "" })).toMatchObject(REFUSED);
    expect(await rawCall(fixture, holder, { scheme: "Bearer" })).toMatchObject(REFUSED);
  });

  it.each([
    ["another body", { body: bodyWith({ enforced: true }) }],
    ["another path", { url: "/v1/runtime/require" }],
    ["another method", { method: "GET" }],
    ["another token", { token: "other" }],
    ["two minutes ago", { nowMs: Date.now() - 120_000 }],
    ["in two minutes", { nowMs: Date.now() + 120_000 }],
  ])("is refused with a proof for %s", async (_, proven) => {
    const url = "url" in proven ? { url: `${fixture.origin}${proven.url}` } : {};
    expect(await rawCall(fixture, holder, { proven: { ...proven, ...url } })).toMatchObject(REFUSED);
  });

  it("is refused by the proof that was overheard, on another server too", async () => {
    const headers = await headersOf(fixture, holder);
    const other = await openServer();
    try {
      const response = await fetch(`${other.origin}${CHECK_PATH}`, {
        method: "POST",
        headers,
        body: JSON.stringify(checkBody()),
      });
      expect(response.status).toBe(401);
    } finally {
      await other.close();
    }
  });
});

describe("a claimed subject", () => {
  const claim = (subject: object, entry: string, phase = "runtime") => ({ subject, phase, entry });
  const reader = claim(READER, "host");

  it.each([
    ["as the root", [claim(BANK, "host")], "subject_not_active"],
    ["below an own one", [reader, claim(BANK, "host")], "subject_not_active"],
    ["as a made-up root", [claim(BANK, "guarded")], "subject_not_active"],
    [
      "as the host's own code",
      [reader, claim({ type: "core", name: "core" }, "guarded")],
      "subject_not_active",
    ],
    ["that is not registered", [claim({ type: "tool", name: "nobody" }, "host")], "subject_not_active"],
    ["in a phase that was not granted", [claim(READER, "host", "install")], "subject_not_active"],
  ])("%s is refused and recorded, also for what that subject declared", async (_, chain, code) => {
    const resource = { type: "network", operation: "receive", target: "https://bank.example.com/" };
    const asked = { chain, access: { kind: "access", resource, requested: resource.target } };
    expect(await rawCall(fixture, holder, { body: bodyWith(asked) })).toMatchObject({ status: 200, code });
    expect(await fixture.events()).toContainEqual({ type: "permission.evaluated", code });
  });

  it("made up under an own one is bounded by it", async () => {
    const resource = { type: "network", operation: "receive", target: "https://bank.example.com/" };
    const asked = {
      chain: [reader, claim(BANK, "guarded")],
      access: { kind: "access", resource, requested: resource.target },
    };
    expect(await rawCall(fixture, holder, { body: bodyWith(asked) })).toMatchObject(ASKED);
  });

  it("of a user, an organization, a session or a role has no place in a call", async () => {
    for (const words of [
      { user_id: 1 },
      { session_key: "s" },
      { organization_id: 0 },
      { roles: ["super"] },
      { mode: "bypass" },
    ])
      expect(await rawCall(fixture, holder, { body: bodyWith(words) })).toMatchObject({ status: 400 });
  });

  it("is narrowed to the grant when a credential names fewer", async () => {
    const narrow = await holderOf(fixture, { subjects: [{ subject: AGENT, phase: "runtime" }] as never });
    expect(await rawCall(fixture, narrow)).toMatchObject({ status: 200, code: "subject_not_active" });
  });
});

describe("another session", () => {
  it("cannot be asked with a credential that is for this one", async () => {
    const credential = runtimeCredential(holder.issued, holder.key);
    const client = createClient({ origin: fixture.origin, credential });
    for (const changes of [{ sessionKey: "sess-22" }, { organizationId: "7" }, { user: null }]) {
      const check = await client.check(guardedCaller(changes), ask(receive("https://declared.example.com/")));
      expect([check.allowed, check.code]).toEqual([false, "unavailable"]);
    }
  });

  it("does not learn of the requests of this one", async () => {
    const client = createClient({
      origin: fixture.origin,
      credential: runtimeCredential(holder.issued, holder.key),
    });
    const check = await client.check(guardedCaller(), ask(receive("https://unknown.example.com/")));
    const other = await holderOf(fixture, { sessionKey: "sess-22" as never });
    const spy = createClient({
      origin: fixture.origin,
      credential: runtimeCredential(other.issued, other.key),
    });
    const caller = guardedCaller({ sessionKey: "sess-22" });
    const waited = await spy.wait(caller, check.requestId ?? "", { timeoutMs: 10 });
    expect(waited).toEqual({ outcome: "not_found" });
  });
});

describe("self-approval through the API port", () => {
  const KINDS = ["approve_for_session", "approve_permanently", "deny"];

  it("is refused to a runtime credential and recorded, whatever is sent beside it", async () => {
    for (const kind of KINDS) {
      const path = `/v1/decisions/${kind}`;
      for (const headers of [{}, fixture.personHeaders])
        for (const scheme of ["DPoP", "Bearer"])
          expect(await rawCall(fixture, holder, { path, scheme, headers, body: "{" })).toMatchObject({
            status: 403,
            code: "permission_error",
          });
    }
    const refused = (await fixture.events()).filter(({ type }) => type === "policy.refused");
    expect(refused.map(({ code }) => code)).toEqual(Array(12).fill("permission_error"));
  });

  it("is refused without a credential, and with one that is forged", async () => {
    const path = "/v1/decisions/deny";
    const forged = altered(holder.issued.token, (claims) => ({ ...claims, jti: "x" }));
    expect(
      await rawCall(fixture, holder, { path, token: forged, headers: fixture.personHeaders }),
    ).toMatchObject(REFUSED);
    const response = await fetch(`${fixture.origin}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    expect(response.status).toBe(401);
  });

  it("cannot even be dialled: the port is closed to every subject, and no approval opens it", async () => {
    const { port } = fixture.listening;
    for (const target of [`http://127.0.0.1:${port}/v1/decisions/deny`, `localhost:${port}`]) {
      const operation = target.startsWith("http") ? "send" : "connect";
      const check = await fixture.service.check(guardedCaller(), ask(access("network", operation, target)));
      expect([check.code, check.requestId]).toEqual(["denied_rule", undefined]);
    }
  });
});

describe("a renewed credential", () => {
  it("has the same grant, key and end, and dies with the first one's revocation", async () => {
    const client = createClient({
      origin: fixture.origin,
      credential: runtimeCredential(holder.issued, holder.key),
    });
    expect(await client.renew()).toBe(true);
    const { credential } = client;
    if (credential.kind !== "runtime") throw new Error("not a runtime credential");
    expect(credential.issued.token).not.toBe(holder.issued.token);
    expect(credential.grant).toEqual(runtimeCredential(holder.issued, holder.key).grant);
    expect(credential.issued.endsAtMs).toBe(holder.issued.endsAtMs);
    expect(await client.revoke()).toBe(true);
    expect(await rawCall(fixture, holder)).toMatchObject(REFUSED);
    expect(await rawCall(fixture, { key: holder.key, issued: credential.issued })).toMatchObject(REFUSED);
    expect(await client.renew()).toBe(false);
  });

  it("never outlives the end of the first", async () => {
    const held = await fixture.server.credentials.verify(holder.issued.token);
    if (held === undefined) throw new Error("not verified");
    nowMs = held.endsAtMs - 1000;
    const last = await fixture.server.credentials.renew({ ...held, expiresAtMs: nowMs + 1 });
    expect(last?.expiresAtMs).toBe(held.endsAtMs);
    nowMs = held.endsAtMs;
    expect(await fixture.server.credentials.renew({ ...held, expiresAtMs: nowMs + 1 })).toBeUndefined();
  });
});

async function otherServer() {
  const { createServer } = await import("@sallyport/server");
  const signingKey = { id: "key-1", privateKey: generateKeyPairSync("ed25519").privateKey };
  const server = createServer({
    service: fixture.service,
    frameOf: () => null,
    parseUrl: () => undefined,
    authenticate: async () => null,
    credentials: { signingKey, newId: randomUUID },
  });
  const listening = await server.listen();
  await listening.close();
  return server;
}
