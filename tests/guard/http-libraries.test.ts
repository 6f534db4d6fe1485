/** Clients and servers that others wrote, unchanged: they work inside a fitting manifest, and are blocked outside of it. */
import { createHash } from "node:crypto";
import { type Server, createServer } from "node:http";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { obtainPackage } from "../../tools/cached-package.mjs";
import { obtainNode } from "../../tools/nodes.mjs";
import { type GuardedWorld, openWorld, outcomes } from "./guarded-process.ts";
import { freePort, listening } from "./loopback.ts";
import { worldOfFile } from "./world-of-file.ts";

const PACKAGES = {
  undici6: ["undici", "6.29.1"],
  undici7: ["undici", "7.30.2"],
  undici8: ["undici", "8.12.4"],
  axios: ["axios", "1.21.1"],
  got: ["got", "14.6.6"],
  "node-fetch": ["node-fetch", "3.3.2"],
  ws: ["ws", "8.22.2"],
  express: ["express", "5.3.0"],
  fastify: ["fastify", "5.12.8"],
  pg: ["pg", "8.23.1"],
} as const;
type Name = keyof typeof PACKAGES;

let world: GuardedWorld;
let server: Server;
let port: number;
let idlePort: number;
let folders: Readonly<Record<Name, string>>;
/** What reached the server, and the messages on its websockets. */
const seen: string[] = [];

const accept = (key: string): string =>
  createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");

beforeAll(async () => {
  const found: [string, string][] = [];
  // WHY: one after the other, since each is an own npm.
  for (const [name, [of, version]] of Object.entries(PACKAGES))
    found.push([name, await obtainPackage(of, version)]);
  folders = Object.fromEntries(found) as Record<Name, string>;
}, 600_000);
worldOfFile(async (preload) => {
  server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    if (request.url === "/open/away") response.writeHead(302, { location: "/closed/hop" }).end();
    else if (request.url?.endsWith("/events"))
      response.writeHead(200, { "content-type": "text/event-stream" }).end("data: an event\n\n");
    else request.resume().on("end", () => response.end(`hello ${request.url}`));
  });
  server.on("upgrade", (request, socket) => {
    seen.push(`${request.method} ${request.url}`);
    const key = accept(request.headers["sec-websocket-key"] as string);
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${key}\r\n\r\n`,
    );
    socket.write(Buffer.from([0x81, 2, 0x68, 0x69]));
    socket
      .on("error", () => undefined)
      .on("data", (frame) => {
        if ((frame[0] & 0x0f) >= 8) {
          socket.end(Buffer.from([0x88, 0]));
          return;
        }
        seen.push(`message on ${request.url}`);
        socket.write(Buffer.from([0x81, 3, 0x79, 0x65, 0x73]));
      });
  });
  server.on("clientError", (_error, socket) => socket.destroy());
  port = await listening(server);
  idlePort = await freePort();
  world = await openWorld(
    preload,
    () => [
      entry("network", "receive", `http://localhost:${port}/open/`),
      entry("network", "send", `http://localhost:${port}/post/`),
      entry("network", "receive", `http://localhost:${port}/post/`),
      entry("network", "connect", `127.0.0.1:${idlePort}`),
      // WHY: some of them look for files beside their code.
      ...Object.values(folders).map((folder) => entry("filesystem", "read", `${modules(folder)}/`)),
    ],
    {},
    ["worker_threads"],
  );
  return world;
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

/** The folder that holds a package and what it needs. */
const modules = (folder: string): string => dirname(folder);

const ends = (folders_: readonly string[]): string => `
const port = ${port}, idlePort = ${idlePort};
const url = (path) => "http://localhost:" + port + path;
const cause = (error) => { let one = error; while (one.cause) one = one.cause; throw one.errors?.[0] ?? one; };
const [${folders_.map((_, index) => `at${index}`).join()}] = ${JSON.stringify(folders_)};
`;

async function run(names: readonly Name[], tasks: string, node?: string): Promise<Record<string, unknown>> {
  const used = names.map((name) => folders[name]);
  return outcomes(world, tasks, {
    before: ends(used),
    waitMs: 0,
    codeRoots: used.map(modules),
    isOwn: true,
    ...(node === undefined ? {} : { node }),
  });
}

