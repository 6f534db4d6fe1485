/**
 * Attacks by methods and constructors that no module exports: whoever has an object has its class, and with it every class
 * behind it. Each of them passed until it was looked at.
 */
import { type Socket, createSocket } from "node:dgram";
import { once } from "node:events";
import { chmodSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createHttp2 } from "node:http2";
import { createServer as createHttps } from "node:https";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { NODES, obtainNode } from "../../tools/nodes.mjs";
import { type GuardedWorld, type StartOptions, openWorld, outcomes } from "./guarded-process.ts";
import { listening } from "./loopback.ts";
import { preloadOfFile } from "./world-of-file.ts";

const preload = preloadOfFile();
/** WHY: a shared key in place of a certificate, which would have to be made first. */
const KEY = "00112233445566778899aabbccddeeff";
const PRIVATE = 0o600;
/** What reached the servers. */
let seen: string[] = [];
const told = (request: { readonly method?: string | undefined; readonly url?: string | undefined }): void =>
  void seen.push(`${request.method} ${request.url}`);
const plain = createServer((request, response) => (told(request), response.end("ok")));
const secure = createHttps(
  { ciphers: "PSK", maxVersion: "TLSv1.2", pskCallback: () => Buffer.from(KEY, "hex") },
  (request, response) => (told(request), response.end("ok")),
);
const streams = createHttp2((request, response) => (told(request), response.end("ok")));
let datagrams: Socket;
let world: GuardedWorld;
let before: string;

beforeAll(async () => {
  for (const server of [secure, streams])
    server.on("tlsClientError", () => undefined).on("sessionError", () => undefined);
  datagrams = createSocket("udp4").bind(0, "127.0.0.1");
  await once(datagrams, "listening");
  const ports = {
    plain: await listening(plain),
    secure: await listening(secure),
    streams: await listening(streams),
  };
  const declared = (folder: string) => [
    entry("network", "receive", `http://localhost:${ports.plain}/open/`),
    entry("network", "receive", `https://localhost:${ports.secure}/open/`),
    entry("network", "receive", `http://127.0.0.1:${ports.streams}/open/`),
    entry("network", "connect", `unix:${folder}/all/socket`),
  ];
  world = await openWorld(preload, declared, {}, ["worker_threads", "vm", "wasi"]);
  const { secret } = world.places;
  writeFileSync(join(secret, "package.json"), `{ "name": "secret a", "main": "secret a" }`);
  writeFileSync(join(secret, "authority.pem"), rootCertificates[0] ?? "");
  before = programOf(ports);
});
afterAll(async () => {
  for (const server of [plain, secure]) server.closeAllConnections();
  for (const server of [plain, secure, streams]) server.close();
  datagrams.close();
  await world.close();
});
beforeEach(() => {
  seen = [];
  chmodSync(join(world.places.secret, "a.txt"), PRIVATE);
});

const programOf = (ports: object): string => `
const net = require("net"), http = require("http"), https = require("https"), http2 = require("http2"), tls = require("tls");
const ports = ${JSON.stringify(ports)};
const shared = { ciphers: "PSK", maxVersion: "TLSv1.2", pskCallback: () => ({ psk: Buffer.from("${KEY}", "hex"), identity: "a" }), checkServerIdentity() {} };
const STOLEN = "POST /stolen HTTP/1.1\\r\\nHost: localhost:" + ports.plain + "\\r\\nContent-Length: 0\\r\\n\\r\\n";
const turns = () => new Promise((done) => setTimeout(done, 200));
const quiet = () => {};
/** One of Node's own names for what it keeps on an object. */
const keyOf = (object, name) => { for (let one = object; one; one = Object.getPrototypeOf(one)) for (const key of Object.getOwnPropertySymbols(one)) if (key.description === name) return key; };
const written = (stream, data = STOLEN) => new Promise((done, failed) => stream.on("error", failed).write(data, (error) => (error ? failed(error) : done("through"))));
/** Works on a connection that was opened for a declared request. */
const opened = async (work) => {
  const agent = new http.Agent({ keepAlive: true });
  try {
    const socket = await new Promise((done, failed) => {
      const request = http.get({ host: "localhost", port: ports.plain, path: "/open/a", agent }, (response) => response.resume().on("end", () => done(request.socket)));
      request.on("error", failed);
    });
    const result = await work(socket);
    await turns();
    return result;
  } finally { agent.destroy(); }
};
const received = (value, list) => new Promise((done, failed) => {
  const { port1, port2 } = new MessageChannel();
  const end = (tell) => (one) => { port1.close(); tell(one); };
  port2.once("message", end(done));
  try { port1.postMessage(value, list); } catch (error) { end(failed)(error); }
});
`;

