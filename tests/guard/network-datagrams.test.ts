/** Datagrams of a guarded process: network connect to where each goes, and to the local end that is bound. */
import { type Socket, createSocket } from "node:dgram";
import { once } from "node:events";
import { afterAll, beforeEach, expect, it } from "vitest";
import { entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { type GuardedWorld, openWorld, outcomes } from "./guarded-process.ts";
import { worldOfFile } from "./world-of-file.ts";

let world: GuardedWorld;
let declared: Socket;
let other: Socket;
/** What reached the undeclared one. */
let leaked: string[] = [];

/** Sends every datagram back. */
const echo = async (seen: (text: string) => void): Promise<Socket> => {
  const socket = createSocket("udp4", (data, { port, address }) => {
    seen(String(data));
    socket.send(data, port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return socket;
};

worldOfFile(async (preload) => {
  declared = await echo(() => undefined);
  other = await echo((text) => void leaked.push(text));
  world = await openWorld(preload, () => [
    entry("network", "connect", `localhost:${declared.address().port}`),
    entry("network", "connect", "127.0.0.2"),
  ]);
  return world;
});
afterAll(() => {
  declared.close();
  other.close();
});
beforeEach(() => void (leaked = []));

const BEFORE = (): string => `
const dgram = require("dgram");
const port = ${declared.address().port}, otherPort = ${other.address().port};
const open = (more) => dgram.createSocket({ type: "udp4", ...more });
/** What comes back after the work was done. */
const echoed = (work, socket = open()) => new Promise((done, failed) => {
  const end = (tell) => (value) => { try { socket.close(); } catch {} tell(value); };
  socket.on("error", end(failed)).on("message", (data) => end(done)(String(data)));
  try { work(socket, (error) => error && end(failed)(error)); } catch (error) { end(failed)(error); }
});
`;

it("datagrams go where it is declared, in every form of the call", async () => {
  const found = await outcomes(
    world,
    `plain: () => echoed((socket) => socket.send("plain", port, "127.0.0.1")),
     named: () => echoed((socket, told) => socket.send(Buffer.from("named"), port, "localhost", told)),
     local: () => echoed((socket, told) => socket.send("local", port, told)),
     sliced: () => echoed((socket, told) => socket.send(Buffer.from("--sliced--"), 2, 6, port, "127.0.0.1", told)),
     listed: () => echoed((socket) => socket.send([Buffer.from("li"), "sted"], port, "127.0.0.1")),
     changed: () => echoed((socket) => { const bytes = Buffer.from("before"); socket.send(bytes, port, "127.0.0.1"); bytes.fill("x"); }),
     connected: () => echoed((socket, told) => socket.connect(port, "127.0.0.1", (error) => (error ? told(error) : socket.send("connected", told)))),
     bound: () => new Promise((done, failed) => { const socket = open().on("error", failed); socket.bind(0, "127.0.0.2", () => { const { address } = socket.address(); socket.close(); done(address); }); })`,
    { before: BEFORE(), waitMs: 0 },
  );
  expect(found).toEqual({
    plain: "plain",
    named: "named",
    local: "local",
    sliced: "sliced",
    listed: "listed",
    changed: "before",
    connected: "connected",
    bound: "127.0.0.2",
  });
});

it("attack: a datagram to elsewhere, by any form, look-up or native handle, is refused", async () => {
  const found = await outcomes(
    world,
    `port: () => echoed((socket, told) => socket.send("leak", otherPort, "127.0.0.1", told)),
     silent: () => echoed((socket) => socket.send("leak", otherPort, "127.0.0.1")),
     connect: () => echoed((socket, told) => socket.connect(otherPort, "127.0.0.1", told)),
     lookup: () => echoed((socket, told) => socket.send("leak", otherPort, "declared.example", told), open({ lookup: (host, options, found) => found(null, "127.0.0.1", 4) })),
     alias: () => echoed((socket) => socket.sendto("leak", 0, 4, otherPort, "127.0.0.1")),
     address: () => echoed((socket, told) => socket.send("leak", otherPort, { toString: () => "127.0.0.1" }, told)),
     bind: () => echoed((socket) => socket.bind(0)),
     bindAt: () => echoed((socket) => socket.bind({ port: 0, address: "127.0.0.1" })),
     descriptor: () => echoed((socket) => socket.bind({ fd: 1 })),
     below: () => echoed((socket, told) => socket.send("first", port, "127.0.0.1", () => {
       const state = Object.getOwnPropertySymbols(socket).map((key) => socket[key]).find((value) => value?.handle);
       try { state.handle.send({}, [Buffer.from("leak")], 1, otherPort, "127.0.0.1", false); } catch (error) { told(error); }
     })),
     own: () => echoed((socket, told) => { const state = Object.getOwnPropertySymbols(socket).map((key) => socket[key]).find((value) => value?.handle); Object.defineProperty(state.handle, "lookup", { value: (_, found) => found(null, "127.0.0.1") }); socket.send("leak", otherPort, "127.0.0.1", told); })`,
    { before: BEFORE(), waitMs: 0 },
  );
  for (const [name, outcome] of Object.entries(found))
    expect(`${name}: ${String(outcome)}`).toMatch(/ERR_ACCESS_DENIED/);
  expect(leaked).toEqual([]);
});
