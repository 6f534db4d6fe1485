/** HTTP calls of the SDK: every hop a check, and the address that was checked is the one that is dialled. */
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { ExternalAccessError } from "@sallyport/contract";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Fixture, MEMBER, entry, openFixture } from "./testing/sallyport-fixture.ts";

const WEB = { type: "module", name: "web" } as const;
let fixture: Fixture;
const servers: Server[] = [];
/** Names that were looked up, and where they lead. */
const lookedUp: string[] = [];
const addresses = new Map<string, readonly string[]>();

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function allow(...rights: readonly (readonly [operation: string, target: string])[]): void {
  const access = rights.map(([operation, target]) =>
    entry(target.startsWith("/") ? "filesystem" : "network", operation, target),
  );
  const known = fixture.registry.registerModule({
    name: "web",
    root: join(fixture.folder, "demo"),
    manifest: { access },
  });
  if (!known.ok) throw new Error(known.message);
}

const run = <R>(fn: () => R): R => fixture.runtime.run(WEB, MEMBER, fn);

async function blocked(call: () => Promise<unknown>): Promise<readonly string[]> {
  const error = await run(call).catch((thrown: unknown) => thrown);
  if (!(error instanceof ExternalAccessError)) throw new Error(`not blocked: ${String(error)}`);
  return error.blocked.map(({ message }) => /(\w+ \w+ `[^`]*`)/.exec(message)?.[1] ?? message);
}

beforeEach(async () => {
  lookedUp.length = 0;
  addresses.clear();
  const resolver = async (name: string) => {
    lookedUp.push(name);
    return addresses.get(name) ?? [];
  };
  fixture = await openFixture({ ports: { resolver } });
});
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  await fixture.close();
});

const echo = (request: IncomingMessage, response: ServerResponse): void => {
  let text = "";
  request.on("data", (chunk) => (text += String(chunk)));
  request.on("end", () => {
    const { method, url, headers } = request;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ method, url, headers, text }));
  });
};

describe("fetch", () => {
  it("receives what is declared, and sends only where sending is", async () => {
    const origin = await serve(echo);
    allow(["receive", origin]);
    const { http } = fixture.sdk;
    const response = await run(() => http.fetch(`${origin}/a?b=1`, { headers: { "X-Own": "1" } }));
    expect([response.status, response.url, response.redirected]).toEqual([200, `${origin}/a?b=1`, false]);
    expect(await response.json()).toMatchObject({ method: "GET", url: "/a?b=1", headers: { "x-own": "1" } });
    for (const init of [{ method: "POST" }, { method: "DELETE" }, { method: "get", body: "x" }])
      expect(await blocked(() => http.fetch(origin, init))).toEqual([`network send \`${origin}/\``]);
    expect((await run(() => http.fetch(origin, { method: "HEAD" }))).body).toBeNull();
  });

  it("sends where sending is declared, with its body", async () => {
    const origin = await serve(echo);
    allow(["send", origin]);
    const init = { method: "POST", body: new URLSearchParams({ a: "1" }) };
    const response = await run(() => fixture.sdk.http.fetch(origin, init));
    expect(await response.json()).toMatchObject({ text: "a=1", headers: { "content-length": "3" } });
    expect(await blocked(() => fixture.sdk.http.fetch(origin))).toEqual([`network receive \`${origin}/\``]);
  });

  it("checks every hop of a redirect, drops credentials elsewhere, and changes the method as browsers do", async () => {
    const elsewhere = await serve(echo);
    const origin = await serve((request, response) => {
      const status = Number(request.url?.slice(1, 4));
      response.writeHead(status, {
        location: request.url?.endsWith("own") === true ? "/200" : `${elsewhere}/x`,
      });
      response.end();
    });
    allow(["receive", origin], ["send", origin], ["receive", elsewhere]);
    const { http } = fixture.sdk;
    const init = { method: "POST", body: "x", headers: { authorization: "secret", cookie: "a=1" } };
    const seen = await (await run(() => http.fetch(`${origin}/302`, init))).json();
    expect(seen).toMatchObject({ method: "GET", text: "" });
    expect(Object.keys((seen as { headers: object }).headers)).not.toContain("authorization");
    expect(Object.keys((seen as { headers: object }).headers)).not.toContain("cookie");
    expect(await blocked(() => http.fetch(`${origin}/307`, init))).toEqual([
      `network send \`${elsewhere}/x\``,
    ]);
    expect((await run(() => http.fetch(`${origin}/302`, { redirect: "manual" }))).status).toBe(302);
    await expect(run(() => http.fetch(`${origin}/302`, { redirect: "error" }))).rejects.toThrow("redirect");
  });

  it("ends a circle of redirects", async () => {
    const origin = await serve((_, response) => response.writeHead(302, { location: "/" }).end());
    allow(["receive", origin]);
    await expect(run(() => fixture.sdk.http.fetch(origin))).rejects.toThrow("more than 20 redirects");
  });

  it("dials the address that was checked, with the name in the call", async () => {
    const origin = await serve(echo);
    const { port } = new URL(origin);
    addresses.set("feed.test", ["127.0.0.1"]);
    allow(["receive", `http://feed.test:${port}`], ["receive", origin]);
    const response = await run(() => fixture.sdk.http.fetch(`http://feed.test:${port}/a`));
    expect(await response.json()).toMatchObject({ headers: { host: `feed.test:${port}` } });
    expect(lookedUp).toEqual(["feed.test"]);
  });

  it("is stopped by its signal", async () => {
    const origin = await serve(() => undefined);
    allow(["receive", origin]);
    const stop = new AbortController();
    const call = run(() => fixture.sdk.http.fetch(origin, { signal: stop.signal }));
    setImmediate(() => stop.abort());
    await expect(call).rejects.toThrow();
  });

  it.each(["Host", "Connection", "Transfer-Encoding", "Proxy-Authorization"])(
    "refuses the header %s, by which the call would be another one",
    async (name) => {
      const origin = await serve(echo);
      allow(["receive", origin]);
      const call = run(() => fixture.sdk.http.fetch(origin, { headers: { [name]: "x" } }));
      await expect(call).rejects.toThrow("leave it out");
    },
  );

  it("refuses tunnels, other schemes and addresses with a password", async () => {
    allow();
    await expect(run(() => fixture.sdk.http.fetch("http://a.test", { method: "CONNECT" }))).rejects.toThrow(
      TypeError,
    );
    await expect(run(() => fixture.sdk.http.fetch("ws://a.test"))).rejects.toThrow(TypeError);
    const userinfo = run(() => fixture.sdk.http.fetch("http://u:p@a.test")).catch((error: unknown) => error);
    expect(await userinfo).toMatchObject({ check: { code: "invalid_target" } });
  });
});

