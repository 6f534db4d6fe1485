/**
 * The table of classes against what a program really reaches on the running Node, on every Node that is supported: each method,
 * accessor and constructor of a class that an export, or an object that a program can have, leads to.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { API_MATRIX } from "../../packages/guard/src/api-matrix.ts";
import { LISTED_MATRIX } from "../../packages/guard/src/listed-matrix.ts";
import { CLASS_MATRIX } from "../../packages/guard/src/matrix/class-matrix.ts";
import { entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { NODES, obtainNode } from "../../tools/nodes.mjs";
import { type GuardedWorld, openWorld, start } from "./guarded-process.ts";
import { freePort } from "./loopback.ts";
import { worldOfFile } from "./world-of-file.ts";

const COVERED =
  "fs fs/promises net tls dgram dns dns/promises http https http2 child_process worker_threads module wasi vm v8 process async_hooks trace_events tty cluster";
const OUTSIDE =
  "fetch structuredClone WebSocket EventSource Request Response Headers FormData MessageEvent CloseEvent MessagePort MessageChannel BroadcastChannel Blob File Storage Navigator";
const IMPORTS = ["child_process", "worker_threads", "vm", "module", "cluster", "wasi"];
const LINES = [process.version, ...Object.keys(NODES)];
const text = (name: string): string => readFileSync(new URL(name, import.meta.url), "utf8");
const words = (names: string): string[] => names.split(" ").filter((word) => word !== "");

type Listing = Record<string, Record<string, string>>;
let world: GuardedWorld;
let ports: readonly number[];
const nodes = new Map<string, string>();

worldOfFile(async (preload) => {
  for (const line of LINES) {
    const node = line.startsWith("v") ? process.execPath : join(await obtainNode(Number(line) as 22), "node");
    nodes.set(line, realpathSync(node));
  }
  ports = [await freePort(), await freePort(), await freePort(), await freePort()];
  world = await openWorld(
    preload,
    (folder) => [
      ...[...new Set(nodes.values())].map((node) => entry("filesystem", "execute", node)),
      ...ports.flatMap((port) => [
        entry("network", "connect", `127.0.0.1:${port}`),
        entry("network", "receive", `http://127.0.0.1:${port}/open/`),
      ]),
      entry("network", "connect", `unix:${folder}/all/socket`),
    ],
    {},
    IMPORTS,
  );
  return world;
});

/** The program that lists what it reaches. */
function program(folder: string): string {
  const given = {
    folder,
    file: join(folder, "a.txt"),
    socket: join(folder, "socket"),
    ports,
    modules: words(COVERED),
    outside: words(OUTSIDE),
  };
  return `const given = ${JSON.stringify(given)};\n${text("surface-walk.cjs")}${text("surface-objects.cjs")}`;
}

function bareListing(node: string): Listing {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-surface-"));
  try {
    writeFileSync(join(folder, "a.txt"), "a");
    writeFileSync(join(folder, "list.cjs"), program(folder));
    const args = ["--no-warnings", join(folder, "list.cjs")];
    const stdio = ["ignore", "pipe", "inherit"] as const;
    return JSON.parse(
      execFileSync(node, args, { encoding: "utf8", maxBuffer: 2 ** 26, stdio: [...stdio] }),
    ) as Listing;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function guardedListing(node: string): Promise<Listing> {
  rmSync(join(world.places.all, "socket"), { force: true });
  const { code, stdout, stderr } = await start(world, program(world.places.all), {
    node,
    isOwn: true,
    waitMs: 0,
    flags: ["--no-warnings"],
  }).ended;
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Listing;
}

/** Of every class of objects that a program can have one. */
const REACHED =
  "fs.Dir.prototype FSWatcher.prototype StatWatcher.prototype FileHandle.prototype fs.ReadStream.prototype net.Socket.prototype tls.TLSSocket.prototype tls.Server.prototype SecureContext.prototype dgram.Socket.prototype ResolverBase.prototype http.ClientRequest.prototype OutgoingMessage.prototype http.ServerResponse.prototype http.IncomingMessage.prototype http.Server.prototype ServerHttp2Session.prototype ServerHttp2Stream.prototype ClientHttp2Session.prototype ClientHttp2Stream.prototype Dispatcher.prototype Pool.prototype Client.prototype module.Module.prototype worker_threads.MessagePort.prototype";
const NATIVE =
  "TCP Pipe TTY UDP FSEvent StatWatcher FileHandle Process ChannelWrap TLSWrap Http2Session Http2Stream Worker HTTPParser JSStream LibuvStreamWrap HandleWrap AsyncWrap SecureContext WASI ConnectionsList";
const reached = [...words(REACHED), ...words(NATIVE).map((name) => `native ${name}.prototype`)];

const inGroups = (groups: Readonly<Record<string, string>> = {}): string[] =>
  Object.values(groups).flatMap(words);

describe.each(LINES)("on Node %s", (line) => {
  let bare: Listing;
  let guarded: Listing;
  beforeAll(async () => {
    const node = nodes.get(line) ?? "";
    bare = bareListing(node);
    guarded = await guardedListing(node);
  });

  it("every function of the covered modules, and of the classes that a program can reach, is classified", () => {
    const unknown = Object.entries(bare).flatMap(([label, names]) => {
      const row = CLASS_MATRIX[label] ?? LISTED_MATRIX[label] ?? API_MATRIX[label];
      const known = new Set([
        ...[row?.guarded, row?.refused, row?.sometimes].flatMap((some) => words(some ?? "")),
        ...inGroups(row?.harmless),
      ]);
      return Object.keys(names)
        .filter((name) => !known.has(name))
        .map((name) => `${label}: ${name}`);
    });
    expect(unknown).toEqual([]);
  });

  it("the walk comes to the objects that a program can have, under the guard as in bare Node", () => {
    for (const found of [bare, guarded]) expect(Object.keys(found)).toEqual(expect.arrayContaining(reached));
  });

  it("what is guarded or refused is no longer Node's own, and what is harmless still is", () => {
    const wrong = Object.entries(CLASS_MATRIX).flatMap(([label, row]) => {
      const there = (name: string): boolean => bare[label]?.[name] !== undefined;
      const own = (name: string): string | undefined => guarded[label]?.[name];
      const isSame = (name: string): boolean => own(name) === bare[label]?.[name];
      const left = words(row.guarded).filter((name) => own(name) === undefined || isSame(name));
      const passing = words(row.refused).filter(isSame);
      const kept = inGroups(row.harmless);
      const changed = kept.filter((name) => own(name) !== undefined && !isSame(name));
      return [...left, ...passing, ...changed].filter(there).map((name) => `${label}: ${name}`);
    });
    expect(wrong).toEqual([]);
  });
});
