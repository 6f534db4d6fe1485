import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { type Socket, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { PersonBrowser, administrator, asked } from "../testing/person-browser.ts";
import { type ServerFixture, openServer } from "../testing/server-fixture.ts";

let fixture: ServerFixture;
let folder: string | undefined;
afterEach(async () => {
  expect(fixture.faults).toEqual([]);
  await fixture.close();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  folder = undefined;
});

async function open(changes: Parameters<typeof openServer>[0] = {}): Promise<void> {
  fixture = await openServer({ admin: {}, ...changes });
}

const isFrozen = (): boolean => fixture.service.overview.stateUnchecked().freeze.frozen;

describe("attack: CSRF", () => {
  const FREEZE = JSON.stringify({ frozen: true });

  it.each([
    ["a form", { "content-type": "application/x-www-form-urlencoded", origin: "http://evil.example" }],
    ["a form that names our origin", { "content-type": "application/x-www-form-urlencoded" }],
    ["a form with files", { "content-type": "multipart/form-data; boundary=x" }],
    ["text/plain that is JSON", { "content-type": "text/plain" }],
    ["no content type", { "content-type": null }],
    ["a missing Origin", { origin: null }],
    ["an opaque Origin", { origin: "null" }],
    ["another origin", { origin: "http://evil.example" }],
    ["another port of this machine", { origin: "http://127.0.0.1:1" }],
    ["another site by the browser's word", { "sec-fetch-site": "cross-site" }],
    ["another port by the browser's word", { "sec-fetch-site": "same-site" }],
    ["no token", { "x-csrf-token": null }],
    ["an empty token", { "x-csrf-token": "" }],
    ["a made-up token", { "x-csrf-token": "A".repeat(43) }],
  ] as const)("by %s changes nothing", async (_, headers) => {
    await open();
    const browser = await administrator(fixture);
    const answer = await browser.post("/v1/freeze", FREEZE, headers);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
    expect(isFrozen()).toBe(false);
    expect((await browser.post("/v1/freeze", FREEZE)).json).toMatchObject({ ok: true });
    expect(isFrozen()).toBe(true);
  });

  it("with the token of another sign-in changes nothing", async () => {
    await open();
    const mallory = await administrator(fixture);
    const victim = await administrator(fixture);
    const answer = await victim.post("/v1/freeze", FREEZE, { "x-csrf-token": mallory.csrf });
    expect(answer.status).toBe(401);
    expect(isFrozen()).toBe(false);
  });

  it("by GET changes nothing: no call that changes something answers it", async () => {
    await open();
    const browser = await administrator(fixture);
    const shown = await asked(fixture, "a");
    for (const path of [
      "/v1/sign-out",
      "/v1/sign-in/link",
      "/v1/decisions/approve_permanently",
      "/v1/decisions/batch",
      "/v1/accounts/x/disable",
      "/v1/approvals/x/revoke",
      "/v1/rules/x/remove",
      "/v1/sessions/end",
      "/v1/events/verify",
      "/v1/runtime-credentials/x/revoke",
    ])
      expect([path, (await browser.send(path)).status]).toEqual([path, 404]);
    const listed = await browser.send("/v1/requests?status=pending");
    expect(listed.json).toMatchObject({ rows: [{ id: shown.requestId }] });
  });

  it("at sign-in: a page of another origin signs nobody in", async () => {
    await open();
    const { url } = await fixture.server.createSignInLink();
    const token = url.split("#token=")[1] ?? "";
    for (const headers of [
      { origin: null },
      { origin: "http://evil.example" },
      { "sec-fetch-site": "cross-site" },
    ]) {
      const browser = new PersonBrowser(fixture.origin);
      expect((await browser.post("/v1/sign-in/link", { token }, headers)).status).toBe(403);
      expect(browser.cookie).toBeNull();
    }
    expect((await new PersonBrowser(fixture.origin).signIn({ token })).status).toBe(200);
  });
});

describe("attack: streams", () => {
  it("SSE without a session is refused, and so is one of another origin", async () => {
    await open();
    const nobody = new PersonBrowser(fixture.origin);
    const browser = await administrator(fixture);
    for (const path of ["/v1/live", "/v1/events/follow", "/v1/events/export"]) {
      expect([path, (await nobody.send(path)).status]).toEqual([path, 401]);
      for (const headers of [{ origin: "http://evil.example" }, { "sec-fetch-site": "cross-site" }])
        expect([path, (await browser.send(path, { headers })).status]).toEqual([path, 403]);
    }
  });

  it("a stream ends when its person is signed out", async () => {
    await open({ admin: { followers: { beatMs: 20 } } });
    const browser = await administrator(fixture);
    const response = await fetch(`${fixture.origin}/v1/live`, {
      headers: { cookie: String(browser.cookie), "x-csrf-token": String(browser.csrf) },
    });
    expect(response.status).toBe(200);
    await browser.post("/v1/sign-out");
    const text = await response.text();
    expect(text).toContain('"kind":"hello"');
  });

  it("one person cannot hold more streams than the limit", async () => {
    await open({ admin: { followers: { perPersonMax: 2 } } });
    const browser = await administrator(fixture);
    const headers = { cookie: String(browser.cookie), "x-csrf-token": String(browser.csrf) };
    const stop = new AbortController();
    const follow = () => fetch(`${fixture.origin}/v1/live`, { headers, signal: stop.signal });
    const streams = [await follow(), await follow()];
    expect((await follow()).status).toBe(429);
    await streams[0]?.body?.cancel();
    await expect.poll(async () => (await follow()).status).toBe(200);
    stop.abort();
  });
});

describe("attack: guarded code", () => {
  it("with a runtime credential sees and decides nothing, and each attempt is on record", async () => {
    await open();
    const { token } = await fixture.issue("A".repeat(43));
    const browser = await administrator(fixture);
    for (const scheme of ["Bearer", "DPoP"]) {
      for (const [method, path] of [
        ["GET", "/v1/requests"],
        ["GET", "/v1/live"],
        ["POST", "/v1/freeze"],
        ["POST", "/v1/sign-in/links"],
      ] as const) {
        const body = path === "/v1/freeze" ? { frozen: true } : { name: "x" };
        // WHY with the cookie of an administrator too: a credential of guarded code never adds to a person.
        const answer = await browser.send(path, {
          method,
          body,
          headers: { authorization: `${scheme} ${token}` },
        });
        expect([scheme, path, answer.status]).toEqual([scheme, path, 403]);
      }
    }
    expect(isFrozen()).toBe(false);
    const refused = (await fixture.events()).filter(({ type }) => type === "policy.refused");
    expect(refused).toHaveLength(8);
  });
});

describe("attack: static files", () => {
  async function openConsole(): Promise<void> {
    folder = mkdtempSync(join(tmpdir(), "sallyport-console-"));
    const built = join(folder, "built");
    mkdirSync(join(built, "assets"), { recursive: true });
    writeFileSync(join(folder, "secret.txt"), "the secret beside the console");
    writeFileSync(join(built, "index.html"), "<!doctype html><title>console</title>");
    writeFileSync(join(built, "assets", "index-AbCd1234.js"), `export {};${"\n".repeat(2000)}`);
    symlinkSync(join(folder, "secret.txt"), join(built, "link.txt"));
    await open({ admin: { consoleFolder: built } });
  }

  it.each([
    "/../secret.txt",
    "/..%2fsecret.txt",
    "/%2e%2e/secret.txt",
    "/%2e%2e%2fsecret.txt",
    "/..%5csecret.txt",
    "/..\\secret.txt",
    "/assets/../../secret.txt",
    "/assets/..%2f..%2fsecret.txt",
    "/assets/%252e%252e/%252e%252e/secret.txt",
    "//secret.txt",
    "/link.txt",
    "/index.html%00.txt",
    "/etc/passwd",
    "//etc/passwd",
  ])("path traversal by %s leads nowhere", async (path) => {
    await openConsole();
    const answer = await rawCall(
      `GET ${path} HTTP/1.1\r\nHost: ${new URL(fixture.origin).host}\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).not.toContain("the secret beside the console");
    expect(answer).not.toContain("root:");
    expect(answer).toMatch(/^HTTP\/1\.1 (?:404|400|200)/);
    if (answer.startsWith("HTTP/1.1 200")) expect(answer).toContain("<title>console</title>");
  });

  it("the console comes with a policy that lets nothing inline run and nobody frame it", async () => {
    await openConsole();
    const browser = new PersonBrowser(fixture.origin);
    for (const path of ["/", "/requests/some-id"]) {
      const { headers, json } = await browser.send(path);
      expect(json["text"]).toContain("<title>console</title>");
      expect(headers.get("cache-control")).toBe("no-cache");
      const policy = headers.get("content-security-policy") ?? "";
      expect(policy).toContain("script-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain("unsafe");
    }
    const script = await browser.send("/assets/index-AbCd1234.js");
    expect(script.headers.get("cache-control")).toContain("immutable");
    expect(script.headers.get("content-type")).toContain("text/javascript");
    expect(script.headers.get("content-encoding")).toBe("gzip");
    const whole = await browser.send("/assets/index-AbCd1234.js", {
      headers: { "accept-encoding": "identity" },
    });
    expect(whole.headers.get("content-encoding")).toBeNull();
    expect(whole.json).toEqual(script.json);
    const tag = script.headers.get("etag") ?? "";
    const again = await browser.send("/assets/index-AbCd1234.js", { headers: { "if-none-match": tag } });
    expect(again.status).toBe(304);
    expect((await browser.send("/assets/none-AbCd1234.js")).status).toBe(404);
    const none = await browser.send("/v1/none");
    expect(none.headers.get("content-type")).toBe("application/problem+json");
    const session = await browser.send("/v1/session");
    for (const { headers } of [none, session, script]) {
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    }
  });

  it("open redirect: nothing that a call says becomes the place it is sent to", async () => {
    await openConsole();
    for (const path of [
      "//evil.example/",
      "/\\evil.example/",
      "/%2f%2fevil.example/",
      "/sign-in?return_to=https://evil.example",
      "/?next=//evil.example",
      "/v1/sign-in/oidc/start?return_to=https://evil.example",
    ]) {
      const answer = await rawCall(
        `GET ${path} HTTP/1.1\r\nHost: ${new URL(fixture.origin).host}\r\nConnection: close\r\n\r\n`,
      );
      expect(answer).not.toMatch(/^HTTP\/1\.1 3/);
      expect(answer.toLowerCase()).not.toContain("\nlocation:");
    }
  });
});

describe("attack: the connection", () => {
  it("slow headers: a head that does not end is cut off", async () => {
    await open({ limits: { headTimeoutMs: 200, callTimeoutMs: 400 } });
    const answer = await rawCall(
      `GET /v1/session HTTP/1.1\r\nHost: ${new URL(fixture.origin).host}\r\nX-Slow: `,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 408/);
  });

  it("slow bodies: a body that does not come is cut off", async () => {
    await open({ limits: { headTimeoutMs: 200, callTimeoutMs: 400 } });
    const { host, origin } = new URL(fixture.origin);
    const head = `POST /v1/sign-in/link HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${origin}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`;
    expect(await rawCall(head)).toMatch(/^HTTP\/1\.1 408/);
  });

  it("oversized heads are refused", async () => {
    await open({ limits: { headBytesMax: 8192 } });
    const { host } = new URL(fixture.origin);
    const answer = await rawCall(`GET / HTTP/1.1\r\nHost: ${host}\r\nX-Large: ${"a".repeat(10_000)}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 431/);
  });

  it("oversized bodies are refused, also where they do not say how large they are", async () => {
    await open({ bodyBytesMax: 4096 });
    const browser = await administrator(fixture);
    const reason = "a".repeat(10_000);
    expect((await browser.post("/v1/freeze", { frozen: true, reason })).status).toBe(413);
    const stream = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(1024).fill(97)),
    });
    const response = await fetch(`${fixture.origin}/v1/freeze`, {
      method: "POST",
      headers: {
        cookie: String(browser.cookie),
        "x-csrf-token": String(browser.csrf),
        origin: fixture.origin,
        "content-type": "application/json",
      },
      body: stream,
      duplex: "half",
    });
    expect(response.status).toBe(413);
    expect(isFrozen()).toBe(false);
  });

  it("characters that a store cannot keep are refused where they come in, and are no fault", async () => {
    await open();
    const browser = await administrator(fixture);
    const { requestId, digest } = await asked(fixture, "a");
    const by = { kind: "request", request_id: requestId, digest };
    const answers = [
      await browser.send("/v1/requests/%00"),
      await browser.send("/v1/requests/..%2f..%2fx"),
      await browser.send("/v1/requests?session_key=%00"),
      await browser.send(`/v1/requests?user_id=${encodeURIComponent('"\\u0000"')}`),
      await browser.send(`/v1/requests?after=${Buffer.from('{"timeMs":"x","id":{}}').toString("base64url")}`),
      await browser.send(
        `/v1/requests?after=${Buffer.from('{"timeMs":"x","id":"y"}').toString("base64url")}`,
      ),
      await browser.send(
        `/v1/events?after=${Buffer.from('{"timeMs":1,"node":"\\u0000","seq":1}').toString("base64url")}`,
      ),
      await browser.post("/v1/approvals/%00/revoke", {}),
      await browser.post("/v1/freeze", { frozen: true, reason: "\u0000" }),
      await browser.post("/v1/decisions/deny", { by, words: { reason: "a\u0000b" } }),
      await browser.post("/v1/sign-in/password", { name: "\u0000", password: "x" }),
      await browser.post("/v1/freeze", '{"frozen":true,"reason":"\\ud800"}'),
      await browser.post("/v1/freeze", '{"frozen":true,"__proto__":{"frozen":false}}'),
    ];
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 400));
    expect(isFrozen()).toBe(false);
    expect(fixture.service.live).toBe(true);
  });

  it("one person cannot call without end", async () => {
    await open({ admin: { calls: { burst: 5, everyMs: 3_600_000 } } });
    const browser = await administrator(fixture);
    const other = await administrator(fixture);
    const statuses: number[] = [];
    for (let calls = 0; calls < 7; calls++) statuses.push((await browser.send("/v1/mode")).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
    // WHY the same: both came by links of one name.
    expect((await other.send("/v1/mode")).status).toBe(429);
  });

  it("another host name gets no answer: a name server that was bent leads nowhere", async () => {
    await open();
    const answer = await rawCall(
      "GET /v1/session HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
    );
    expect(answer).toMatch(/^HTTP\/1\.1 421/);
  });

  it("listens beyond loopback only with TLS, an https origin, or the danger named", async () => {
    await open();
    const { createServer } = await import("../server.ts");
    const { generateKeyPairSync } = await import("node:crypto");
    const make = () =>
      createServer({
        service: fixture.service,
        frameOf: () => null,
        parseUrl: (text) => new URL(text) as never,
        credentials: {
          signingKey: { id: "k", privateKey: generateKeyPairSync("ed25519").privateKey },
          newId: () => "id",
        },
      });
    await expect(make().listen({ host: "0.0.0.0" })).rejects.toThrow("is not loopback");
    await expect(make().listen({ host: "0.0.0.0", origin: "http://a.example" })).rejects.toThrow(
      "https origin",
    );
    await expect(make().listen({ host: "0.0.0.0", unsafePlaintext: true })).rejects.toThrow("is no name");
    const open1 = await make().listen({
      host: "0.0.0.0",
      unsafePlaintext: true,
      origin: "http://a.example:1",
    });
    expect(open1.origin).toBe("http://a.example:1");
    await open1.close();
    const proxied = await make().listen({ host: "0.0.0.0", origin: "https://a.example" });
    await proxied.close();
  });
});

/** What comes back before the server closes. */
function rawCall(text: string): Promise<string> {
  const { hostname, port } = new URL(fixture.origin);
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(Number(port), hostname, () => socket.write(text));
    let answer = "";
    socket.setEncoding("utf8");
    socket.on("data", (part: string) => (answer += part));
    socket.on("close", () => resolve(answer));
    socket.on("error", (error) => (answer === "" ? reject(error) : resolve(answer)));
  });
}
