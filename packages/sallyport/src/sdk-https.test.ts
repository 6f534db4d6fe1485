/** HTTP calls of the SDK over TLS, with streams, and on connections that are kept: every call is checked for itself. */
import { once } from "node:events";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { ExternalAccessError } from "@sallyport/contract";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Fixture, MEMBER, entry, openFixture } from "./testing/sallyport-fixture.ts";
import { testCertificate } from "./testing/test-certificate.ts";

const CERTIFICATE = testCertificate("feed.test", "127.0.0.1");
let fixture: Fixture;
const servers: Server[] = [];
const addresses = new Map<string, readonly string[]>();

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Every connection that a server took, by its address here. */
interface Served {
  readonly port: number;
  readonly connections: string[];
}

async function serve(answer: Answer, options: { readonly tls?: boolean; readonly host?: string } = {}) {
  const server = options.tls === true ? createTlsServer(CERTIFICATE, answer) : createServer(answer);
  servers.push(server);
  const connections: string[] = [];
  server.on("connection", (socket) => connections.push(socket.localAddress));
  server.listen(0, options.host ?? "127.0.0.1");
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, connections } satisfies Served;
}

function allow(name: string, ...rights: readonly (readonly [operation: string, target: string])[]): void {
  const access = rights.map(([operation, target]) => entry("network", operation, target));
  const root = join(fixture.folder, "demo");
  const known = fixture.registry.registerModule({ name, root, manifest: { access } });
  if (!known.ok) throw new Error(known.message);
}

const as = <R>(name: string, fn: () => R): R => fixture.runtime.run({ type: "module", name }, MEMBER, fn);
const who = () => fixture.sdk.permission.facts()?.subjectChain.at(-1)?.subject.name;

async function opened(ca?: readonly string[]): Promise<void> {
  const resolver = async (name: string) => addresses.get(name) ?? [];
  fixture = await openFixture({ ports: { resolver, ca } });
}

beforeEach(async () => {
  addresses.clear();
  addresses.set("feed.test", ["127.0.0.1"]);
  await opened([CERTIFICATE.ca]);
});
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  await fixture.close();
});

const hello: Answer = (_, response) => response.end("hello");

describe("a call over TLS", () => {
  it("trusts the authority that the host named, by the name of the URL", async () => {
    const { port } = await serve(hello, { tls: true });
    const named = `https://feed.test:${port}`;
    const local = `https://127.0.0.1:${port}`;
    allow("web", ["receive", named], ["receive", local]);
    for (const origin of [named, local]) {
      const response = await as("web", () => fixture.sdk.http.fetch(`${origin}/a`));
      expect([response.status, await response.text()]).toEqual([200, "hello"]);
    }
  });

  it("fails where nobody named the authority", async () => {
    await fixture.close();
    await opened();
    const { port } = await serve(hello, { tls: true });
    allow("web", ["receive", `https://127.0.0.1:${port}`]);
    const call = as("web", () => fixture.sdk.http.fetch(`https://127.0.0.1:${port}/`));
    await expect(call).rejects.toMatchObject({
      code: expect.stringMatching(/SELF_SIGNED|UNABLE|ISSUER|LEAF/),
    });
  });

  it("fails where the certificate is for another name, also when a connection to that address is kept", async () => {
    const { port, connections } = await serve(hello, { tls: true });
    addresses.set("other.test", ["127.0.0.1"]);
    const [feed, other] = [`https://feed.test:${port}`, `https://other.test:${port}`];
    allow("web", ["receive", feed], ["receive", other], ["receive", `https://127.0.0.1:${port}`]);
    await (await as("web", () => fixture.sdk.http.fetch(feed))).text();
    const call = as("web", () => fixture.sdk.http.fetch(other));
    await expect(call).rejects.toMatchObject({ code: "ERR_TLS_CERT_ALTNAME_INVALID" });
    expect(connections).toHaveLength(2);
  });

  it("is checked as https: a right on http does not serve", async () => {
    const { port } = await serve(hello, { tls: true });
    allow("web", ["receive", `http://127.0.0.1:${port}`]);
    const call = as("web", () => fixture.sdk.http.fetch(`https://127.0.0.1:${port}/`));
    await expect(call).rejects.toBeInstanceOf(ExternalAccessError);
  });

  it("checks the hop from https to http anew", async () => {
    const plain = await serve(hello);
    const there = `http://127.0.0.1:${plain.port}/`;
    const { port } = await serve((_, response) => response.writeHead(302, { location: there }).end(), {
      tls: true,
    });
    allow("web", ["receive", `https://127.0.0.1:${port}`]);
    const call = as("web", () => fixture.sdk.http.fetch(`https://127.0.0.1:${port}/`));
    const error = await call.catch((thrown: unknown) => thrown);
    expect((error as Error).message).toContain(there);
    expect(plain.connections).toEqual([]);
  });
});

