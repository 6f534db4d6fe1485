/**
 * Attacks on unix sockets later than the decision on their path: the program swaps a folder of it for a link before the native
 * handle gets there, or before Node comes back to it, and binds by handles of its own while a server is let bind.
 */
import { chmodSync, lstatSync, readdirSync } from "node:fs";
import { once } from "node:events";
import { type Server, createServer } from "node:net";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { obtainNode } from "../../tools/nodes.mjs";
import { type GuardedWorld, openWorld, outcomes } from "./guarded-process.ts";
import { freePort } from "./loopback.ts";
import { worldOfFile } from "./world-of-file.ts";

let world: GuardedWorld;
let service: Server;
let ports: Readonly<Record<"open" | "closed", number>>;
/** Whether somebody came to the service in the secret place. */
let visits = 0;

worldOfFile(async (preload) => {
  ports = { open: await freePort(), closed: await freePort() };
  world = await openWorld(preload, (folder) => [
    entry("network", "connect", `127.0.0.1:${ports.open}`),
    ...["unlink", "exit", "chmod", "linked", "dial", "listen", "plain"].flatMap((name) =>
      ["a.txt", "new"].map((file) => entry("network", "connect", `unix:${folder}/all/${name}/${file}`)),
    ),
  ]);
  chmodSync(join(world.places.secret, "a.txt"), 0o600);
  service = createServer((socket) => {
    visits++;
    socket.on("error", () => undefined).end("secret a");
  });
  service.listen(join(world.places.secret, "new"));
  await once(service, "listening");
  return world;
});
afterAll(() => void service.close());

const stateOf = (folder: string): unknown =>
  readdirSync(folder).map((name) => [name, lstatSync(join(folder, name)).mode]);

const BEFORE = (): string => `
const net = require("net");
const ports = ${JSON.stringify(ports)};
fs.rmSync(at.all, { recursive: true });
fs.mkdirSync(at.all);
const folderOf = (name) => { const folder = at.all + "/" + name; fs.mkdirSync(folder); return folder; };
const swap = (folder) => { fs.renameSync(folder, folder + "-kept"); fs.symlinkSync(at.secret, folder); };
const listening = (server, ...args) => new Promise((done, failed) => server.on("error", failed).listen(...args, () => done(server)));
const closed = (server) => new Promise((done) => server.close(done));
/** A handle of the program's own, of the class that a server shows. */
const handleLike = async (...args) => { const server = await listening(net.createServer(), ...args); const { constructor } = server._handle; await closed(server); return new constructor(1); };
`;