const BLOCKED = expect.stringMatching(/ERR_ACCESS_DENIED/) as unknown;

const UNDICI = `
  request: async () => (await require(at0).request(url("/open/u"))).body.text(),
  agent: async () => { const { Agent, fetch } = require(at0); const answer = await fetch(url("/open/a"), { dispatcher: new Agent({ keepAliveTimeout: 10 }) }); return answer.text(); },
  pool: async () => { const { Pool } = require(at0); const pool = new Pool("http://localhost:" + port, { connections: 2 }); const all = await Promise.all([1, 2, 3].map(async (n) => (await pool.request({ path: "/open/" + n, method: "GET" })).body.text())); await pool.close(); return all.join(); },
  post: async () => (await require(at0).request(url("/post/u"), { method: "POST", body: "data" })).body.text(),
  blocked: () => require(at0).request(url("/closed/u")).catch(cause),
  method: () => require(at0).request(url("/open/u"), { method: "POST", body: "x" }).catch(cause),
  reused: async () => { const { Client } = require(at0); const client = new Client("http://localhost:" + port); try { await (await client.request({ path: "/open/c", method: "GET" })).body.text(); return await (await client.request({ path: "/closed/c", method: "GET" })).body.text(); } catch (error) { return cause(error); } finally { await client.destroy(); } },
  hop: () => require(at0).fetch(url("/open/away")).then((answer) => answer.text(), cause)`;

it.each([
  ["undici6", undefined],
  ["undici7", undefined],
  ["undici8", 24],
] as const)("%s", async (name, line) => {
  const node = line === undefined ? undefined : join(await obtainNode(line), "node");
  expect(await run([name], UNDICI, node)).toEqual({
    request: "hello /open/u",
    agent: "hello /open/a",
    pool: "hello /open/1,hello /open/2,hello /open/3",
    post: "hello /post/u",
    blocked: BLOCKED,
    method: BLOCKED,
    reused: BLOCKED,
    hop: BLOCKED,
  });
});

it("axios, got and node-fetch", async () => {
  const found = await run(
    ["axios", "got", "node-fetch"],
    `axios: async () => (await require(at0).get(url("/open/x"))).data,
     axiosPost: async () => (await require(at0).post(url("/post/x"), { a: 1 })).data,
     axiosBlocked: () => require(at0).get(url("/closed/x")).catch(cause),
     axiosHop: () => require(at0).get(url("/open/away")).catch(cause),
     got: async () => (await import(at1 + "/dist/source/index.js")).default(url("/open/g")).text(),
     gotPost: async () => (await import(at1 + "/dist/source/index.js")).default.post(url("/post/g"), { json: { a: 1 } }).text(),
     gotBlocked: async () => (await import(at1 + "/dist/source/index.js")).default(url("/closed/g"), { retry: { limit: 0 } }).text().catch(cause),
     gotHop: async () => (await import(at1 + "/dist/source/index.js")).default(url("/open/away"), { retry: { limit: 0 } }).text().catch(cause),
     nodeFetch: async () => (await (await import(at2 + "/src/index.js")).default(url("/open/n"))).text(),
     nodeFetchBlocked: async () => (await import(at2 + "/src/index.js")).default(url("/closed/n")).catch((error) => { throw error.code === "ERR_ACCESS_DENIED" ? error : cause(error); })`,
  );
  expect(found).toEqual({
    axios: "hello /open/x",
    axiosPost: "hello /post/x",
    axiosBlocked: BLOCKED,
    axiosHop: BLOCKED,
    got: "hello /open/g",
    gotPost: "hello /post/g",
    gotBlocked: BLOCKED,
    gotHop: BLOCKED,
    nodeFetch: "hello /open/n",
    nodeFetchBlocked: BLOCKED,
  });
});

