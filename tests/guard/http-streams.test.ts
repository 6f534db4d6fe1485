/** HTTP/2 and TLS of a guarded process: every stream is decided, on whichever connection it is asked for. */
import { createServer as createHttp2, createSecureServer, type Http2Server } from "node:http2";
import { createServer as createHttps } from "node:https";
import type { Server } from "node:net";
import { afterAll, beforeEach, expect, it } from "vitest";
import { ADMIN, adminCaller, entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { type GuardedWorld, openWorld, outcomes } from "./guarded-process.ts";
import { listening } from "./loopback.ts";
import { worldOfFile } from "./world-of-file.ts";

let world: GuardedWorld;
let plain: Http2Server;
let secure: Http2Server;
let idle: Http2Server;
let https: Server;
let ports: {
  readonly plain: number;
  readonly secure: number;
  readonly idle: number;
  readonly https: number;
};
/** How many connections the plain servers were opened. */
const opened = { plain: 0, idle: 0 };
/** What reached the servers. */
let seen: string[] = [];

/** WHY: a shared key in place of a certificate, which would have to be made first. */
const KEY = "00112233445566778899aabbccddeeff";
const shared = {
  ciphers: "PSK",
  maxVersion: "TLSv1.2",
  pskCallback: () => Buffer.from(KEY, "hex"),
} as const;

const serve = (server: Http2Server): Http2Server =>
  server
    .on("sessionError", () => undefined)
    .on("stream", (stream, headers) => {
      seen.push(`${headers[":method"]} ${headers[":path"]} ${headers[":authority"]}`.replace(/:\d+$/, ""));
      stream.on("error", () => undefined).resume();
      stream.respond({ ":status": 200 });
      stream.end(`hello ${headers[":path"]}`);
    });

worldOfFile(async (preload) => {
  plain = serve(createHttp2()).on("connection", () => opened.plain++);
  idle = serve(createHttp2()).on("connection", () => opened.idle++);
  secure = serve(createSecureServer({ ...shared, allowHTTP1: false }));
  https = createHttps({ ...shared }, (request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers.host}`.replace(/:\d+$/, ""));
    response.end(`hello ${request.url}`);
  });
  https.on("tlsClientError", () => undefined);
  secure.on("tlsClientError", () => undefined);
  ports = {
    plain: await listening(plain),
    secure: await listening(secure),
    idle: await listening(idle),
    https: await listening(https),
  };
  world = await openWorld(preload, () => [
    entry("network", "receive", `http://localhost:${ports.plain}/open/`),
    entry("network", "receive", `http://localhost:${ports.idle}`),
    entry("network", "receive", `https://localhost:${ports.secure}/open/`),
    entry("network", "send", `https://localhost:${ports.secure}/post/`),
    entry("network", "receive", `https://localhost:${ports.https}/open/`),
  ]);
  return world;
});
afterAll(() => {
  for (const server of [plain, secure, idle, https]) server.close();
});
beforeEach(() => void (seen = []));

const BEFORE = (): string => `
const http2 = require("http2"), https = require("https"), tls = require("tls"), net = require("net");
const ports = ${JSON.stringify(ports)};
const shared = { ciphers: "PSK", maxVersion: "TLSv1.2", pskCallback: () => ({ psk: Buffer.from("${KEY}", "hex"), identity: "me" }), checkServerIdentity: () => undefined };
const quiet = (session) => session.on("error", () => {});
const open = (kind, more) => quiet(http2.connect((kind === "plain" || kind === "idle" ? "http" : "https") + "://localhost:" + ports[kind], { ...shared, family: 4, ...more }));
const answered = (stream) => new Promise((done, failed) => { let text = ""; stream.setEncoding("utf8").on("error", failed).on("data", (data) => (text += data)).on("end", () => done(text)); });
const kept = (promise) => (promise.catch(() => {}), promise);
const stream = (session, headers, options) => { const one = session.request(headers, options); const all = kept(answered(one)); one.end(); return all; };
const once = async (kind, headers, options) => { const session = open(kind); try { return await stream(session, headers, options); } finally { session.destroy(); } };
const after = async (work) => { const session = open("secure"); try { await stream(session, { ":path": "/open/a" }); return await work(session); } finally { session.destroy(); } };
const get = (path, more) => new Promise((done, failed) => https.get({ host: "localhost", port: ports.https, family: 4, path, ...shared, ...more }, (response) => { let text = ""; response.on("data", (data) => (text += data)).on("end", () => done(text)); }).on("error", failed));
`;