describe("an escape is refused:", () => {
  it("a declared name that leads into this machine", async () => {
    const origin = await serve(echo);
    const url = `http://feed.test:${new URL(origin).port}/`;
    addresses.set("feed.test", ["127.0.0.1"]);
    allow(["receive", url]);
    expect(await blocked(() => fixture.sdk.http.fetch(url))).toEqual([`network receive \`${url}\``]);
  });

  it("a name whose first address is allowed and does not answer, and whose next one is not", async () => {
    const origin = await serve(echo);
    const url = `http://feed.test:${new URL(origin).port}/`;
    addresses.set("feed.test", ["127.0.0.2", "127.0.0.1"]);
    allow(["receive", url], ["receive", url.replace("feed.test", "127.0.0.2")]);
    expect(await blocked(() => fixture.sdk.http.fetch(url))).toEqual([`network receive \`${url}\``]);
  });

  it("a look-up of a name that nobody allowed", async () => {
    allow();
    expect(await blocked(() => fixture.sdk.http.fetch("http://data-to-steal.evil.test/"))).toHaveLength(1);
    expect(lookedUp).toEqual([]);
  });
});

describe("download", () => {
  const at = (name: string) => join(fixture.folder, "work", name);

  it("writes the file whole and reports progress", async () => {
    const origin = await serve((_, response) => response.setHeader("content-length", 6).end("abcdef"));
    allow(["receive", origin], ["create", `${at("")}/`]);
    const seen: unknown[] = [];
    const onProgress = (progress: unknown) => seen.push(progress);
    const size = await run(() => fixture.sdk.http.download(`${origin}/f`, at("f"), { onProgress }));
    expect([size, readFileSync(at("f"), "utf8")]).toEqual([6, "abcdef"]);
    expect(seen.at(-1)).toEqual({ receivedBytes: 6, totalBytes: 6 });
    expect(readdirSync(at(""))).toEqual(["f"]);
    expect(await blocked(() => fixture.sdk.http.download(`${origin}/f`, at("f")))).toEqual([
      `filesystem modify \`${at("f")}\``,
    ]);
  });

  it("names the file and the URL where both are blocked, and writes nothing", async () => {
    const origin = await serve(echo);
    allow();
    expect(await blocked(() => fixture.sdk.http.download(`${origin}/f`, at("f")))).toEqual([
      `filesystem create \`${at("f")}\``,
      `network receive \`${origin}/f\``,
    ]);
    expect(existsSync(at("f"))).toBe(false);
  });

  it("leaves the old file where the new one does not come whole", async () => {
    const origin = await serve((request, response) => {
      if (request.url === "/404") response.writeHead(404).end("no");
      else response.setHeader("content-length", 100).write("abc", () => response.destroy());
    });
    allow(["receive", origin], ["modify", `${at("")}/`]);
    writeFileSync(at("f"), "old");
    const failed = (path: string) =>
      run(() => fixture.sdk.http.download(`${origin}${path}`, at("f"))).catch((error: unknown) =>
        String(error),
      );
    expect(await failed("/404")).toContain("answered with 404");
    expect(await failed("/cut")).toMatch(/aborted|of 100 bytes/);
    expect([readFileSync(at("f"), "utf8"), readdirSync(at(""))]).toEqual(["old", ["f"]]);
  });
});
