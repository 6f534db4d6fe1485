/** Modules of Node that are guarded when they are first loaded: by every way to them, and where the program prepared for it. */
import http, { type Server, createServer as createWeb } from "node:http";
import { type Http2Server, createServer as createHttp2 } from "node:http2";
import { type Server as SecureServer, createServer as createHttps } from "node:https";
import { TLSSocket } from "node:tls";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { type GuardedWorld, openWorld, outcomes, resultsOf, start } from "./guarded-process.ts";
import { listening } from "./loopback.ts";
import { worldOfFile } from "./world-of-file.ts";

let world: GuardedWorld;
let servers: { readonly web: Server; readonly secure: SecureServer; readonly streams: Http2Server };
let ports: { readonly web: number; readonly secure: number; readonly streams: number };
/** What reached the servers. */
let seen: string[] = [];

/** WHY: a shared key in place of a certificate, which would have to be made first. */
const KEY = "00112233445566778899aabbccddeeff";

worldOfFile(async (preload) => {
  const told = (path: unknown): string => (seen.push(String(path)), `hello ${String(path)}`);
  servers = {
    web: createWeb((request, response) => response.end(told(request.url))),
    secure: createHttps(
      { ciphers: "PSK", maxVersion: "TLSv1.2", pskCallback: () => Buffer.from(KEY, "hex") },
      (request, response) => response.end(told(request.url)),
    ).on("tlsClientError", () => undefined),
    streams: createHttp2()
      .on("sessionError", () => undefined)
      .on("stream", (stream, headers) => {
        stream.on("error", () => undefined).resume();
        stream.respond({ ":status": 200 });
        stream.end(told(headers[":path"]));
      }),
  };
  const { web, secure, streams } = servers;
  ports = { web: await listening(web), secure: await listening(secure), streams: await listening(streams) };
  world = await openWorld(preload, () => [
    entry("network", "receive", `http://127.0.0.1:${ports.web}/open/`),
    entry("network", "receive", `https://127.0.0.1:${ports.secure}/open/`),
    entry("network", "receive", `http://127.0.0.1:${ports.streams}/open/`),
    // WHY: TLS that nobody knows to be TLS is taken for what is declared in the clear.
    entry("network", "receive", `http://127.0.0.1:${ports.secure}/open/`),
  ]);
  return world;
});
afterAll(() => {
  const { web, secure, streams } = servers;
  for (const server of [web, secure, streams]) server.close();
  for (const server of [web, secure]) server.closeAllConnections();
});
beforeEach(() => void (seen = []));

const NAMES = ["http", "https", "http2", "tls"];
/** Where Node hands out no internals, `tls` is loaded and guarded before the program runs: else its engines could not be refused. */
const isTlsEarly = ((): boolean => {
  try {
    (process as unknown as { binding(name: string): unknown }).binding("crypto");
    return false;
  } catch {
    return true;
  }
})();

it("are not loaded by a program that does without them", async () => {
  const source = `process.stdout.write(JSON.stringify({ loaded: process.moduleLoadList.filter((name) => ${JSON.stringify(NAMES)}.includes(name.replace("NativeModule ", ""))), list: Array.isArray(process.moduleLoadList) && process.moduleLoadList.length > 50 }));`;
  expect(await resultsOf(start(world, source).ended)).toEqual({
    loaded: isTlsEarly ? ["NativeModule tls"] : [],
    list: true,
  });
});

/** Asks each server for what is declared and for what is not. `http`, `https` and `http2` are the modules. */
const ASKING = (): string => `
const ports = ${JSON.stringify(ports)};
const psk = { ciphers: "PSK", maxVersion: "TLSv1.2", pskCallback: () => ({ psk: Buffer.from("${KEY}", "hex"), identity: "test" }), checkServerIdentity: () => undefined };
const text = async (stream) => { let all = ""; for await (const chunk of stream) all += chunk; return all; };
const answered = (request) => new Promise((done, failed) => request.on("error", failed).on("response", (response) => text(response).then(done, failed)).end());
const get = (path) => answered(http.get({ host: "127.0.0.1", port: ports.web, path }));
const secureGet = (path) => answered(https.request({ host: "127.0.0.1", port: ports.secure, path, ...psk }));
const stream = (session, path) => new Promise((done, failed) => { const one = session.request({ ":path": path }); session.on("error", failed); one.on("error", failed); text(one).then(done, failed); one.end(); });
const streamed = (path) => { const session = http2.connect("http://127.0.0.1:" + ports.streams); return stream(session, path).finally(() => session.destroy()); };
const TASKS = {
  web: () => get("/open/web"), "web, closed": () => get("/closed/web"),
  secure: () => secureGet("/open/secure"), "secure, closed": () => secureGet("/closed/secure"),
  streams: () => streamed("/open/streams"), "streams, closed": () => streamed("/closed/streams"),
};
`;

