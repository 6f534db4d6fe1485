import { afterEach, describe, expect, it } from "vitest";
import { PersonBrowser, administrator, tokenOf } from "../testing/person-browser.ts";
import {
  READER,
  type ServerFixture,
  ask,
  guardedCaller,
  openServer,
  receive,
} from "../testing/server-fixture.ts";

const PASSWORD = "correct horse battery";

let fixture: ServerFixture;
let nowMs: number;
afterEach(async () => {
  expect(fixture.faults).toEqual([]);
  await fixture.close();
});

async function open(admin: object = {}): Promise<PersonBrowser> {
  nowMs = Date.now();
  fixture = await openServer({ admin, nowMs: () => nowMs });
  return administrator(fixture);
}

interface Invited {
  readonly id: string;
  readonly token: string;
}

async function invited(admin: PersonBrowser, changes: object = {}): Promise<Invited> {
  const words = { name: "anna", roles: ["super"], organization_id: null, ...changes };
  const { status, json } = await admin.post("/v1/accounts/invite", words);
  expect(status).toBe(200);
  const { account, link } = json as { account: { id: string }; link: { url: string } };
  return { id: account.id, token: tokenOf(link.url) };
}

const comeIn = async (how: Parameters<PersonBrowser["signIn"]>[0]) => {
  const browser = new PersonBrowser(fixture.origin);
  return { browser, status: (await browser.signIn(how)).status };
};

describe("an invited account", () => {
  it("comes in by its link, sets a password of its own, and then by that", async () => {
    const admin = await open();
    const { token } = await invited(admin);
    const { browser } = await comeIn({ token });
    const session = (await browser.send("/v1/session")).json;
    expect(session).toMatchObject({ user: { name: "anna" }, way: "link", may_decide: true });
    expect((await browser.post("/v1/session/password", { password: PASSWORD })).status).toBe(200);
    expect((await browser.send("/v1/requests")).status).toBe(401);
    const again = await comeIn({ name: "anna", password: PASSWORD });
    expect((await again.browser.send("/v1/requests")).status).toBe(200);
    const { rows } = (await admin.send("/v1/accounts")).json as { rows: readonly object[] };
    expect(rows).toMatchObject([{ name: "anna", password_changed_at: new Date(nowMs).toISOString() }]);
  });

  it("attack: an invitation used twice, and one that is too old", async () => {
    const admin = await open();
    const { id, token } = await invited(admin);
    expect((await comeIn({ token })).status).toBe(200);
    expect((await comeIn({ token })).status).toBe(401);
    const { json } = await admin.post(`/v1/accounts/${id}/link`, { ttl_ms: 1000 });
    nowMs += 1001;
    expect((await comeIn({ token: tokenOf((json as { link: { url: string } }).link.url) })).status).toBe(401);
  });

  it.each([
    ["its sign-ins were ended", "end-sign-ins", {}],
    ["it was disabled", "disable", { disabled: true }],
    ["its password was set", "password", { password: PASSWORD }],
  ])("attack: a link that was kept until %s is worth nothing", async (_, path, body) => {
    const admin = await open();
    const { id, token } = await invited(admin);
    expect((await admin.post(`/v1/accounts/${id}/${path}`, body)).status).toBe(200);
    expect((await comeIn({ token })).status).toBe(401);
  });

  it("has no password to guess until it has one", async () => {
    const admin = await open();
    await invited(admin);
    for (const password of ["", "null", "undefined", PASSWORD])
      expect((await comeIn({ name: "anna", password })).status).toBeGreaterThanOrEqual(400);
    expect((await admin.send("/v1/accounts")).json).toMatchObject({ rows: [{ password_changed_at: null }] });
  });

  it("is told its link once: neither the log nor a list holds it", async () => {
    const admin = await open();
    const { token } = await invited(admin);
    const all = [await admin.send("/v1/events?limit=500"), await admin.send("/v1/accounts")];
    expect(JSON.stringify(all.map(({ json }) => json))).not.toContain(token);
    expect(JSON.stringify(all.map(({ json }) => json))).toContain("sign_in_link_for");
  });

  it("gets no link while it is disabled", async () => {
    const admin = await open();
    const { id } = await invited(admin);
    await admin.post(`/v1/accounts/${id}/disable`, { disabled: true });
    expect((await admin.post(`/v1/accounts/${id}/link`)).status).toBe(409);
  });
});

describe("access of an account", () => {
  it("changes with the next call, also of a sign-in that is open", async () => {
    const admin = await open();
    const { id, token } = await invited(admin);
    const { browser } = await comeIn({ token });
    expect((await browser.send("/v1/requests")).status).toBe(200);
    for (const access of [
      { roles: ["member"], organization_id: null },
      { roles: ["super"], organization_id: 0 },
    ]) {
      expect((await admin.post(`/v1/accounts/${id}/access`, access)).status).toBe(200);
      expect((await browser.send("/v1/requests")).status).toBe(403);
    }
    await admin.post(`/v1/accounts/${id}/access`, { roles: ["super"], organization_id: null });
    expect((await browser.send("/v1/requests")).status).toBe(200);
  });

  it("ends with its sign-ins, at once", async () => {
    const admin = await open();
    const { id, token } = await invited(admin);
    const { browser } = await comeIn({ token });
    expect((await admin.post(`/v1/accounts/${id}/end-sign-ins`)).status).toBe(200);
    expect((await browser.send("/v1/requests")).status).toBe(401);
  });

  it("attack: a person without authority widens it, for themselves or others", async () => {
    const admin = await open();
    const { id, token } = await invited(admin, { roles: ["super"], organization_id: 7 });
    const { browser } = await comeIn({ token });
    const access = { roles: ["super"], organization_id: null };
    for (const [path, body] of [
      [`/v1/accounts/${id}/access`, access],
      [`/v1/accounts/${id}/link`, {}],
      [`/v1/accounts/${id}/end-sign-ins`, {}],
      ["/v1/accounts/invite", { name: "mallory", ...access }],
      ["/v1/accounts/none/access", access],
      ["/v1/runtime-credentials/none/revoke", {}],
    ] as const) {
      const answer = await browser.post(path, body);
      expect([path, answer.status, answer.json["code"]]).toEqual([path, 403, "permission_error"]);
    }
    for (const path of ["/v1/runtime-credentials", "/v1/manifests/use?subject_type=tool&subject_name=x"])
      expect([path, (await browser.send(path)).status]).toEqual([path, 403]);
  });
});

