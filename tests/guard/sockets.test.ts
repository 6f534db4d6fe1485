/** Raw connections of a guarded process: decided as network connect, and opened to what was checked. */
import { once } from "node:events";
import { type AddressInfo, type Server, createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ADMIN, adminCaller, entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { type GuardedWorld, openWorld, outcomes } from "./guarded-process.ts";
import { preloadOfFile } from "./world-of-file.ts";

let world: GuardedWorld;
let declared: Server;
let other: Server;
let unix: Server;
let ports: { readonly declared: number; readonly other: number };

const listening = async (server: Server, at: number | string): Promise<Server> => {
  server.listen(...((typeof at === "string" ? [at] : [at, "127.0.0.1"]) as [number, string]));
  await once(server, "listening");
  return server;
};
const greeter = (): Server => createServer((socket) => void socket.on("error", () => undefined).end("hello"));

const preload = preloadOfFile();

beforeEach(async () => {
  declared = await listening(greeter(), 0);
  other = await listening(greeter(), 0);
  const port = ({ port: found }: AddressInfo): number => found;
  ports = { declared: port(declared.address() as AddressInfo), other: port(other.address() as AddressInfo) };
  world = await openWorld(preload, (folder) => [
    entry("network", "connect", `localhost:${ports.declared}`),
    entry("network", "connect", `unix:${join(folder, "all", "declared.sock")}`),
  ]);
  unix = await listening(greeter(), join(world.places.all, "declared.sock"));
});
afterEach(async () => {
  for (const server of [declared, other, unix]) server.close();
  await world.close();
});

const BEFORE = (): string => `
const net = require("net");
const ports = ${JSON.stringify(ports)};
const heard = (socket) => new Promise((done, failed) => { let text = ""; socket.on("error", failed).on("data", (chunk) => (text += chunk)).on("end", () => done(text)); });
`;

it("opens what is declared, by address, by name and by path, and what is written meanwhile arrives", async () => {
  const found = await outcomes(
    world,
    `address: () => heard(net.connect(ports.declared, "127.0.0.1")),
     name: () => heard(net.connect({ port: ports.declared, host: "localhost", family: 4 })),
     spelled: () => heard(net.connect(String(ports.declared), "0x7f.1")),
     mapped: () => heard(net.connect(ports.declared, "::ffff:127.0.0.1")),
     path: () => heard(net.connect(at.all + "/declared.sock")),
     written: () => { const socket = net.connect({ port: ports.declared, host: "localhost", family: 4 }); socket.write("early"); return heard(socket); },
     called: () => new Promise((done) => { const socket = net.createConnection(ports.declared, "127.0.0.1", () => { done(socket.remoteAddress); socket.destroy(); }); }),
     looked: () => require("dns").promises.lookup("127.0.0.1").then(({ address }) => address)`,
    { before: BEFORE() },
  );
  expect(found).toEqual({
    address: "hello",
    name: "hello",
    spelled: "hello",
    mapped: "hello",
    path: "hello",
    written: "hello",
    called: "127.0.0.1",
    looked: "127.0.0.1",
  });
});

it("attack: another port, an own look-up, options that flip, and a socket that connects again are refused", async () => {
  const reached: number[] = [];
  other.on("connection", () => reached.push(1));
  const found = await outcomes(
    world,
    `port: () => heard(net.connect(ports.other, "127.0.0.1")),
     lookup: () => heard(net.connect({ port: ports.other, host: "localhost", lookup: (host, options, found) => found(null, "127.0.0.1", 4) })),
     flips: () => { let reads = 0; return heard(net.connect({ get port() { return reads++ < 1 ? ports.other : ports.other; }, host: "127.0.0.1" })); },
     again: () => { const socket = new net.Socket(); socket.connect(ports.declared, "127.0.0.1"); return heard(new net.Socket().connect(ports.other, "127.0.0.1")); },
     array: () => heard(new net.Socket().connect([{ port: ports.other, host: "127.0.0.1" }, null])),
     tls: () => heard(require("tls").connect(ports.other, "127.0.0.1"))`,
    { before: BEFORE(), waitMs: 0 },
  );
  for (const [name, outcome] of Object.entries(found))
    expect(`${name}: ${String(outcome)}`).toMatch(/ERR_ACCESS_DENIED approval_\w+ connect$/);
  expect(reached).toEqual([]);
});

it("a connection waits for a person, and goes on", async () => {
  const found = outcomes(world, `asked: () => heard(net.connect(ports.other, "127.0.0.1"))`, {
    before: BEFORE(),
  });
  const { fixture } = world;
  const requests = async () => (await fixture.service.list.requests(adminCaller())).rows;
  while ((await requests()).length === 0) await new Promise((resolve) => setImmediate(resolve));
  const [request] = await requests();
  expect(request?.resource).toMatchObject({ type: "network", operation: "connect" });
  const by = await fixture.shown(request?.id);
  await fixture.runtime.runAsHost(ADMIN, () => fixture.sdk.access.approvePermanently(by));
  expect(await found).toEqual({ asked: "hello" });
});
