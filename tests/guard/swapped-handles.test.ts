/** A native handle belongs to the connection that it was dialled for: lent to another socket it carries nothing. */
import { type Server, createServer } from "node:http";
import { type Server as NetServer, createServer as createRaw } from "node:net";
import { afterAll, beforeEach, expect, it } from "vitest";
import { entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { type GuardedWorld, openWorld, start } from "./guarded-process.ts";
import { listening } from "./loopback.ts";
import { worldOfFile } from "./world-of-file.ts";

let world: GuardedWorld;
/** Where a part may be read, where another part may be read, and where anything may be written. */
let servers: { readonly shop: Server; readonly bank: Server; readonly raw: NetServer };
let ports: { readonly shop: number; readonly bank: number; readonly raw: number };
/** What reached the bank. */
let seen: string[] = [];

worldOfFile(async (preload) => {
  servers = {
    shop: createServer((_request, response) => response.end("shop")),
    bank: createServer(({ method, url }, response) => {
      seen.push(`${method} ${url}`);
      response.end("bank");
    }),
    raw: createRaw((socket) => void socket.on("error", () => undefined).resume()),
  };
  servers.bank.on("clientError", (error: Error & { rawPacket?: Buffer }, socket) => {
    seen.push(`not HTTP: ${error.rawPacket?.toString("latin1")}`);
    socket.destroy();
  });
  const { shop, bank, raw } = servers;
  ports = { shop: await listening(shop), bank: await listening(bank), raw: await listening(raw) };
  world = await openWorld(preload, () => [
    entry("network", "receive", `http://127.0.0.1:${ports.shop}/open/`),
    entry("network", "receive", `http://127.0.0.1:${ports.bank}/rates/`),
    entry("network", "connect", `127.0.0.1:${ports.raw}`),
  ]);
  return world;
});
afterAll(() => {
  servers.shop.closeAllConnections();
  servers.bank.closeAllConnections();
  for (const server of Object.values(servers)) server.close();
});
beforeEach(() => void (seen = []));

const BEFORE = (): string => `
const http = require("http");
const net = require("net");
const agents = { shop: new http.Agent({ keepAlive: true }), bank: new http.Agent({ keepAlive: true }) };
const ports = ${JSON.stringify(ports)};
const turn = () => new Promise((done) => setImmediate(done));
/** The connection of an allowed request, which is free now. */
const idle = async (name, path) => {
  let socket;
  await new Promise((done, failed) => {
    http.get({ host: "127.0.0.1", port: ports[name], path, agent: agents[name] }, (response) => response.resume().on("end", done))
      .on("error", failed).on("socket", (given) => (socket = given));
  });
  await turn();
  return socket.on("error", () => undefined);
};
const head = (method, path, name) => method + " " + path + " HTTP/1.1\\r\\nHost: 127.0.0.1:" + ports[name] + "\\r\\n\\r\\n";
/** WHY: Node itself does not always bear what is done to it here; the servers tell what came of it. */
process.on("uncaughtException", () => undefined);
`;

/** What the program did to the bank, beside what it may. */
async function harmBy(work: string): Promise<readonly string[]> {
  const source = `${BEFORE()}
(async () => { ${work} })().catch((error) => console.log(error.code)).finally(() => setTimeout(() => process.exit(0), 300));`;
  const { stdout } = await start(world, source, { waitMs: 0 }).ended;
  expect(seen).toContain("GET /rates/a");
  return [...seen.filter((line) => line !== "GET /rates/a"), stdout.trim()];
}

it.each([
  ["that was asked for before", `"/open/a"`],
  ["of another text", `"/open/money"`],
])("attack: a request %s leaves by the connection of a server where it is not allowed", async (_, path) => {
  const harm = await harmBy(
    `const shop = await idle("shop", "/open/a"); const bank = await idle("bank", "/rates/a");
     shop._handle = bank._handle;
     shop.write(head("GET", ${path}, "shop"), "latin1");`,
  );
  expect(harm).toEqual(["ERR_ACCESS_DENIED"]);
});

it("attack: the same as bytes", async () => {
  const harm = await harmBy(
    `const shop = await idle("shop", "/open/a"); const bank = await idle("bank", "/rates/a");
     shop._handle = bank._handle;
     shop.write(Buffer.from(head("GET", "/open/bytes", "shop")));`,
  );
  expect(harm).toEqual(["ERR_ACCESS_DENIED"]);
});

it.each([
  [
    "lent while it is decided",
    `const lent = net.connect({ host: "127.0.0.1", port: ports.raw }); lent._handle = handle;`,
  ],
  ["handed over", `new net.Socket({ handle }).connect({ host: "127.0.0.1", port: ports.raw });`],
])("attack: the right to connect elsewhere frees a connection that is %s", async (_, lend) => {
  const harm = await harmBy(
    `const bank = await idle("bank", "/rates/a"); const handle = bank._handle;
     ${lend}
     await new Promise((done) => setTimeout(done, 300));
     handle.writeLatin1String({ oncomplete() {}, handle, async: false }, head("POST", "/transfer", "bank"));`,
  );
  expect(harm).toEqual(["ERR_ACCESS_DENIED"]);
});