describe("a stream", () => {
  const echo: Answer = (request, response) => void request.pipe(response);
  async function* chunks() {
    for (const text of ["a", "b", "c"]) yield Buffer.from(text);
  }

  it("is sent as it comes, and needs the right to send", async () => {
    const { port } = await serve(echo);
    const origin = `http://127.0.0.1:${port}`;
    allow("web", ["send", origin]);
    allow("reader", ["receive", origin]);
    const post = (body: AsyncIterable<Uint8Array>) => fixture.sdk.http.fetch(origin, { method: "PUT", body });
    expect(await (await as("web", () => post(chunks()))).text()).toBe("abc");
    const web = new Blob(["xyz"]).stream() as unknown as AsyncIterable<Uint8Array>;
    expect(await (await as("web", () => post(web))).text()).toBe("xyz");
    await expect(as("reader", () => post(chunks()))).rejects.toBeInstanceOf(ExternalAccessError);
  });

  it("is not taken from before there is a connection, and not sent twice", async () => {
    const { port } = await serve((request, response) => {
      request.resume();
      response.writeHead(307, { location: "/again" }).end();
    });
    const origin = `http://127.0.0.1:${port}`;
    addresses.set("feed.test", ["127.0.0.2", "127.0.0.1"]);
    const named = `http://feed.test:${port}`;
    allow("web", ["send", origin], ["send", named], ["send", `http://127.0.0.2:${port}`]);
    const body = chunks();
    const call = as("web", () => fixture.sdk.http.fetch(named, { method: "POST", body }));
    await expect(call).rejects.toThrow("a stream is sent once");
  });

  it("that fails, fails the call", async () => {
    const { port } = await serve(echo);
    const origin = `http://127.0.0.1:${port}`;
    allow("web", ["send", origin]);
    async function* broken() {
      yield Buffer.from("a");
      throw new Error("the source is gone");
    }
    const call = as("web", async () => {
      const response = await fixture.sdk.http.fetch(origin, { method: "POST", body: broken() });
      return response.text();
    });
    await expect(call).rejects.toThrow();
  });
});

describe("a connection that is kept", () => {
  it("serves the next call, of any subject that may make it, and its callbacks stay whose they are", async () => {
    const { port, connections } = await serve(hello);
    const origin = `http://127.0.0.1:${port}`;
    for (const name of ["first", "second"]) allow(name, ["receive", origin]);
    allow("stranger");
    const seen: unknown[] = [];
    for (const name of ["first", "second", "first", "second"])
      await as(name, async () => {
        const response = await fixture.sdk.http.fetch(`${origin}/${name}`);
        for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
          seen.push([name, who(), String(chunk.length)]);
        seen.push([name, who(), "end"]);
      });
    expect(seen).toEqual(
      ["first", "second", "first", "second"].flatMap((name) => [
        [name, name, "5"],
        [name, name, "end"],
      ]),
    );
    expect(connections).toHaveLength(1);
    const call = as("stranger", () => fixture.sdk.http.fetch(origin));
    await expect(call).rejects.toBeInstanceOf(ExternalAccessError);
    expect(connections).toHaveLength(1);
  });

  it("is not used for a name that leads elsewhere by now", async () => {
    const { port, connections } = await serve(hello, { host: "0.0.0.0" });
    const origin = `http://feed.test:${port}`;
    allow("web", ["receive", origin], ["receive", `127.0.0.1:${port}`], ["receive", `127.0.0.2:${port}`]);
    const get = async () => (await as("web", () => fixture.sdk.http.fetch(origin))).text();
    await get();
    addresses.set("feed.test", ["127.0.0.2"]);
    await get();
    await get();
    expect(connections).toEqual(["127.0.0.1", "127.0.0.2"]);
  });

  it("that the server ended meanwhile costs a receiving call nothing", async () => {
    const { port, connections } = await serve(hello);
    const origin = `http://127.0.0.1:${port}`;
    allow("web", ["receive", origin]);
    const get = async () => (await as("web", () => fixture.sdk.http.fetch(origin))).text();
    await get();
    servers.at(-1)?.closeIdleConnections();
    expect(await get()).toBe("hello");
    expect(connections).toHaveLength(2);
  });

  it("does not spare a call its check: a denial holds at once", async () => {
    const { port } = await serve(hello);
    const origin = `http://127.0.0.1:${port}`;
    allow("web");
    const words = { resourceType: "network", operation: "receive", target: `${origin}/` } as const;
    const whose = { subjectType: "module", subjectName: "web" } as const;
    const asAdmin = { user: { id: 1, roles: ["super"] } };
    const { runtime, sdk } = fixture;
    await runtime.runAsHost(asAdmin, () => sdk.access.approvePermanently({ ...words, ...whose }));
    expect(await (await as("web", () => sdk.http.fetch(origin))).text()).toBe("hello");
    await runtime.runAsHost(asAdmin, () => sdk.access.denyExternalAccess({ ...words, ...whose }));
    await expect(as("web", () => sdk.http.fetch(origin))).rejects.toBeInstanceOf(ExternalAccessError);
  });
});