const ATTACKS = {
  "the file in the place of a socket is removed when that is closed": `
    const folder = folderOf("unlink");
    const server = await listening(net.createServer(), folder + "/a.txt");
    swap(folder);
    await closed(server);
    return fs.readdirSync(folder + "-kept").join()`,
  "the file in the place of a socket is opened to everybody": `
    const folder = folderOf("chmod");
    const server = await listening(net.createServer(), folder + "/a.txt");
    swap(folder);
    try { return server._handle.fchmod(3); } finally { await closed(server); }`,
  "a link in the place of a socket": `
    const folder = folderOf("linked");
    const server = await listening(net.createServer(), folder + "/a.txt");
    fs.renameSync(folder + "/a.txt", folder + "/b");
    fs.symlinkSync(at.secret + "/a.txt", folder + "/a.txt");
    try { return server._handle.fchmod(3); } finally { await closed(server); }`,
  "a folder that is swapped while a socket is told that it connects": `
    const folder = folderOf("dial");
    const server = await listening(net.createServer(), folder + "/new");
    const socket = new net.Socket();
    let told;
    Object.defineProperty(socket, "connecting", { configurable: true, get: () => told, set(value) { if (told === undefined) swap(folder); told = value; } });
    try { return await new Promise((done, failed) => socket.on("error", failed).on("data", (data) => done(String(data))).connect(folder + "/new")); } finally { socket.destroy(); await closed(server); }`,
  "a folder that is swapped while a server is told that it listens": `
    const folder = folderOf("listen");
    const server = net.createServer();
    let number = 1;
    Object.defineProperty(server, "_listeningId", { configurable: true, get: () => number, set(value) { if (number === 1) swap(folder); number = value; } });
    return listening(server, folder + "/a.txt").then(closed)`,
  "another end, by a handle of its own while a server is let bind": `
    const own = await handleLike(ports.open, "127.0.0.1");
    const server = net.createServer();
    let handle, outcome;
    Object.defineProperty(server, "_handle", { configurable: true, set(value) { handle = value; }, get() {
      if (handle === undefined && outcome === undefined && new Error().stack.includes("setupListenHandle")) {
        outcome = "";
        try { outcome = "bound: " + own.bind("127.0.0.1", ports.closed) + own.listen(1); } catch (error) { outcome = error.code; }
      }
      return handle;
    } });
    await listening(server, ports.open, "127.0.0.1");
    await closed(server);
    own.close();
    return outcome`,
  "a file, by a path that a connection names as its own end": `
    const own = await handleLike(folderOf("plain") + "/new");
    const socket = new net.Socket().on("error", () => {});
    try { socket.connect({ host: "127.0.0.1", port: ports.open, localAddress: at.secret + "/made" }); } catch {}
    try { return own.bind(at.secret + "/made"); } finally { own.close(); socket.destroy(); }`,
};

async function allHeld(node: string): Promise<void> {
  const { secret } = world.places;
  const before = stateOf(secret);
  visits = 0;
  const tasks = Object.entries(ATTACKS).map(
    ([name, work]) => `${JSON.stringify(name)}: async () => { ${work} }`,
  );
  const found = await outcomes(world, tasks.join(",\n"), { waitMs: 0, before: BEFORE(), node });
  expect(Object.keys(found)).toEqual(Object.keys(ATTACKS));
  expect(JSON.stringify(found)).not.toMatch(/secret a|bound: 0/);
  const exit = `exit: async () => {
    const folder = folderOf("exit");
    await listening(net.createServer(), folder + "/a.txt");
    swap(folder);
    fs.writeSync(1, "{}");
    process.exit(0);
  }`;
  await outcomes(world, exit, { waitMs: 0, before: BEFORE(), node });
  expect(stateOf(secret)).toEqual(before);
  expect(visits).toBe(0);
}

it("attack: a path that leads elsewhere by the time that a socket gets there", () =>
  allHeld(process.execPath));

it.each([22, 24, 26] as const)("attack: the same on Node %i", async (line) =>
  allHeld(join(await obtainNode(line), "node")),
);

it("a socket is made, opened to everybody, connected to and removed where it was declared", async () => {
  const found = await outcomes(
    world,
    `served: async () => {
       const folder = folderOf("plain");
       const server = await listening(net.createServer((socket) => socket.end("served")), { path: folder + "/new", readableAll: true, writableAll: true });
       const mode = (fs.lstatSync(folder + "/new").mode & 0o666).toString(8);
       const text = await new Promise((done, failed) => net.connect(folder + "/new").on("error", failed).on("data", (data) => done(String(data))));
       const address = server.address() === folder + "/new";
       await closed(server);
       return [mode, text, address, fs.readdirSync(folder).length].join();
     },
     absent: () => new Promise((done) => net.connect(at.all + "/plain/new").on("error", ({ message }) => done(message.replace(at.all, "")))),
     nowhere: () => listening(net.createServer(), at.all + "/listen/new").catch(({ code, message }) => [code, message.replace(at.all, "")].join())`,
    { waitMs: 0, before: BEFORE() },
  );
  expect(found).toEqual({
    served: "666,served,true,0",
    absent: "connect ENOENT /plain/new",
    nowhere: "EACCES,listen EACCES: permission denied /listen/new",
  });
});