const NUMBERS = {
  "a request by a terminal that stands on the number of the connection": `
    return opened((socket) => written(new (require("tty").WriteStream)(socket._handle.fd)))`,
  "the same, by a class that inherits": `
    class Own extends require("tty").ReadStream {}
    return opened((socket) => written(new Own(socket._handle.fd)))`,
  "the same, as a function": `
    return opened((socket) => written(require("tty").WriteStream(socket._handle.fd)))`,
  "the gate as a terminal": `
    for (let fd = 3; fd < 40; fd++) {
      try { new (require("tty").ReadStream)(fd).on("error", quiet); } catch (error) { if (error.code === "EBADF") throw error; }
    }
    return "through"`,
  "the gate as a socket of datagrams": `
    const shown = require("dgram").createSocket("udp4");
    try {
      const { handle } = shown[keyOf(shown, "state symbol")];
      for (let fd = 3; fd < 40; fd++) if (new handle.constructor().open(fd) === 0) return "through";
      return "none";
    } finally { shown.close(); }`,
};

const HANDLES = {
  "the mode of another file, by a link where a server listens": `
    const path = at.all + "/socket", server = net.createServer().listen(path);
    await new Promise((done, failed) => server.on("error", failed).on("listening", done));
    try {
      fs.unlinkSync(path);
      fs.symlinkSync(at.secret + "/a.txt", path);
      return "changed " + server._handle.fchmod(3);
    } finally { fs.unlinkSync(path); server.close(); }`,
  "a request by TLS that was put on the handle before it was connected": `
    const other = new tls.TLSSocket(undefined, { ...shared, secureContext: tls.createSecureContext(shared) });
    const createConnection = (options) => {
      const own = new tls.TLSSocket(undefined, { ...shared, secureContext: tls.createSecureContext(shared) });
      other[keyOf(other, "kReinitializeHandle")](own._handle._parent);
      return own.on("error", quiet).on("connect", () => { other.connecting = false; other._start(); other.read(0); }).connect(options);
    };
    const request = https.request({ host: "localhost", port: ports.secure, path: "/open/a", createConnection }).on("error", quiet);
    try { await turns(); const result = await written(other); await turns(); return result; } finally { request.destroy(); other.destroy(); }`,
  "a stream by a native session that took the handle over before it was connected": `
    const { Duplex } = require("stream");
    const shown = http2.connect("http://localhost", { createConnection: () => new Duplex({ read() {}, write(data, encoding, done) { done(); } }) }).on("error", quiet);
    await turns();
    const key = Object.getOwnPropertySymbols(shown).find((one) => typeof shown[one]?.consume === "function");
    const native = new shown[key].constructor(1);
    native[keyOf(shown[key], "owner_symbol")] = shown;
    let handle;
    await opened((socket) => { handle = new socket._handle.constructor(0); });
    const createConnection = (options) => { native.consume(handle); return new net.Socket({ handle, manualStart: true }).on("error", quiet).connect(options); };
    const request = http.request({ host: "127.0.0.1", port: ports.streams, path: "/open/a", createConnection }).on("error", quiet);
    try {
      await turns();
      return "asked " + typeof native.request([":method\\0POST\\0\\0:path\\0/stolen\\0\\0:scheme\\0http\\0\\0:authority\\0localhost\\0\\0", 4], 1, 0, 0, false);
    } finally { request.destroy(); shown.destroy(); }`,
  "the connection, sent to itself by a message": `
    return opened(async (socket) => written(new net.Socket({ handle: await received(socket._handle, [socket._handle]) })))`,
  "the same, as a clone": `
    return opened(async ({ _handle: handle }) => written(new net.Socket({ handle: structuredClone(handle, { transfer: [handle] }) })))`,
  "the same, by an object that says it holds it": `
    return opened(async ({ _handle: handle }) => {
      const file = await fs.promises.open(at.reads + "/a.txt");
      try {
        file[keyOf(file, "messaging_transfer_list_symbol")] = () => [handle];
        file[keyOf(file, "messaging_transfer_symbol")] = () => ({ data: { handle }, deserializeInfo: "net:Socket" });
        return await written(await received(file, [file]));
      } finally { await file.close(); }
    })`,
};