it("streams and requests that are declared go through, in the clear and by TLS, also on a shared session", async () => {
  const found = await outcomes(
    world,
    `plain: () => once("plain", { ":path": "/open/a" }),
     secure: () => once("secure", { ":path": "/open/b" }),
     body: () => once("secure", { ":path": "/post/b", ":method": "POST" }),
     many: async () => { const session = open("secure"); const all = await Promise.all([1, 2, 3].map((n) => stream(session, { ":path": "/open/" + n }))); const more = await stream(session, { ":path": "/open/late" }); session.close(); return [...all, more].join(); },
     normal: () => once("secure", { ":path": "/open/x/../y" }),
     https: () => get("/open/c"),
     wrapped: () => new Promise((done, failed) => { const inner = net.connect({ port: ports.https, host: "localhost", family: 4 }).on("error", failed); inner.on("connect", () => done("connected")); })`,
    { before: BEFORE(), waitMs: 0 },
  );
  expect(found).toEqual({
    plain: "hello /open/a",
    secure: "hello /open/b",
    body: "hello /post/b",
    many: "hello /open/1,hello /open/2,hello /open/3,hello /open/late",
    normal: "hello /open/y",
    https: "hello /open/c",
    wrapped: expect.stringMatching(/ERR_ACCESS_DENIED/),
  });
});

it("attack: a stream that is not declared, on an own session or on one that is open", async () => {
  const attacks = {
    first: `return once("secure", { ":path": "/closed/a" })`,
    plain: `return once("plain", { ":path": "/closed/a" })`,
    "on an open session": `return after((session) => stream(session, { ":path": "/closed/b" }))`,
    method: `return once("secure", { ":path": "/open/a", ":method": "POST" })`,
    "a body on a request that reads": `return once("secure", { ":path": "/open/a" }, { endStream: false })`,
    authority: `return after((session) => stream(session, { ":path": "/open/b", ":authority": "other.example" }))`,
    "the host header": `return after((session) => stream(session, { ":path": "/open/b", host: "other.example" }))`,
    "a tunnel": `return after((session) => stream(session, { ":method": "CONNECT", ":authority": "other.example:80" }))`,
    "headers that flip": `let reads = 0; return once("secure", { get ":path"() { return reads++ === 0 ? "/closed/c" : "/open/c"; } })`,
    "headers as a list": `return once("secure", [":path", "/closed/d", ":method", "GET", ":scheme", "https", ":authority", "localhost:" + ports.secure])`,
    "the class of the session": `return after((session) => answered(Object.getPrototypeOf(session).request.call(session, { ":path": "/closed/e" })))`,
    "the native session": `return after((session) => { const handle = Object.getOwnPropertySymbols(session).map((key) => session[key]).find((value) => typeof value?.consume === "function"); return handle.request(["x"], 0); })`,
    "bytes on the connection of a session": `let socket; const save = net.Socket.prototype.on; net.Socket.prototype.on = function (...args) { socket = this; return save.apply(this, args); }; return after(() => { net.Socket.prototype.on = save; return new Promise((done, failed) => socket._writeGeneric(false, "raw", "latin1", (error) => (error ? failed(error) : done("written")))); })`,
    "a session on a connection of its own": `return stream(open("secure", { createConnection: () => tls.connect({ ...shared, port: ports.secure, host: "127.0.0.1", ALPNProtocols: ["h2"] }).on("error", () => {}) }), { ":path": "/open/a" })`,
    "data in a farewell": `return after((session) => session.goaway(0, 0, Buffer.from("data")))`,
    "another name in TLS": `return get("/open/c", { servername: "other.example" })`,
    "another name in TLS, by its handle": `const request = https.get({ host: "localhost", port: ports.https, family: 4, path: "/open/c", agent: false, ...shared }); request.on("socket", (socket) => socket._handle.setServername("other.example")); return new Promise((done, failed) => request.on("error", failed).on("response", (response) => done(response.statusCode)))`,
    "another name in TLS, before it connects": `return get("/open/c", { createConnection: (options) => { const socket = new tls.TLSSocket(undefined, { secureContext: tls.createSecureContext(shared), pskCallback: shared.pskCallback }); socket.setServername("other.example"); socket.connect(options); socket.once("connect", () => socket._start()); return socket; } })`,
    "another name in TLS, while the handle is made": `let isNamed = false; class Early extends tls.TLSSocket { on(...args) { for (const key of Reflect.ownKeys(this)) if (!isNamed && typeof this[key]?.setServername === "function") { isNamed = true; this[key].setServername("other.example"); } return super.on(...args); } } return get("/open/c", { createConnection: (options) => { const socket = new Early(undefined, { secureContext: tls.createSecureContext(shared), pskCallback: shared.pskCallback }); socket.connect(options); socket.once("connect", () => socket._start()); return socket; } })`,
    "a session by the name of another": `return stream(http2.connect("https://other.example", { ...shared, family: 4, host: "localhost", port: ports.secure }).on("error", () => {}), { ":path": "/open/a" })`,
    "another path by TLS": `return get("/closed/c")`,
  };
  const tasks = Object.entries(attacks).map(
    ([name, work]) => `${JSON.stringify(name)}: async () => { ${work} }`,
  );
  const found = await outcomes(world, tasks.join(",\n"), { before: BEFORE(), waitMs: 0 });
  for (const [name, outcome] of Object.entries(found))
    expect(`${name}: ${String(outcome)}`).toMatch(/ERR_ACCESS_DENIED|ERR_INVALID_ARG_TYPE/);
  expect(seen.filter((line) => line !== "GET /open/a localhost")).toEqual([]);
});

