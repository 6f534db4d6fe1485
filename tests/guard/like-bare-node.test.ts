/**
 * Ordinary code cannot tell a guarded Node from a bare one where nothing is blocked: the same program runs in both, and
 * says the same. Each row was found by Node's own tests (docs/results).
 */
import { it } from "vitest";
import { entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { expectLikeBare } from "./beside-bare.ts";
import { type GuardedWorld, openWorld } from "./guarded-process.ts";
import { worldOfFile } from "./world-of-file.ts";

let world: GuardedWorld;

const HOSTS = ["localhost", "[::]", "0.0.0.0"];

worldOfFile(async (preload) => {
  const network = HOSTS.map((host) => entry("network", "connect", host));
  network.push(entry("network", "receive", "localhost"));
  const execute = entry("filesystem", "execute", "/");
  const imports = ["child_process", "wasi", "worker_threads"];
  world = await openWorld(preload, () => [...network, execute], {}, imports);
  return world;
});

const PROGRAM = `
const at = JSON.parse(process.argv[2]);
const fs = require("node:fs");
const net = require("node:net");
const { once } = require("node:events");
const told = (error) => [error.name, error.code].join(" ");
const thrown = (work) => { try { work(); return "nothing"; } catch (error) { return told(error); } };
const never = () => { throw new Error("the callback was called"); };
const file = at.all + "/a.txt";
const failed = (socket) => new Promise((done) => socket.on("error", (error) => done(told(error))));
const listened = async (...args) => {
  const server = net.createServer();
  server.listen(...args);
  await once(server, "listening");
  server.close();
  return "listening";
};
const peer = (serve) => new Promise((done) => { const server = net.createServer(serve).listen(0, () => done(server)); });
const tasks = {
  "an owner that is no number": () => thrown(() => fs.chown(file, "bad", 1, never)),
  "a group that is no number": () => thrown(() => fs.lchown(file, 1, {}, never)),
  "data that are none": () => thrown(() => fs.writeFile(file, {}, never)),
  "data as bytes": () => new Promise((done) => fs.writeFile(file, new Uint8Array([97]), { encoding: "latin1" }, (error) => done([error, fs.readFileSync(file, "latin1")]))),
  "times as dates": () => new Promise((done) => fs.utimes(file, new Date(5000), new Date(5000), (error) => done([error, fs.statSync(file).mtimeMs]))),
  "a length that is no number": () => thrown(() => fs.truncate(file, "bad", never)),
  "an encoding that is none": () => thrown(() => fs.readFile(file, { encoding: "none" }, never)),
  "a signal that is none": () => thrown(() => fs.readFile(file, { signal: "none" }, never)),
  "a mode that is none": () => thrown(() => fs.open(file, "r", "none", never)),
  "a callback in the place of the data": () => thrown(() => fs.appendFile(file, never)),
  "a link to what is no path": () => thrown(() => fs.link("", 7, never)),
  "a link of what is no path": () => thrown(() => fs.symlink(7, "", never)),
  "a URL with a NUL": () => thrown(() => fs.readFileSync(new URL("file:///a%00b"))),
  "a URL with a slash in a name": () => thrown(() => fs.readFileSync(new URL("file:///a%2Fb"))),
  "a mode as text": () => new Promise((done) => fs.open(file, "r", "0644", (error, fd) => done([error, fs.closeSync(fd)]))),
  "no endpoint": () => thrown(() => net.connect()),
  "a port that is no number": () => thrown(() => net.connect({ port: {} })),
  "a port out of range": () => thrown(() => net.connect(70000)),
  "a path that is no text": () => thrown(() => net.connect({ path: {} })),
  "a host that is no text": () => thrown(() => net.connect({ port: 1, host: 5 })),
  "a look-up that is no function": () => thrown(() => net.connect({ port: 1, lookup: "none" })),
  "hints that are none": () => thrown(() => net.connect({ port: 1, hints: 1 << 20 })),
  "a family choice that is none": () => thrown(() => net.connect({ port: 1, autoSelectFamily: "none" })),
  "a local address that is none": () => thrown(() => net.connect({ port: 1, localAddress: "none" })),
  "listening anywhere, with a callback alone": () => listened(() => undefined),
  "listening at a port as text": () => listened("0"),
  "listening at nothing": () => thrown(() => net.createServer().listen({})),
  "listening at a port that is none": () => thrown(() => net.createServer().listen({ port: -1 })),
  "listening at a descriptor that is none": () => thrown(() => net.createServer().listen({ fd: -1 })),
  "listening twice": () => { const server = net.createServer().listen(0); const again = thrown(() => server.listen(0)); server.close(); return again; },
  "closed before it listens": async () => {
    const server = net.createServer().listen(0, "localhost", never);
    server.close();
    await new Promise((done) => require("node:dns").lookup("localhost", done));
    return server.listening;
  },
  "a socket that connects": async () => {
    const server = await peer((socket) => socket.resume());
    const socket = net.connect(server.address().port);
    const first = [socket.connecting, socket._handle !== null, socket.write("early"), socket.bytesWritten, socket.pending];
    await once(socket, "connect");
    const then = [socket.connecting, socket.listenerCount("connect"), socket.listenerCount("close")];
    socket.end();
    await once(socket, "close");
    server.close();
    return [first, then];
  },
  "a socket from a local address": async () => {
    const server = await peer((socket) => socket.end(socket.remoteAddress.replace("::ffff:", "")));
    const socket = net.connect({ port: server.address().port, host: "127.0.0.1", localAddress: "127.0.0.2" });
    let text = "";
    for await (const chunk of socket) text += chunk;
    server.close();
    return text;
  },
  "a port that nobody listens at": async () => {
    const server = await peer();
    const { port } = server.address();
    await new Promise((done) => server.close(done));
    return failed(net.connect(port, "127.0.0.1"));
  },
  "a process without options": () => thrown(() => new (require("node:child_process").ChildProcess)().spawn()),
  "a thread of what is no file": () => thrown(() => new (require("node:worker_threads").Worker)({})),
  "a thread with flags that are no list": () => thrown(() => new (require("node:worker_threads").Worker)("/none.js", { execArgv: "none" })),
  "a thread with an environment that is none": () => thrown(() => new (require("node:worker_threads").Worker)("/none.js", { env: 5 })),
  "a socket that connects again": async () => {
    let count = 0;
    const server = await peer((socket) => { count++; socket.end(); });
    const socket = new net.Socket();
    for (let times = 0; times < 2; times++) {
      socket.connect(server.address().port, "127.0.0.1").resume();
      await once(socket, "close");
    }
    server.close();
    return count;
  },
  "calls that start no process": () => {
    const { execFileSync, execSync, spawnSync } = require("node:child_process");
    const none = [[5], [""], ["a\0b"], ["a", "b"], ["a", ["b\0c"]], ["a", [], 5], ["a", [], null]];
    const options = { argv0: [5, "a\0b"], cwd: [0, {}, "a\0b", new URL("http://a/")], detached: [1], shell: [0, {}, "a\0b"], windowsHide: [1], windowsVerbatimArguments: [[]], timeout: [-1, "a", 3.5], maxBuffer: [-1, NaN, true], killSignal: ["none", true, 500, "toString"], env: [{ a: "b\0c" }] };
    const all = none.map((args) => thrown(() => spawnSync(...args)));
    for (const [key, values] of Object.entries(options))
      for (const value of values) all.push(key + " " + thrown(() => spawnSync("not-a-program", { [key]: value })));
    all.push(thrown(() => execSync(5)), thrown(() => execSync("a\0b")), thrown(() => execFileSync("a", { cwd: "b\0c" })));
    return [...all, spawnSync("not-a-program", { timeout: 5, maxBuffer: Infinity, killSignal: "sigterm" }).error.code];
  },
  "options on the prototype of all objects": () => {
    Object.prototype.shell = true;
    try { return require("node:child_process").spawnSync("/bin/echo", ["a && echo b"], {}).stdout.toString(); }
    finally { delete Object.prototype.shell; }
  },
  "a folder without a name": async () => {
    const { spawn, spawnSync } = require("node:child_process");
    const [code] = await once(spawn("/bin/true", [], { cwd: "" }), "exit");
    return [code, spawnSync("/bin/true", { cwd: "" }).status];
  },
  "the class of a process": () => {
    const { ChildProcess } = require("node:child_process");
    const stdio = ["ignore", "ignore", "ignore", "ipc"];
    return [{}, { file: 5 }, { file: "a", args: 5 }, { file: "a", args: null }, { envPairs: 5, stdio }].map((options) => thrown(() => new ChildProcess().spawn(options)));
  },
  "a thread of a function": () => { try { new (require("node:worker_threads").Worker)(function some() {}); } catch (error) { return error.message; } },
  "the environment of a thread": async () => {
    const text = "require('node:worker_threads').parentPort.postMessage({ ...process.env })";
    const env = Object.defineProperty({ A: true, B: 5, C: undefined }, "D", { value: "hidden" });
    return once(new (require("node:worker_threads").Worker)(text, { eval: true, env }), "message");
  },
  "a session of HTTP/2 before its first stream": async () => {
    const http2 = require("node:http2");
    const server = http2.createServer().on("stream", (stream) => { stream.respond(); stream.end("ok"); }).listen(0);
    await once(server, "listening");
    const at = "http://localhost:" + server.address().port;
    const first = http2.connect(at);
    await Promise.all([once(first, "connect"), once(first, "remoteSettings")]);
    first.close();
    const gone = once(server, "session").then(([other]) => (other.goaway(0, 0, Buffer.from("why")), other));
    const [, , why] = await once(http2.connect(at), "goaway");
    (await gone).destroy();
    const session = await require("node:util").promisify(http2.connect)(at);
    let text = "";
    for await (const chunk of session.request().setEncoding("utf8")) text += chunk;
    const options = [{ endStream: 1 }, { endStream: null }, 5, null].map((given) => thrown(() => session.request({}, given)));
    options.push(thrown(() => session.request(5)), thrown(() => session.request("a")));
    session.close();
    server.close();
    const [error] = await once(http2.connect(at), "error");
    await new Promise((done) => http2.connect(at).close(done));
    return [text, options, error.code, String(why)];
  },
  "a session of HTTP/2 with an address that has colons": async () => {
    const http2 = require("node:http2");
    const server = http2.createServer((request, response) => response.end("ok")).listen(0, "::1");
    try { await once(server, "listening"); } catch (error) { return error.code; }
    const session = http2.connect("http://[::1]:" + server.address().port);
    const text = (await once(session.request().setEncoding("utf8"), "data"))[0];
    session.close();
    server.close();
    return text;
  },
  "a connection by TLS that shakes hands again": async () => {
    const https = require("node:https");
    const psk = Buffer.alloc(16, 7);
    const shared = { ciphers: "PSK", maxVersion: "TLSv1.2", checkServerIdentity: () => undefined };
    const server = https.createServer({ ...shared, pskCallback: () => psk }, (request, response) => response.end("ok")).listen(0);
    await once(server, "listening");
    const agent = new https.Agent({ keepAlive: true });
    const request = https.get({ ...shared, pskCallback: () => ({ psk, identity: "me" }), host: "localhost", port: server.address().port, agent });
    const [response] = await once(request, "response");
    const shaken = [];
    for (let times = 0; times < 3; times++)
      shaken.push(await new Promise((done) => response.socket.renegotiate({}, done)));
    agent.destroy();
    server.close();
    return shaken;
  },
  "arguments that are numbers": () => require("node:child_process").spawnSync("/bin/echo", [1, true]).stdout.toString(),
};
`;

it("where nothing is blocked, says what bare Node says", () =>
  expectLikeBare(world, PROGRAM, { isOwn: true }));