const SOCKETS = `
  const spoken = (make, path, words) => new Promise((done, failed) => {
    const socket = make("ws://localhost:" + port + path);
    const heard = [];
    socket.addEventListener("error", (event) => failed(event.error ?? event));
    socket.addEventListener("close", () => failed(new Error("closed")));
    socket.addEventListener("message", ({ data }) => { heard.push(data); if (heard.length === 1 && words) socket.send(words, (error) => error && failed(error)); else { socket.close(); done(heard.join()); } });
  });
`;

it("ws, and the WebSocket of Node", async () => {
  const tasks = (make: string): string =>
    `talks: () => spoken(${make}, "/post/ws", "hello"),
     listens: () => spoken(${make}, "/open/ws"),
     speaks: () => spoken(${make}, "/open/mute", "hello").catch(cause),
     elsewhere: () => spoken(${make}, "/closed/ws").catch(cause)`;
  const before = seen.length;
  const found = await outcomes(world, tasks("(to) => new (require(at0))(to)"), {
    before: `${ends([folders.ws])}${SOCKETS}`,
    codeRoots: [modules(folders.ws)],
    waitMs: 0,
  });
  expect(found).toEqual({ talks: "hi,yes", listens: "hi", speaks: BLOCKED, elsewhere: BLOCKED });
  const own = await outcomes(world, tasks("(to) => new WebSocket(to)"), {
    before: `${ends([])}${SOCKETS}`,
    waitMs: 0,
    node: join(await obtainNode(24), "node"),
  });
  // WHY: this one tells its program only that it was closed.
  expect(own).toMatchObject({ talks: "hi,yes", listens: "hi", speaks: expect.stringMatching(/Error$/) });
  expect(own["elsewhere"]).not.toMatch(/^hi/);
  expect(seen.slice(before).filter((line) => !/ \/(?:open|post)\//.test(line))).toEqual([]);
  expect(seen.slice(before)).not.toContain("message on /open/mute");
});

it("the EventSource of Node hears where it is declared, and nothing elsewhere", async () => {
  const before = seen.length;
  const found = await outcomes(
    world,
    `hears: () => heard("/open/events"),
     elsewhere: () => heard("/closed/events")`,
    {
      before: `${ends([])}
const heard = (path) => new Promise((done, failed) => {
  const source = new EventSource(url(path));
  source.onmessage = ({ data }) => { source.close(); done(data); };
  source.onerror = () => { source.close(); failed(new Error("closed")); };
});`,
      flags: ["--experimental-eventsource"],
      waitMs: 0,
      node: join(await obtainNode(24), "node"),
    },
  );
  expect(found).toEqual({ hears: "an event", elsewhere: "Error" });
  expect(seen.slice(before)).toEqual(["GET /open/events"]);
});

it("express and fastify listen where it is declared; pg connects where it is declared", async () => {
  const found = await run(
    ["express", "fastify", "pg"],
    `express: () => new Promise((done, failed) => { const app = require(at0)(); app.get("/", (_, answer) => answer.send("x")); const one = app.listen(idlePort, "127.0.0.1", (error) => { if (error) return failed(error); one.close(() => done("listened")); }); one.on("error", failed); }),
     expressBlocked: () => new Promise((done, failed) => { const one = require(at0)().listen(idlePort + 1, "127.0.0.1", (error) => (error ? failed(error) : done("listened"))); one.on("error", failed); }),
     fastify: async () => { const app = require(at1)(); app.get("/", async () => "x"); await app.listen({ port: idlePort, host: "127.0.0.1" }); await app.close(); return "listened"; },
     fastifyBlocked: () => require(at1)().listen({ port: 0, host: "127.0.0.1" }),
     pg: () => new (require(at2).Client)({ host: "127.0.0.1", port: idlePort, user: "a", password: "b", database: "c" }).connect().catch((error) => error.code),
     pgBlocked: () => new (require(at2).Client)({ host: "127.0.0.1", port, user: "a", password: "b", database: "c" }).connect()`,
  );
  expect(found).toEqual({
    express: "listened",
    expressBlocked: BLOCKED,
    fastify: "listened",
    fastifyBlocked: BLOCKED,
    pg: "ECONNREFUSED",
    pgBlocked: BLOCKED,
  });
});
