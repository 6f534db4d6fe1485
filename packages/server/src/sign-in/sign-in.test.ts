import { afterEach, describe, expect, it } from "vitest";
import { PersonBrowser, administrator, asked, tokenOf } from "../testing/person-browser.ts";
import { type ServerFixture, openServer } from "../testing/server-fixture.ts";

let fixture: ServerFixture;
let nowMs: number;
afterEach(async () => {
  expect(fixture.faults).toEqual([]);
  await fixture.close();
});

async function open(admin: object = {}): Promise<void> {
  nowMs = Date.now();
  fixture = await openServer({ admin, nowMs: () => nowMs });
}

const PASSWORD = "correct horse battery";

async function account(name: string, roles: readonly string[], organizationId: number | null = null) {
  const admin = await administrator(fixture);
  const words = { name, password: PASSWORD, roles, organization_id: organizationId };
  const made = await admin.post("/v1/accounts", words);
  expect(made.status).toBe(200);
  return { admin, id: String(made.json["id"]) };
}

const eventsOf = async (code: string) => (await fixture.events()).filter((event) => event.code === code);

describe("a one-time link", () => {
  it("signs an administrator in, who may then see and decide", async () => {
    await open();
    const browser = await administrator(fixture);
    const { json } = await browser.send("/v1/session");
    expect(json).toMatchObject({ user: { roles: ["super"] }, way: "link", may_decide: true });
    expect((await browser.send("/v1/requests")).status).toBe(200);
    expect(await eventsOf("sign_in")).toHaveLength(1);
  });

  it("keeps its token behind the hash of the address, where no server sees it", async () => {
    await open();
    const { url } = await fixture.server.createSignInLink();
    expect(new URL(url).origin).toBe(fixture.origin);
    expect(new URL(url).search).toBe("");
    expect(tokenOf(url)).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  it("attack: one-time link reuse", async () => {
    await open();
    const { url } = await fixture.server.createSignInLink();
    const token = tokenOf(url);
    const first = new PersonBrowser(fixture.origin);
    const second = new PersonBrowser(fixture.origin);
    expect((await first.signIn({ token })).status).toBe(200);
    const again = await second.signIn({ token });
    expect(again.status).toBe(401);
    expect(again.json).toMatchObject({ code: "invalid_credential" });
    expect(second.cookie).toBeNull();
    const refused = (await fixture.events()).filter(({ type }) => type === "policy.refused");
    expect(refused).toHaveLength(1);
  });

  it("attack: one-time link used by many at the same moment", async () => {
    await open();
    const token = tokenOf((await fixture.server.createSignInLink()).url);
    const browsers = Array.from({ length: 8 }, () => new PersonBrowser(fixture.origin));
    const answers = await Promise.all(browsers.map((browser) => browser.signIn({ token })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it("runs out", async () => {
    await open({ signInTimes: { linkTtlMs: 1000 } });
    const { url } = await fixture.server.createSignInLink();
    nowMs += 1000;
    expect((await new PersonBrowser(fixture.origin).signIn({ token: tokenOf(url) })).status).toBe(401);
  });

  it("is not in the store as it is, nor is the token of a sign-in", async () => {
    await open();
    const { url } = await fixture.server.createSignInLink();
    const browser = await administrator(fixture);
    const rows = await fixture.store.read(async (tx) => [
      ...(await tx.records.list("sign_in_link", { limit: 9 })).rows,
      ...(await tx.records.list("sign_in", { limit: 9 })).rows,
    ]);
    const text = JSON.stringify(rows);
    expect(rows).toHaveLength(2);
    expect(text).not.toContain(tokenOf(url));
    expect(text).not.toContain(String(browser.cookie).split("=")[1]);
  });
});

describe("a sign-in", () => {
  it("attack: session fixation: whatever cookie a browser brings, a sign-in makes a new one", async () => {
    await open();
    const browser = new PersonBrowser(fixture.origin);
    const port = new URL(fixture.origin).port;
    browser.cookie = `sallyport_${port}=${"A".repeat(43)}`;
    const planted = browser.cookie;
    await browser.signIn({ token: tokenOf((await fixture.server.createSignInLink()).url) });
    expect(browser.cookie).not.toBe(planted);
    const thief = new PersonBrowser(fixture.origin);
    thief.cookie = planted;
    thief.csrf = browser.csrf;
    expect((await thief.send("/v1/requests")).status).toBe(401);
  });

  it("attack: two cookies of one name: neither is believed", async () => {
    await open();
    const browser = await administrator(fixture);
    browser.cookie = `${browser.cookie}; ${String(browser.cookie).split("=")[0]}=${"A".repeat(43)}`;
    expect((await browser.send("/v1/requests")).status).toBe(401);
  });

  it("attack: a server on another port of this machine that is sent the cookie can do nothing with it", async () => {
    await open();
    const browser = await administrator(fixture);
    const thief = new PersonBrowser(fixture.origin);
    thief.cookie = browser.cookie;
    const session = await thief.send("/v1/session");
    expect(session.json).toMatchObject({ user: null, csrf_token: null, may_decide: false });
    expect((await thief.send("/v1/requests")).status).toBe(401);
    expect((await thief.send("/v1/live")).status).toBe(401);
    expect((await thief.post("/v1/freeze", { frozen: true })).status).toBe(401);
  });

  it("has a cookie that scripts and other sites do not get, and secure over https", async () => {
    await open();
    const browser = new PersonBrowser(fixture.origin);
    const { url } = await fixture.server.createSignInLink();
    const { headers } = await browser.signIn({ token: tokenOf(url) });
    const [cookie = ""] = headers.getSetCookie();
    expect(cookie).toMatch(/; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/);
    const { cookieText, signInCookie } = await import("./cookie.ts");
    expect(cookieText(signInCookie("https://a.example"), "t", 5000)).toBe(
      "__Host-sallyport=t; Path=/; Max-Age=5; HttpOnly; SameSite=Strict; Secure",
    );
  });

  it("ends when it is not used, in any case after its lifetime, and by signing out", async () => {
    await open({ signInTimes: { idleMs: 1000_000, lifetimeMs: 2500_000 } });
    const idle = await administrator(fixture);
    nowMs += 1000_000;
    expect((await idle.send("/v1/requests")).status).toBe(401);
    const busy = await administrator(fixture);
    for (let used = 0; used < 3; used++) {
      nowMs += 800_000;
      expect((await busy.send("/v1/requests")).status).toBe(200);
    }
    nowMs += 200_000;
    expect((await busy.send("/v1/requests")).status).toBe(401);
    const out = await administrator(fixture);
    const copy = new PersonBrowser(fixture.origin);
    Object.assign(copy, { cookie: out.cookie, csrf: out.csrf });
    expect((await out.post("/v1/sign-out")).status).toBe(200);
    expect(out.cookie).toBeNull();
    expect((await copy.send("/v1/requests")).status).toBe(401);
  });
});

describe("a local account", () => {
  it("signs in with its password and nothing else, and decides by its role", async () => {
    await open();
    await account("anna", ["super"]);
    const browser = new PersonBrowser(fixture.origin);
    expect((await browser.signIn({ name: "anna", password: "wrong but long" })).status).toBe(401);
    expect((await browser.signIn({ name: "nobody", password: PASSWORD })).status).toBe(401);
    expect((await browser.signIn({ name: "anna", password: PASSWORD })).status).toBe(200);
    expect((await browser.send("/v1/accounts")).json).toMatchObject({
      rows: [{ name: "anna", last_sign_in_at: new Date(nowMs).toISOString() }],
    });
    const shown = await asked(fixture, "a");
    const decided = await browser.post("/v1/decisions/approve_permanently", {
      by: { kind: "request", request_id: shown.requestId, digest: shown.digest },
      words: {},
    });
    expect(decided.json).toMatchObject({ ok: true });
  });

  it("never has its password in the store, the log or an answer", async () => {
    await open();
    const { admin, id } = await account("anna", ["super"]);
    await admin.post(`/v1/accounts/${id}/password`, { password: `${PASSWORD} two` });
    const events = await admin.send("/v1/events?limit=500");
    const accounts = await admin.send("/v1/accounts");
    const rows = await fixture.store.read((tx) => tx.records.list("account", { limit: 9 }));
    const everything = JSON.stringify([events.json, accounts.json, rows]);
    expect(everything).not.toContain(PASSWORD);
    expect(JSON.stringify([events.json, accounts.json])).not.toContain("salt");
    expect(await eventsOf("set_account")).toHaveLength(2);
  });

  it.each([
    ["Super", null],
    ["SUPER", null],
    ["super ", null],
    [" super", null],
    ["ѕuper", null],
    ["super\u200b", null],
    ["superuser", null],
    ["admin", null],
    ["__proto__", null],
    ["super", 7],
    ["super", 0],
  ] as const)(
    "attack: role look-alikes and organization-scoped users: role %j of organization %j decides and sees nothing",
    async (role, organizationId) => {
      await open();
      await account("mallory", [role], organizationId);
      const shown = await asked(fixture, "a");
      const browser = new PersonBrowser(fixture.origin);
      await browser.signIn({ name: "mallory", password: PASSWORD });
      expect((await browser.send("/v1/session")).json).toMatchObject({ may_decide: false });
      const by = { kind: "request", request_id: shown.requestId, digest: shown.digest };
      const session = { organization_id: 7, user_id: 21, session_key: "sess-21" };
      for (const [path, body] of [
        ["/v1/decisions/approve_permanently", { by, words: {} }],
        ["/v1/decisions/block", { by, words: {} }],
        ["/v1/decisions/batch", { items: [{ kind: "deny", by, words: {} }] }],
        ["/v1/freeze", { frozen: true }],
        ["/v1/mode", { mode: "never" }],
        ["/v1/sessions/end", session],
        ["/v1/accounts", { name: "x", password: PASSWORD, roles: ["super"], organization_id: null }],
        ["/v1/sign-in/links", { name: "x" }],
        ["/v1/events/verify", {}],
        ["/v1/rules/none/remove", {}],
      ] as const) {
        const answer = await browser.post(path, body);
        expect([path, answer.status, answer.json["code"]]).toEqual([path, 403, "permission_error"]);
      }
      for (const path of ["/v1/requests", "/v1/events", "/v1/live", "/v1/manifests", "/v1/accounts"])
        expect([path, (await browser.send(path)).status]).toEqual([path, 403]);
      expect(fixture.service.overview.stateUnchecked().freeze.frozen).toBe(false);
    },
  );

  it("is out at once when it is disabled or its password changes", async () => {
    await open();
    const { admin, id } = await account("anna", ["super"]);
    const browser = new PersonBrowser(fixture.origin);
    await browser.signIn({ name: "anna", password: PASSWORD });
    await admin.post(`/v1/accounts/${id}/password`, { password: `${PASSWORD} two` });
    expect((await browser.send("/v1/requests")).status).toBe(401);
    await browser.signIn({ name: "anna", password: `${PASSWORD} two` });
    expect((await browser.send("/v1/requests")).status).toBe(200);
    await admin.post(`/v1/accounts/${id}/disable`, { disabled: true });
    expect((await browser.send("/v1/requests")).status).toBe(401);
    expect((await browser.signIn({ name: "anna", password: `${PASSWORD} two` })).status).toBe(401);
  });

  it("attack: guessing passwords: after a few tries the next ones wait, also for the right password", async () => {
    await open();
    await account("anna", ["super"]);
    const browser = new PersonBrowser(fixture.origin);
    const statuses: number[] = [];
    for (let tries = 0; tries < 12; tries++)
      statuses.push((await browser.signIn({ name: "anna", password: `wrong ${tries}` })).status);
    expect(statuses.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 401));
    expect(statuses.slice(10)).toEqual([429, 429]);
    expect((await browser.signIn({ name: "anna", password: PASSWORD })).status).toBe(429);
    nowMs += 15_000;
    expect((await browser.signIn({ name: "anna", password: PASSWORD })).status).toBe(200);
  });

  it("is one of its name", async () => {
    await open();
    const { admin } = await account("anna", ["super"]);
    const words = { name: "anna", password: PASSWORD, roles: [], organization_id: null };
    expect((await admin.post("/v1/accounts", words)).json).toMatchObject({ status: 409 });
    expect((await admin.post("/v1/accounts", { ...words, name: "b", password: "short" })).status).toBe(400);
  });
});