const BLOCKED = expect.stringMatching(/ERR_ACCESS_DENIED approval_timeout/) as unknown;
const ANSWERS = {
  web: "hello /open/web",
  "web, closed": BLOCKED,
  secure: "hello /open/secure",
  "secure, closed": BLOCKED,
  streams: "hello /open/streams",
  "streams, closed": BLOCKED,
};
const OPEN = ["/open/secure", "/open/streams", "/open/web"];

describe("every way to them leads to what is guarded:", () => {
  it.each([
    ["require", `const http = require("http"), https = require("node:https"), http2 = require("http2");`],
    [
      "getBuiltinModule",
      `const [http, https, http2] = ["http", "https", "http2"].map((name) => process.getBuiltinModule(name));`,
    ],
    [
      "fetch, which loads them for itself",
      `let http, https, http2; const loaded = fetch("data:,x").then(() => { http = require("http"); https = require("https"); http2 = require("http2"); });`,
    ],
    [
      "import() in CommonJS",
      `let http, https, http2; const loaded = Promise.all(["http", "node:https", "http2"].map((name) => import(name))).then((found) => { [http, https, http2] = found.map((one) => one.default); });`,
    ],
    [
      "a module whose parts import() names",
      `let http, https, http2; const loaded = Promise.all(["node:http2", "https", "http"].map((name) => import(name))).then((found) => { [http2, https, http] = found.map((one) => ({ ...one })); });`,
    ],
  ])("%s", async (_, load) => {
    const before = `${load}\n${ASKING()}`;
    const tasks = `loaded: async () => { if (typeof loaded !== "undefined") await loaded; }, ...TASKS`;
    const { loaded, ...answers } = await outcomes(world, tasks, { before, waitMs: 0 });
    expect({ loaded, answers }).toEqual({ loaded: "done", answers: ANSWERS });
    expect(seen.toSorted()).toEqual(OPEN);
  });

  it("static imports of an ES module", async () => {
    const source = `import http, { get as named } from "http"; import * as https from "node:https"; import { connect } from "node:http2";
const http2 = { connect };
${ASKING()}
const results = {};
const tasks = { ...TASKS, "web, by its name": () => answered(named({ host: "127.0.0.1", port: ports.web, path: "/open/named" })) };
for (const [name, work] of Object.entries(tasks)) results[name] = await work().catch((error) => [error.code, error.check?.code].join(" "));
process.stdout.write(JSON.stringify(results));`;
    const answers = await resultsOf(start(world, source, { extension: "mjs", waitMs: 0 }).ended);
    expect(answers).toEqual({ ...ANSWERS, "web, by its name": "hello /open/named" });
    expect(seen.toSorted()).toEqual(["/open/named", ...OPEN]);
  });
});

/**
 * Loads a module where the stack has as little room as it can do with, so that nobody hears of it. Frames differ in size by
 * `step`, so that one of them ends at the right place.
 */
const EXHAUSTING = (name: string, step: number): string => {
  // WHY: what needs more room than the module itself is there before.
  const locals = Array.from({ length: step }, (_, at) => `a${at}`);
  return `require("crypto");
let limit = Infinity, deepest = 0;
const leaf = new Function("load", "${locals.map((local) => `let ${local} = Math.random();`).join(" ")} return load() && ${["1", ...locals].join(" + ")};");
const go = (depth) => { deepest = depth; return depth >= limit ? leaf(() => process.getBuiltinModule("${name}")) : go(depth + 1) + 1; };
for (let round = 0; round < 20; round++) try { go(0); } catch {}
const bottom = deepest;
let isLoaded = false;
for (let room = 0; room < bottom && !isLoaded; room++) {
  limit = bottom - room;
  try { go(0); isLoaded = true; } catch {}
}
`;
};

describe("attack: no room on the stack while a module is loaded, so that nobody hears of it", () => {
  it.each([
    [
      "tls",
      `require("tls").TLSSocket.prototype._wrapHandle`,
      Reflect.get(TLSSocket.prototype, "_wrapHandle") as unknown,
      `const socket = await new Promise((done, failed) => https.request({ host: "127.0.0.1", port: ports.secure, path: "/open/a", ...psk }).on("socket", (one) => one.on("connect", () => done(one)).on("error", failed)).on("error", failed).end());
       const handle = socket._handle, native = Object.getPrototypeOf(handle);
       const head = (path) => "GET " + path + " HTTP/1.1\\r\\nHost: 127.0.0.1:" + ports.secure + "\\r\\n\\r\\n";
       for (const name of ["writeLatin1String", "writeUtf8String"]) handle[name] = (request) => native[name].call(handle, request, head("/closed/below"));
       handle.writeBuffer = (request) => native.writeBuffer.call(handle, request, Buffer.from(head("/closed/below")));
       socket.write(head("/open/b"), "latin1");
       await new Promise((done) => setTimeout(done, 300));`,
    ],
    ["http", "http.get", http.get, `await get("/open/a").catch(() => undefined); await get("/closed/a");`],
  ])("%s", async (name, part, bare, work) => {
    let isUnheard = false;
    const isEarly = name === "tls" && isTlsEarly;
    for (let step = 0; step < (isEarly ? 1 : 24) && !isUnheard; step++) {
      seen = [];
      const source = `${EXHAUSTING(name, step)}
const http = require("http"), https = require("https"), http2 = require("http2");
${ASKING()}
const isUnheard = Function.prototype.toString.call(${part}) === ${JSON.stringify(String(bare))};
process.on("uncaughtException", () => undefined);
// WHY: what is not answered is not waited for.
const end = () => { process.stdout.write(JSON.stringify({ isUnheard })); process.exit(0); };
setTimeout(end, 2_000);
(async () => { ${work} })().catch(() => undefined).then(() => setTimeout(end, 100));`;
      const said = await resultsOf(start(world, source, { waitMs: 0, flags: ["--stack-size=300"] }).ended);
      isUnheard = said["isUnheard"] === true;
    }
    // WHY: else nothing was attacked.
    expect(isUnheard).toBe(!isEarly);
    // WHY not even what is declared: without its guard a module opens nothing.
    expect(isEarly ? seen.filter((path) => !path.startsWith("/open/")) : seen).toEqual([]);
  });
});

