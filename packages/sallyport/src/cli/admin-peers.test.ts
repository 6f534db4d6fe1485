/** The admin socket of a real owner, and who is at its other end: the owner itself, another user, nobody who can be told. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, type Server, type Socket, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Peer, type PeerCheck, peerFault, readPeer } from "@sallyport/server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { adminSocketOf } from "../data-folder.ts";
import { type ServingOwner, openServingOwner } from "./owner.ts";
import { obtainPeerCheck } from "./peer-check.ts";

const ANOTHER = 65_534;
const OPEN_FOLDER = 0o777;
const NEVER = new AbortController().signal;

let folder: string;
let data: string;
let owner: ServingOwner;
const faults: unknown[] = [];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "sallyport-peers-"));
  chmodSync(folder, 0o755);
  data = join(folder, "data");
  owner = await openServingOwner({
    folder: data,
    port: 0,
    listen: { host: "127.0.0.1" },
    told: {},
    runsResumes: false,
    onFault: (fault) => faults.push(fault),
  });
});
afterAll(async () => {
  await owner.close();
  rmSync(folder, { recursive: true, force: true });
});

/** All that comes over a connection until it ends. */
function heard(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    socket.setEncoding("utf8").on("data", (part: string) => (text += part));
    socket.on("error", () => undefined);
    socket.once("close", () => resolve(text));
  });
}

