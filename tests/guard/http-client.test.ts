/** HTTP of a guarded process: each request is decided by what stands on the wire, whichever client wrote it. */
import { type IncomingMessage, type Server, createServer } from "node:http";
import { afterAll, beforeEach, expect, it } from "vitest";
import { ADMIN, adminCaller, entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { type GuardedWorld, openWorld, outcomes } from "./guarded-process.ts";
import { listening } from "./loopback.ts";
import { worldOfFile } from "./world-of-file.ts";

let world: GuardedWorld;
let server: Server;
let port: number;
/** What the server was asked for, as it stood on the wire. */
let seen: string[] = [];

const told = ({ method, url }: IncomingMessage): void => void seen.push(`${method} ${url}`);

worldOfFile(async (preload) => {
  server = createServer((request, response) => {
    told(request);
    if (request.url === "/open/away") {
      response.writeHead(302, { location: "/closed" }).end();
      return;
    }
    request.resume().on("end", () => response.end(`hello ${request.url}`));
  });
  server.on("upgrade", (request, socket) => {
    told(request);
    socket.end("HTTP/1.1 400 Bad Request\r\n\r\n");
  });
  server.on("clientError", (_error, socket) => socket.destroy());
  port = await listening(server);
  world = await openWorld(preload, () => [
    entry("network", "receive", `http://localhost:${port}/open/`),
    entry("network", "send", `http://localhost:${port}/post/`),
  ]);
  return world;
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});
beforeEach(() => void (seen = []));

const BEFORE = (): string => `
const http = require("http"), net = require("net");
const port = ${port};
const text = async (stream) => { let all = ""; for await (const chunk of stream) all += chunk; return all; };
const ask = (options, body) => new Promise((done, failed) => {
  const request = http.request({ host: "localhost", port, family: 4, ...options }, (response) => text(response).then((all) => done(response.statusCode + " " + all), failed));
  request.on("error", failed).end(body);
});
const get = (path, more) => ask({ path, ...more });
const cause = (error) => { throw error.cause ?? error; };
const asked = (path, init) => fetch(url(path), init).then((answer) => answer.text(), cause);
const url = (path) => "http://localhost:" + port + path;
`;

it("a request that is declared goes through, by name, by address, by any client of Node", async () => {
  const found = await outcomes(
    world,
    `name: () => get("/open/a?b=1"),
     address: () => get("/open/b", { host: "127.0.0.1" }),
     head: () => ask({ path: "/open/h", method: "HEAD" }),
     post: () => ask({ path: "/post/a", method: "POST" }, "some body"),
     chunked: () => ask({ path: "/post/c", method: "PUT", headers: { "transfer-encoding": "chunked" } }, "some body"),
     fetched: () => asked("/open/f"),
     sent: () => asked("/post/f", { method: "POST", body: "body" }),
     streamed: () => asked("/post/s", { method: "POST", duplex: "half", body: new ReadableStream({ start(to) { to.enqueue(Buffer.from("part")); to.close(); } }) })`,
    { before: BEFORE(), waitMs: 0 },
  );
  expect(found).toEqual({
    name: "200 hello /open/a?b=1",
    address: "200 hello /open/b",
    head: "200 ",
    post: "200 hello /post/a",
    chunked: "200 hello /post/c",
    fetched: "hello /open/f",
    sent: "hello /post/f",
    streamed: "hello /post/s",
  });
});

it("a fetch waits for a person, also where a connection is open already, and goes on", async () => {
  const found = outcomes(
    world,
    `opened: () => asked("/open/first"),
     waited: () => asked("/asked/later"),
     again: () => asked("/asked/later")`,
    { before: BEFORE() },
  );
  const { fixture } = world;
  const pending = async () =>
    (await fixture.service.list.requests(adminCaller())).rows.find(
      ({ resource, status }) => status === "pending" && resource.target.endsWith("/asked/later"),
    );
  while ((await pending()) === undefined) await new Promise((resolve) => setImmediate(resolve));
  const request = await pending();
  expect(request?.resource).toMatchObject({ type: "network", operation: "receive" });
  const by = await fixture.shown(request?.id);
  await fixture.runtime.runAsHost(ADMIN, () => fixture.sdk.access.approvePermanently(by));
  expect(await found).toEqual({
    opened: "hello /open/first",
    waited: "hello /asked/later",
    again: "hello /asked/later",
  });
  expect(seen).toEqual(["GET /open/first", "GET /asked/later", "GET /asked/later"]);
});