/** Prepares for the first session of HTTP/2, connects, asks for what is declared, and then for more by what it came by. */
const PREPARED = (): string => `
const http = require("http"), net = require("net"), events = require("events");
${ASKING()}
const results = {};
const attempt = async (name, work) => { results[name] = await Promise.resolve().then(work).then((value) => value ?? "done", (error) => error.code); };
const say = () => { process.stdout.write(JSON.stringify(results)); process.exit(0); };
process.on("uncaughtException", () => undefined);
setTimeout(say, 60_000);
const fake = {};
new net.Socket({ handle: fake, manualStart: true });
const owner = Object.getOwnPropertySymbols(fake).find((key) => key.description === "owner_symbol");
const nativeOf = (session) => Object.getOwnPropertySymbols(session).map((key) => session[key]).find((value) => typeof value?.consume === "function");
const fields = (path) => ({ ":method": "GET", ":path": path, ":scheme": "http", ":authority": "127.0.0.1:" + ports.streams });
/** As Node hands headers down. */
const list = (path) => [Object.entries(fields(path)).map(([key, value]) => key + "\\0" + value + "\\0\\0").join(""), 4];
const opened = async () => {
  const session = require("http2").connect("http://127.0.0.1:" + ports.streams).on("error", () => undefined);
  await stream(session, "/open/a");
  return session;
};
`;

describe("attack: the program waits for the first session of HTTP/2, to have its class as Node made it", () => {
  const results = (work: string): Promise<Record<string, unknown>> =>
    resultsOf(
      start(world, `${PREPARED()}(async () => { ${work} })().then(() => setTimeout(say, 200));`, {
        waitMs: 0,
      }).ended,
    );

  it("by a setter in front of the guard's, which hands on", async () => {
    const found = await results(`
let raw;
await new Promise((done) => http.get({ host: "127.0.0.1", port: ports.web, path: "/open/web" }, (response) => {
  let holder = response.socket._handle;
  while (Object.getPrototypeOf(holder) !== Object.prototype) holder = Object.getPrototypeOf(holder);
  Object.defineProperty(holder, owner, { configurable: true, set(value) {
    if (typeof this.consume === "function") raw ??= Object.getPrototypeOf(this).request;
    const next = Object.getOwnPropertyDescriptor(Object.prototype, owner)?.set;
    if (next === undefined) Object.defineProperty(this, owner, { value, writable: true, configurable: true });
    else next.call(this, value);
  } });
  done();
}));
let session;
await attempt("connect", async () => { session = await opened(); });
results.isSeen = raw !== undefined;
await attempt("ask", () => void raw.call(nativeOf(session), list("/closed/native"), 1));`);
    expect(found).toMatchObject({ connect: "ERR_ACCESS_DENIED", isSeen: true });
    expect(seen).toEqual(["/open/web"]);
  });

  it("by how every emitter begins", async () => {
    const found = await results(`
const { init } = events;
let raw, inner;
events.init = function (...args) {
  if (raw === undefined && typeof Object.getPrototypeOf(this).request === "function") {
    raw = Object.getPrototypeOf(this).request;
    try { inner = require("http2").connect("http://127.0.0.1:" + ports.streams); } catch (error) { inner = error.code; }
  }
  return init.apply(this, args);
};
const session = await opened();
results.inner = inner;
results.isRaw = raw !== undefined && raw !== Object.getPrototypeOf(session).request;
await attempt("ask", () => new Promise((done, failed) => raw.call(session, fields("/closed/raw")).on("error", failed).on("response", done).end()));`);
    expect(found).toEqual({ inner: "ERR_ACCESS_DENIED", isRaw: true, ask: "ERR_ACCESS_DENIED" });
    expect(seen).toEqual(["/open/a"]);
  });

  it("by a prototype of all objects that takes nothing up", async () => {
    const found = await results(`Object.freeze(Object.prototype); await attempt("connect", opened);`);
    expect(found).toEqual({ connect: "ERR_ACCESS_DENIED" });
    expect(seen).toEqual([]);
  });
});