const call = (method: string, path: string, body = "", headers = "connection: close\r\n"): string =>
  `${method} ${path} HTTP/1.1\r\nhost: localhost\r\n${headers}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

const FREEZE = call("POST", "/v1/freeze", '{"frozen":true}');

/** A place for what another user's process has to tell. */
async function openReports(): Promise<{ readonly path: string; readonly server: Server }> {
  const place = join(folder, "open");
  mkdirSync(place, { recursive: true });
  chmodSync(place, OPEN_FOLDER);
  const path = join(place, "reports.sock");
  const server = createServer().listen(path);
  await once(server, "listening");
  chmodSync(path, OPEN_FOLDER);
  return { path, server };
}

/** Connects as another user, says so, sends a call, and reports every byte that came back. */
const STRANGER = `
const net = require("net");
const [path, bytes, reports] = process.argv.slice(1);
let text = "";
const socket = net.connect(path, () => process.send("connected"));
socket.on("data", (part) => (text += part));
socket.on("error", () => undefined);
socket.on("close", () => net.connect(reports).end(JSON.stringify({ uid: process.getuid(), text })));
process.on("disconnect", () => socket.write(bytes));
`;

/** Starts the stranger and ends once it is connected, so that whoever waits for this one stands still until then. */
const STARTER = `
const { spawn } = require("child_process");
const [uid, script, ...words] = process.argv.slice(1);
const child = spawn(process.execPath, ["-e", script, ...words], {
  uid: Number(uid), gid: Number(uid), detached: true, cwd: "/", env: {}, stdio: ["ignore", "ignore", "ignore", "ipc"],
});
child.on("message", () => { child.disconnect(); child.unref(); });
child.on("error", (error) => { console.error(error.message); process.exit(1); });
`;

describe("the admin socket of an owner", () => {
  it("reads who is at the other end", () => {
    expect(owner.peers.kind).toBe("program");
  });

  it("answers its owner, with every byte that came before it was known who they are", async () => {
    const socket = connect(adminSocketOf(data));
    const text = heard(socket);
    const more = call("GET", "/v1/session", "", "");
    const reason = "x".repeat(100_000);
    socket.write(`${more}${more}${call("POST", "/v1/freeze", JSON.stringify({ frozen: false, reason }))}`);
    const answers = (await text).match(/HTTP\/1\.1 [0-9]+|"way":"[a-z]+"/g);
    expect(answers?.slice(0, 4)).toEqual([
      "HTTP/1.1 200",
      '"way":"socket"',
      "HTTP/1.1 200",
      '"way":"socket"',
    ]);
    expect(answers).toHaveLength(5);
  });

  it("keeps streams open, and ends them with their reader", async () => {
    const socket = connect(adminSocketOf(data));
    socket.write(call("GET", "/v1/live", "", "accept: text/event-stream\r\n"));
    const [head] = (await once(socket, "data")) as [Buffer];
    expect(String(head)).toContain("HTTP/1.1 200");
    socket.destroy();
    await once(socket, "close");
  });
});

describe("attacks on the admin socket", () => {
  it("attack: another user connects while the folder is open for a moment, and calls once it is closed again", async () => {
    const { path: reports, server } = await openReports();
    const report = new Promise<string>((resolve) =>
      server.once("connection", (socket) => resolve(heard(socket))),
    );
    const socketPath = adminSocketOf(data);
    chmodSync(data, 0o755);
    chmodSync(socketPath, 0o666);
    // WHY synchronous: the connection is made while the owner stands still, and taken up after the modes are right again.
    const words = [String(ANOTHER), STRANGER, socketPath, FREEZE, reports];
    const started = spawnSync(process.execPath, ["-e", STARTER, ...words], { encoding: "utf8" });
    chmodSync(socketPath, 0o600);
    chmodSync(data, 0o700);
    expect(started).toMatchObject({ status: 0, stderr: "" });
    expect(JSON.parse(await report)).toEqual({ uid: ANOTHER, text: "" });
    expect(owner.sallyport.service.overview.stateUnchecked().freeze.frozen).toBe(false);
    await expect.poll(refusals).toEqual([`local:${ANOTHER}`]);
    expect(faults).toEqual([]);
    server.close();
  });

  it("attack: a connection over TCP, where the kernel knows of no user, is nobody's", async () => {
    const program = (owner.peers as Extract<PeerCheck, { kind: "program" }>).path;
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const read = new Promise<Peer | null>((resolve) =>
      server.once("connection", (socket) =>
        resolve(readPeer(program, socket, NEVER).finally(() => socket.destroy())),
      ),
    );
    connect((server.address() as AddressInfo).port, "127.0.0.1").on("error", () => undefined);
    expect(await read).toBeNull();
    expect(peerFault(null)).toContain("could not be told");
    server.close();
  });
});

describe("where a peer cannot be read", () => {
  it("attack: a program that others may write is not run, and it is said that nobody is read", async () => {
    const place = join(folder, "prebuilt");
    mkdirSync(place);
    const marker = join(folder, "was-run");
    writeFileSync(join(place, "peer-uid"), `#!/bin/sh\ntouch ${marker}; echo ${process.getuid?.()} 1\n`);
    chmodSync(join(place, "peer-uid"), 0o777);
    expect(await under({ SALLYPORT_LAUNCHER: join(place, "launcher") }, obtainPeerCheck)).toEqual({
      kind: "modes_only",
      reason: expect.stringContaining("is not a program of this user alone"),
    });
    expect(existsSync(marker)).toBe(false);
  });

  it("attack: a program that does not tell this process who it is itself is not relied on", async () => {
    const place = join(folder, "liar");
    mkdirSync(place);
    writeFileSync(join(place, "peer-uid"), `#!/bin/sh\necho ${ANOTHER} 1\n`);
    chmodSync(join(place, "peer-uid"), 0o755);
    expect(await under({ SALLYPORT_LAUNCHER: join(place, "launcher") }, obtainPeerCheck)).toEqual({
      kind: "modes_only",
      reason: expect.stringContaining(`user ${ANOTHER}`),
    });
  });

  it("says why without a compiler", async () => {
    const env = { SALLYPORT_CC: "no-such-compiler", SALLYPORT_CACHE: join(folder, "cache") };
    expect(await under(env, obtainPeerCheck)).toEqual({
      kind: "modes_only",
      reason: expect.stringContaining("install a C compiler"),
    });
  });
});

async function under<T>(env: Readonly<Record<string, string>>, work: () => Promise<T>): Promise<T> {
  const former = { ...process.env };
  Object.assign(process.env, env);
  try {
    return await work();
  } finally {
    for (const name of Object.keys(env)) {
      if (former[name] === undefined) delete process.env[name];
      else process.env[name] = former[name];
    }
  }
}

/** Who was refused, by the log. */
async function refusals(): Promise<readonly unknown[]> {
  const { rows } = await owner.admin.events({ type: "policy.refused" });
  return rows.map(({ userId }) => userId);
}