const FILES = {
  "certificates from a file that the environment was made to name": `
    process.env.SSL_CERT_FILE = at.secret + "/authority.pem";
    return tls.getCACertificates === undefined ? attempt(() => fs.readFileSync(process.env.SSL_CERT_FILE)) : "found " + tls.getCACertificates("system").length`,
  "what stands in the package of a folder": `
    return JSON.stringify(module.constructor._readPackage(at.secret))`,
};

/** Where the subject's manifest lists the module. */
const LISTED = {
  "a thread without the guard, by the class below": `
    const { Worker } = require("worker_threads");
    const shown = new Worker("0", { eval: true });
    try {
      const native = shown[keyOf(shown, "kHandle")];
      new native.constructor(null, null, null, new Float64Array(4), true, false, "own").startThread();
      return "through";
    } finally { await shown.terminate(); }`,
  "a folder for WASI, by the class below": `
    const { wasiImport } = new (require("wasi").WASI)({ version: "preview1" });
    new wasiImport.constructor([], [], ["/secret", at.secret], [0, 1, 2]);
    return "through"`,
  "a debugger, by a signal of WASI": `
    const wasi = new (require("wasi").WASI)({ version: "preview1" });
    wasi.start({ exports: { memory: new WebAssembly.Memory({ initial: 1 }), _start() {} } });
    return "raised " + wasi.wasiImport.proc_raise(10)`,
  "a port whose methods are those of another context": `
    const { port1 } = new MessageChannel();
    try { return typeof require("worker_threads").moveMessagePortToContext(port1, require("vm").createContext({})); } finally { port1.close(); }`,
};

/** What a map of sources says of where code comes from. */
const MAPPED = `
  process.setSourceMapsEnabled(true);
  const sources = [require("url").pathToFileURL(at.secret + "/a.txt").href];
  const map = Buffer.from(JSON.stringify({ version: 3, sources, names: [], mappings: "AAAA" })).toString("base64");
  const own = new module.constructor("own");
  own._compile("try { require('assert').ok(0); } catch (error) { module.exports = error.message; }\\n//# sourceMappingURL=data:application/json;base64," + map, at.code + "/own.js");
  return own.exports`;

/** Denied, no such descriptor, or nothing that this Node sends. */
const DENIED = /ERR_ACCESS_DENIED|EBADF|ERR_INVALID_TRANSFER_OBJECT|DataCloneError/;

async function allRefused(attacks: Record<string, string>, options: StartOptions): Promise<void> {
  const { secret } = world.places;
  const tasks = Object.entries(attacks).map(
    ([name, work]) => `${JSON.stringify(name)}: async () => { ${work} }`,
  );
  // WHY: what is left open by an attack that was refused half-way would keep the program.
  const ended = `"": () => void setTimeout(() => process.exit(0), 500)`;
  const found = await outcomes(world, [...tasks, ended].join(",\n"), { waitMs: 0, before, ...options });
  for (const name of Object.keys(attacks)) expect(`${name}: ${String(found[name])}`).toMatch(DENIED);
  expect(JSON.stringify(found)).not.toContain("secret a");
  expect(seen).not.toContain("POST /stolen");
  expect(statSync(join(secret, "a.txt")).mode & 0o777).toBe(PRIVATE);
}

describe.each([process.version, ...Object.keys(NODES)])("attack, on Node %s:", (line) => {
  let node: string;
  beforeAll(async () => {
    node = line.startsWith("v") ? process.execPath : join(await obtainNode(Number(line) as 22), "node");
  });

  it("no stream is made of a descriptor by its number that is the gate's, or a connection's that was opened for requests", () =>
    allRefused(NUMBERS, { node }));

  it("no handle is a way around what its connection was decided on for", () => allRefused(HANDLES, { node }));

  it("no file is read by what Node looks at by itself", () => allRefused(FILES, { node }));

  it("no line of a file that a map of sources names stands in an error, with a flag or without", async () => {
    const tasks = `mapped: async () => { ${MAPPED} }`;
    for (const flags of [[], ["--enable-source-maps"]]) {
      const { mapped } = await outcomes(world, tasks, { node, flags });
      expect(mapped).toMatch(/falsy value|0 == true/);
      expect(mapped).not.toContain("secret a");
    }
  });

  it("no class below a listed module makes what was not decided on", () =>
    allRefused(LISTED, { node, isOwn: true }));
});