describe("one's own password", () => {
  it("attack: somebody at an open browser changes it without knowing it", async () => {
    const admin = await open();
    const words = { name: "anna", password: PASSWORD, roles: ["member"], organization_id: 7 };
    await admin.post("/v1/accounts", words);
    const { browser } = await comeIn({ name: "anna", password: PASSWORD });
    const password = `${PASSWORD} two`;
    expect((await browser.post("/v1/session/password", { password })).status).toBe(403);
    expect((await browser.post("/v1/session/password", { password, present: "a guess" })).status).toBe(403);
    expect((await comeIn({ name: "anna", password })).status).toBe(401);
    const changed = await browser.post("/v1/session/password", { password, present: PASSWORD });
    expect(changed.status).toBe(200);
    expect((await comeIn({ name: "anna", password: PASSWORD })).status).toBe(401);
    expect((await comeIn({ name: "anna", password })).status).toBe(200);
    expect((await fixture.events()).filter(({ code }) => code === "set_own_password")).toHaveLength(1);
  });

  it("attack: guessing it there instead of at the door", async () => {
    const admin = await open();
    await admin.post("/v1/accounts", { name: "anna", password: PASSWORD, roles: [], organization_id: null });
    const { browser } = await comeIn({ name: "anna", password: PASSWORD });
    const statuses: number[] = [];
    for (let tries = 0; tries < 12; tries++) {
      const words = { password: `${PASSWORD} two`, present: `guess ${tries}` };
      statuses.push((await browser.post("/v1/session/password", words)).status);
    }
    expect(statuses.at(-1)).toBe(429);
  });

  it("is nobody's who has no account here", async () => {
    const admin = await open();
    expect((await admin.post("/v1/session/password", { password: PASSWORD })).status).toBe(403);
  });
});

describe("runtime credentials", () => {
  it("are listed as they were issued, with their state, and never their token", async () => {
    const admin = await open();
    const thumbprint = "A".repeat(43);
    const grant = {
      subjects: [{ subject: { type: "tool", name: "demo.read_file" }, phase: "runtime" }],
      user_id: 21,
      organization_id: 7,
      session_key: "sess-21",
      task_id: null,
      interactive: true,
    };
    const words = { grant, key_thumbprint: thumbprint };
    const first = (await admin.post("/v1/runtime-credentials", words)).json;
    const second = (await admin.post("/v1/runtime-credentials", words)).json;
    await admin.post(`/v1/runtime-credentials/${String(first["credential_id"])}/revoke`, { reason: "left" });
    const listed = await admin.send("/v1/runtime-credentials");
    expect(listed.json).toMatchObject({
      rows: [
        { credential_id: second["credential_id"], state: "live", user_id: 21, session_key: "sess-21" },
        { credential_id: first["credential_id"], state: "revoked", key_thumbprint: thumbprint },
      ],
    });
    expect(JSON.stringify(listed.json)).not.toContain(String(second["token"]));
    nowMs += 43_200_001;
    const again = await administrator(fixture);
    const later = (await again.send("/v1/runtime-credentials")).json as { rows: readonly object[] };
    expect(later.rows).toMatchObject([{ state: "ended" }, { state: "ended" }]);
  });
});

describe("declared against used", () => {
  const declared = [
    { resourceType: "network", operation: "receive", target: "https://declared.example.com" },
    { resourceType: "network", operation: "receive", target: "https://declared.example.com/feed/" },
    { resourceType: "network", operation: "send", target: "https://declared.example.com" },
  ];
  const manifests = () => [
    { subject: READER, phase: "runtime", access: declared, allowedImports: [], source: null },
  ];

  it("is counted over every recorded check, each declaration by what it alone would have allowed", async () => {
    const admin = await open({ manifests });
    const asked = [...Array.from({ length: 600 }, () => "feed/a"), "b", "b"];
    for (const path of asked)
      await fixture.service.check(guardedCaller(), ask(receive(`https://declared.example.com/${path}`)));
    await fixture.service.check(guardedCaller(), ask(receive("https://other.example.com/x")));
    const { status, json } = await admin.send(
      "/v1/manifests/use?subject_type=tool&subject_name=demo.read_file",
    );
    expect(status).toBe(200);
    expect(json).toMatchObject({
      declared: [{ count: 602 }, { count: 600 }, { count: 0, last_seen: null }],
      undeclared: [{ target: "https://other.example.com/x", code: "approval_required", count: 1 }],
      checks: 603,
      complete: true,
    });
  });

  it("is told of manifests that are registered, and of no others", async () => {
    const admin = await open({ manifests });
    const path = "/v1/manifests/use?subject_type=tool&subject_name";
    expect((await admin.send(`${path}=demo.read_file&phase=install`)).status).toBe(404);
    expect((await admin.send(`${path}=nobody`)).status).toBe(404);
    expect((await admin.send("/v1/manifests/use?nonsense=1")).status).toBe(400);
  });
});
