/**
 * Attacks below the functions of Node: the native objects that sockets, resolvers and watchers stand on, descriptors by their
 * number, native code that TLS loads, and program code that runs between a decision and what it was for.
 */
import { mkdirSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { obtainNode } from "../../tools/nodes.mjs";
import { allRefused } from "./attack-world.ts";
import { type GuardedWorld, openWorld, outcomes } from "./guarded-process.ts";
import { listening } from "./loopback.ts";
import { preloadOfFile } from "./world-of-file.ts";

const preload = preloadOfFile();
const seen: string[] = [];
const server = createServer((request, response) => {
  seen.push(`${request.method} ${request.url}`);
  response.end("ok");
});
let world: GuardedWorld;
let before: string;

beforeAll(async () => {
  const port = await listening(server);
  const operations = ["read", "create", "modify", "delete"] as const;
  world = await openWorld(preload, (folder) => [
    entry("network", "receive", `http://localhost:${port}/open/`),
    ...operations.map((operation) => entry("filesystem", operation, `${folder}/code/data/`)),
  ]);
  mkdirSync(join(world.places.code, "data"));
  before = `
    const port = ${port};
    /** Works on a connection that was opened for a declared request. */
    const opened = async (work) => {
      const http = require("http");
      const agent = new http.Agent({ keepAlive: true });
      try {
        const socket = await new Promise((done, failed) => {
          const request = http.get({ host: "localhost", port, path: "/open/a", agent }, (response) => response.resume().on("end", () => done(request.socket)));
          request.on("error", failed);
        });
        const result = await work(socket);
        await new Promise((done) => setTimeout(done, 100));
        return result;
      } finally { agent.destroy(); }
    };
    const STOLEN = "POST /stolen HTTP/1.1\\r\\nHost: localhost:" + port + "\\r\\nContent-Length: 0\\r\\n\\r\\n";`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await world.close();
});

const HANDLES = {
  "a datagram by the native object, with methods that were taken before the first call": `
    const dgram = require("dgram");
    const socket = dgram.createSocket("udp4");
    try {
      const state = socket[Object.getOwnPropertySymbols(socket).find((key) => key.description === "state symbol")];
      const { bind, connect, send } = Object.getPrototypeOf(state.handle);
      bind.call(state.handle, "0.0.0.0", 0, 0); state.bindState = 2;
      connect.call(state.handle, "127.0.0.1", port); state.connectState = 2;
      state.handle.send = send;
      return await new Promise((done) => socket.send("stolen", done));
    } finally { socket.close(); }`,
  "another name server, told to the native object": `
    return new (require("dns").Resolver)()._handle.setServers([[4, "127.0.0.1", 53]])`,
  "another name than the one that was decided on, by the native object": `
    const resolver = new (require("dns").Resolver)({ timeout: 100, tries: 1 });
    const { queryA } = Object.getPrototypeOf(resolver._handle);
    return queryA.call(resolver._handle, {}, "stolen.example")`,
  "another place, by the class of a watcher": `
    const watcher = fs.watch(at.reads, () => {});
    try { return new watcher._handle.constructor().start(at.secret, false, false, "utf8"); } finally { watcher.close(); }`,
  "another file, by the class of a watched one": `
    const watched = fs.watchFile(at.reads + "/a.txt", () => {});
    try { return new watched._handle.constructor(false).start(at.secret + "/a.txt", 100); } finally { fs.unwatchFile(at.reads + "/a.txt"); }`,
  "native code as an engine of TLS": `
    return require("tls").createSecureContext({ clientCertEngine: at.all + "/engine.so" })`,
  "native code as the engine of a key": `
    return require("tls").createSecureContext({ privateKeyEngine: at.all + "/engine.so", privateKeyIdentifier: "x" })`,
  "hooks of promises, which run in the middle of the guard": `
    return require("v8").promiseHooks.onInit(() => {})`,
  "all hooks of promises": `
    return require("v8").promiseHooks.createHook({ before() {} })`,
};

const NUMBERS = {
  "a request that is written by the number of the connection": `
    return opened((socket) => fs.writeSync(socket._handle.fd, STOLEN))`,
  "the same, later": `
    return opened((socket) => new Promise((done, failed) => fs.write(socket._handle.fd, STOLEN, (error) => (error ? failed(error) : done("through")))))`,
  "the same, as a file": `
    return opened((socket) => fs.writeFileSync(socket._handle.fd, STOLEN))`,
  "the connection as another socket": `
    return opened((socket) => void new (require("net").Socket)({ fd: socket._handle.fd }).write(STOLEN))`,
  "the gate as a socket": `
    for (let fd = 3; fd < 40; fd++) {
      try { new (require("net").Socket)({ fd }); } catch (error) { if (error.code === "EBADF") throw error; }
    }
    return "through"`,
};

const BETWEEN = {
  "a file that is swapped for a link by the filter of a copy": `
    const file = at.all + "/swapped", copy = at.all + "/copied";
    fs.writeFileSync(file, "x");
    fs.cpSync(file, copy, { dereference: true, filter() { fs.unlinkSync(file); fs.symlinkSync(at.secret + "/a.txt", file); return true; } });
    return fs.readFileSync(copy)`,
  "a folder above it": `
    const folder = at.all + "/above", copy = at.all + "/copied-too";
    fs.mkdirSync(folder);
    fs.writeFileSync(folder + "/a.txt", "x");
    fs.cpSync(folder + "/a.txt", copy, { filter() { fs.rmSync(folder, { recursive: true }); fs.symlinkSync(at.secret, folder); return true; } });
    return fs.readFileSync(copy)`,
  "a folder that is copied into": `
    const folder = at.all + "/below";
    fs.mkdirSync(folder);
    fs.cpSync(at.reads + "/a.txt", folder + "/new.txt", { filter() { fs.rmdirSync(folder); fs.symlinkSync(at.secret, folder); return true; } });`,
  "a file that is swapped for a link while it is loaded as code": `
    const file = at.code + "/data/loaded.js", own = fs.readFileSync;
    let code;
    fs.writeFileSync(file, "1");
    fs.readFileSync = function (...args) {
      if (args[0] === file && fs.lstatSync(file).isFile()) { fs.unlinkSync(file); fs.symlinkSync(at.secret + "/a.txt", file); }
      return own.apply(this, args);
    };
    try { require.extensions[".js"]({ _compile(text) { code = text; }, paths: [], filename: file, exports: {} }, file); } finally { fs.readFileSync = own; }
    return code`,
  "the same, as the loader of Node 20 reads": `
    const file = at.code + "/data/imported.mjs";
    fs.writeFileSync(file, "1");
    for (let index = 0; index < 8; index++) require("crypto").pbkdf2("a", "b", 200000, 32, "sha512", () => {});
    const read = fs.promises.readFile(require("url").pathToFileURL(file));
    fs.unlinkSync(file);
    fs.symlinkSync(at.secret + "/a.txt", file);
    return await read`,
};

describe("attack: the native objects below Node's functions", () => {
  it("ask, send, watch and load nothing by themselves", () => allRefused(world, HANDLES, before));
});

describe("attack: descriptors by their number", () => {
  it("reach neither the gate nor a connection that was opened for requests", async () => {
    await allRefused(world, NUMBERS, before);
    expect(seen).not.toContain("POST /stolen");
  });
});

describe("attack: the program runs between the decision and what it was for", () => {
  it("and what it put there is decided on itself", () => allRefused(world, BETWEEN, before));
});

it.each([22, 24, 26] as const)("attack: all of these on Node %i", async (line) => {
  const tasks = Object.entries({ ...HANDLES, ...NUMBERS, ...BETWEEN }).map(
    ([name, work]) => `${JSON.stringify(name)}: async () => { ${work} }`,
  );
  const node = join(await obtainNode(line), "node");
  const cleared = `${before} fs.rmSync(at.all, { recursive: true }); fs.mkdirSync(at.all); for (const name of fs.readdirSync(at.code + "/data")) fs.unlinkSync(at.code + "/data/" + name);`;
  const found = await outcomes(world, tasks.join(",\n"), { waitMs: 0, node, before: cleared });
  for (const [name, outcome] of Object.entries(found))
    expect(`${name}: ${String(outcome)}`).toMatch(/ERR_ACCESS_DENIED|EBADF|ERR_FS_EISDIR/);
  expect(JSON.stringify(found)).not.toContain("secret a");
  expect(seen).not.toContain("POST /stolen");
});