it("a session is there before its first stream where a request to its root may pass, and its streams are decided", async () => {
  opened.idle = 0;
  const found = await outcomes(
    world,
    `there: async () => { const session = open("idle"); await require("events").once(session, "connect"); try { return await stream(session, { ":path": "/any" }); } finally { session.destroy(); } },
     body: async () => { const session = open("idle"); await require("events").once(session, "connect"); try { return await stream(session, { ":method": "POST" }); } finally { session.destroy(); } },
     closed: () => new Promise((done) => open("idle").close(() => done("closed")))`,
    { before: BEFORE(), waitMs: 0 },
  );
  expect(found).toEqual({
    there: "hello /any",
    body: expect.stringMatching(/ERR_ACCESS_DENIED/),
    closed: "closed",
  });
  expect(opened.idle).toBe(2);
});

it("a session that may ask for nothing at its root is dialled for its first stream; waited for, it needs network connect", async () => {
  opened.plain = 0;
  const found = await outcomes(
    world,
    `waited: () => new Promise((done, failed) => { const session = http2.connect("http://localhost:" + ports.plain, { family: 4 }, done); session.on("error", failed); }),
     quiet: async () => { const session = open("plain"); for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate); const before = session.connecting; const text = await stream(session, { ":path": "/open/late" }); session.close(); return before + " " + text; }`,
    { before: BEFORE(), waitMs: 0 },
  );
  expect(found).toEqual({
    waited: expect.stringMatching(/ERR_ACCESS_DENIED \w+ connect/),
    quiet: "true hello /open/late",
  });
  expect(opened.plain).toBe(1);
  const { rows } = await world.fixture.service.list.requests(adminCaller());
  expect(rows.map(({ resource }) => resource)).toContainEqual(
    expect.objectContaining({ operation: "connect", target: `localhost:${ports.plain}` }),
  );
});

it("a stream, a request and a fetch wait for a person, and go on", async () => {
  const found = outcomes(
    world,
    `stream: () => once("secure", { ":path": "/asked/stream" }),
     request: () => get("/asked/request")`,
    { before: BEFORE() },
  );
  const { fixture } = world;
  for (const path of ["/asked/stream", "/asked/request"]) {
    const mine = async () =>
      (await fixture.service.list.requests(adminCaller())).rows.find(
        ({ resource, status }) => status === "pending" && resource.target.endsWith(path),
      );
    while ((await mine()) === undefined) await new Promise((resolve) => setImmediate(resolve));
    const request = await mine();
    expect(request?.resource).toMatchObject({ type: "network", operation: "receive" });
    const by = await fixture.shown(request?.id);
    await fixture.runtime.runAsHost(ADMIN, () => fixture.sdk.access.approvePermanently(by));
  }
  expect(await found).toEqual({ stream: "hello /asked/stream", request: "hello /asked/request" });
});
