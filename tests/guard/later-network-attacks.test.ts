/**
 * Attacks on what happens later than a decision on the network: Node hands what was decided on through objects that the
 * program can change, asks prototypes that it can change, and comes back to a path that it can swap.
 */
import { createServer } from "node:http";
import { createServer as createStreams } from "node:http2";
import { join } from "node:path";
import { afterAll, beforeEach, expect, it } from "vitest";
import { entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { obtainNode } from "../../tools/nodes.mjs";
import { type GuardedWorld, openWorld, outcomes } from "./guarded-process.ts";
import { listening } from "./loopback.ts";
import { worldOfFile } from "./world-of-file.ts";

let world: GuardedWorld;
/** What reached the servers. */
let seen: string[] = [];
let ports: Readonly<Record<"web" | "streams", number>>;

const web = createServer((request, response) => {
  seen.push(`${request.method} ${request.url}`);
  request.resume();
  response.end("ok");
});
web.on("clientError", (error: Error & { rawPacket?: Buffer }, socket) => {
  if (error.rawPacket !== undefined) seen.push(`no request: ${error.rawPacket.toString("latin1")}`);
  socket.destroy();
});
const streams = createStreams((request, response) => {
  seen.push(`${request.method} ${request.url}`);
  response.end("ok");
});
worldOfFile(async (preload) => {
  ports = { web: await listening(web), streams: await listening(streams) };
  world = await openWorld(preload, () => [
    entry("network", "receive", `http://127.0.0.1:${ports.web}/open/`),
    entry("network", "send", `http://127.0.0.1:${ports.web}/open/`),
    entry("network", "receive", `http://127.0.0.1:${ports.streams}/open/`),
    entry("network", "connect", `localhost:${ports.web}`),
    entry("network", "connect", "localhost"),
  ]);
  return world;
});
afterAll(() => {
  web.closeAllConnections();
  web.close();
  streams.close();
});
beforeEach(() => void (seen = []));

const BEFORE = (): string => `
const http = require("http"), http2 = require("http2"), net = require("net"), tls = require("tls");
const { Duplex } = require("stream");
const ports = ${JSON.stringify(ports)};
const later = () => new Promise((done) => setTimeout(done, 200));
/** Works on a connection that was opened for a declared request. */
const opened = async (work) => {
  const agent = new http.Agent({ keepAlive: true });
  try {
    const socket = await new Promise((done, failed) => {
      const request = http.get({ host: "127.0.0.1", port: ports.web, path: "/open/a", agent }, (response) => response.resume().on("end", () => setImmediate(() => done(request.socket))));
      request.on("error", failed);
    });
    socket.on("error", () => {});
    const result = await work(socket);
    await later();
    return result;
  } finally { agent.destroy(); }
};
const head = (method, path, more = "") => method + " " + path + " HTTP/1.1\\r\\nHost: 127.0.0.1:" + ports.web + "\\r\\n" + more + "\\r\\n";
const nativeOf = (session) => Object.getOwnPropertySymbols(session).map((key) => session[key]).find((value) => typeof value?.consume === "function");
/** The native session of a server, which needs no connection. */
const served = () => {
  let native;
  http2.createServer().on("sessionError", () => {}).on("session", (session) => { session.on("error", () => {}); native = nativeOf(session); })
    .emit("connection", new Duplex({ read() {}, write(chunk, encoding, done) { done(); } }));
  return native;
};
/** WHY: Node itself does not always bear what is done to it here; the servers tell what came of it. */
process.on("uncaughtException", () => undefined);
`;

const ATTACKS = {
  "the bytes of a request, on their way to the native handle": `
    return opened((socket) => {
      const handle = socket._handle;
      handle.writeBuffer = function (request, bytes) {
        try { bytes.set(Buffer.from(head("GET", "/stolen"))); } catch {}
        return Object.getPrototypeOf(handle).writeBuffer.call(handle, request, bytes);
      };
      return new Promise((done) => socket.write(Buffer.from(head("GET", "/open/b")), done));
    })`,
  "the length of a body, on its way to the native handle": `
    return opened(async (socket) => {
      await new Promise((done) => socket.write(head("POST", "/open/b", "Content-Length: 4\\r\\n"), done));
      const memory = new ArrayBuffer(4, { maxByteLength: 1_000 });
      const more = Buffer.from("body" + head("GET", "/stolen"));
      const handle = socket._handle;
      handle.writeBuffer = function (request, bytes) {
        memory.resize(more.length);
        bytes.set(more);
        return Object.getPrototypeOf(handle).writeBuffer.call(handle, request, bytes);
      };
      socket.write(Object.setPrototypeOf(new Uint8Array(memory), Buffer.prototype));
    })`,
  "a native session of HTTP/2, which takes the connection over and says what servers say": `
    return opened((socket) => {
      const session = new (served().constructor)(0);
      session.consume(socket._handle);
      session.altsvc(0, "x", "\\r\\n" + head("GET", "/stolen"));
    })`,
  "HTTP/2 on another socket that was lent the handle, which says of itself that it may be taken over": `
    return opened((socket) => {
      const other = new net.Socket();
      Object.defineProperty(socket._handle, "isStreamBase", { value: true });
      other._handle = socket._handle;
      http2.createServer().on("sessionError", () => {}).on("session", (session) => session.on("error", () => {})).emit("connection", other);
    })`,
  "TLS on such a socket": `
    return opened((socket) => {
      const other = new net.Socket();
      Object.defineProperty(socket._handle, "isStreamBase", { value: true });
      other._handle = socket._handle;
      new tls.TLSSocket(other, { ALPNProtocols: ["stolen"] }).on("error", () => {})._start();
    })`,
  "the guard's own reader, caught where Node keeps what is done next": `
    let reader;
    const places = Array.from({ length: 2_100 }, (_, index) => index);
    for (const index of places)
      Object.defineProperty(Array.prototype, index, { configurable: true, set(value) {
        Object.defineProperty(this, index, { value, writable: true, enumerable: true, configurable: true });
        const given = value?.args?.[0];
        if (given !== null && typeof given === "object" && Object.hasOwn(given, "wire")) reader = given.wire;
      } });
    try { await fetch("http://127.0.0.1:" + ports.web + "/closed").catch(() => undefined); } finally { for (const index of places) delete Array.prototype[index]; }
    const { next } = Object.getPrototypeOf(reader);
    Object.getPrototypeOf(reader).next = () => ({ kind: "pass" });
    try { return await opened((socket) => new Promise((done) => socket.write(Buffer.from(head("GET", "/stolen")), done))); } finally { Object.getPrototypeOf(reader).next = next; }`,
  "a stream, by the native class that a server showed before the first client": `
    const { request } = Object.getPrototypeOf(served());
    const session = http2.connect("http://127.0.0.1:" + ports.streams).on("error", () => {});
    try {
      await new Promise((done, failed) => session.request({ ":path": "/open/a" }).on("error", failed).on("response", done).resume().end());
      request.call(nativeOf(session), [":method\\0GET\\0\\0:path\\0/stolen\\0\\0:scheme\\0http\\0\\0:authority\\x00127.0.0.1:" + ports.streams + "\\0\\0", 4], 1, 0, 0, false);
      await later();
    } finally { session.destroy(); }`,
};

async function nothingLeaves(node: string): Promise<void> {
  const tasks = Object.entries(ATTACKS).map(
    ([name, work]) => `${JSON.stringify(name)}: async () => { ${work} }`,
  );
  const found = await outcomes(world, tasks.join(",\n"), { waitMs: 0, before: BEFORE(), node });
  expect(Object.keys(found)).toEqual(Object.keys(ATTACKS));
  expect(seen.filter((line) => !/^(?:GET|POST) \/open\//.test(line))).toEqual([]);
  expect(seen).toContain("GET /open/a");
}

it("attack: what was decided on is changed or added to on its way to the wire", () =>
  nothingLeaves(process.execPath));

it.each([22, 24, 26] as const)("attack: the same on Node %i", async (line) =>
  nothingLeaves(join(await obtainNode(line), "node")),
);

const NAMES_BEFORE = (): string => `
const net = require("net"), dns = require("dns");
const port = ${ports.web};
const FORGED = "255.255.255.255";
/** Which addresses a socket was told to dial for a declared name; those are not dialled. */
const dialled = async (prepare) => {
  const blockList = new net.BlockList();
  blockList.addAddress(FORGED);
  const told = [];
  const undo = prepare();
  const socket = new net.Socket().on("lookup", (error, address) => told.push(address ?? error.code));
  try { await new Promise((done) => socket.on("error", done).on("connect", done).connect({ host: "localhost", port, blockList, family: 4 })); }
  finally { undo(); socket.destroy(); }
  return told.join();
};
`;

/** Who answers for a name could connect anywhere under it; who changes it tells others what it likes. */
const NAMES = {
  "an answer by whoever is told of the addresses, caught on its way": `
    return dialled(() => {
      Object.defineProperty(Object.prototype, "callback", { configurable: true, set(value) {
        Object.defineProperty(this, "callback", { value, writable: true, configurable: true });
        if (typeof value === "function") setImmediate(() => value(null, [{ address: FORGED, family: 4 }]));
        if (typeof value === "function") this.callback = () => {};
      } });
      return () => delete Object.prototype.callback;
    })`,
  "an answer by the native object, through something that answers for every name": `
    let holder = new dns.Resolver()._handle;
    while (Object.getPrototypeOf(holder) !== Object.prototype) holder = Object.getPrototypeOf(holder);
    return dialled(() => {
      Object.setPrototypeOf(holder, new Proxy(Object.prototype, { set(target, key, value, receiver) {
        const own = key === "oncomplete" && typeof value === "function" ? function (error, ...rest) { return this.hostname === undefined ? value.call(this, error, ...rest) : value.call(this, error, [FORGED]); } : value;
        return Reflect.defineProperty(receiver, key, { value: own, writable: true, enumerable: true, configurable: true });
      } }));
      return () => Object.setPrototypeOf(holder, Object.prototype);
    })`,
  "another name, by replaced methods of texts": `
    const { charCodeAt, slice } = String.prototype;
    String.prototype.charCodeAt = function (...args) { return String(this) === "localhost" ? 0x5b : charCodeAt.apply(this, args); };
    String.prototype.slice = function (...args) { return String(this) === "localhost" ? FORGED : slice.apply(this, args); };
    try { return (await dns.promises.lookup("localhost", { family: 4 })).address; } finally { Object.assign(String.prototype, { charCodeAt, slice }); }`,
};
const WORDS = Object.fromEntries(
  ["HOSTALIASES", "LOCALDOMAIN", "RES_OPTIONS"].flatMap((word) => [
    [
      `${word}, for a look-up`,
      `process.env.${word} = "stolen"; try { return await dns.promises.lookup("localhost"); } finally { delete process.env.${word}; }`,
    ],
    [
      `${word}, for a connection`,
      `process.env.${word} = "stolen"; try { return await new Promise((done, failed) => { const socket = net.connect(port, "localhost", () => socket.destroy(done())).on("error", failed); }); } finally { delete process.env.${word}; }`,
    ],
  ]),
);

const asTasks = (attacks: Record<string, string>): string =>
  Object.entries(attacks)
    .map(([name, work]) => `${JSON.stringify(name)}: async () => { ${work} }`)
    .join(",\n");

async function namesMeanThemselves(node: string): Promise<void> {
  const found = await outcomes(world, asTasks(NAMES), { waitMs: 0, before: NAMES_BEFORE(), node });
  expect(found).toEqual(Object.fromEntries(Object.keys(NAMES).map((name) => [name, "127.0.0.1"])));
  const refused = await outcomes(world, asTasks(WORDS), { waitMs: 0, before: NAMES_BEFORE(), node });
  for (const [name, outcome] of Object.entries(refused))
    expect(`${name}: ${String(outcome)}`).toMatch(/ERR_ACCESS_DENIED/);
}

it("attack: the program answers for a name, or changes it, after it was decided on", () =>
  namesMeanThemselves(process.execPath));

it.each([22, 24, 26] as const)("attack: the same of names on Node %i", async (line) =>
  namesMeanThemselves(join(await obtainNode(line), "node")),
);
