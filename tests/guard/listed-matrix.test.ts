/** The table of the sensitive modules against what the running Node has, and their guarded forms on every Node. */
import { execFileSync } from "node:child_process";
import { realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { LISTED_MATRIX } from "../../packages/guard/src/listed-matrix.ts";
import { entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { NODES, obtainNode } from "../../tools/nodes.mjs";
import { type GuardedWorld, openWorld, start } from "./guarded-process.ts";
import { worldOfFile } from "./world-of-file.ts";

const IMPORTS = ["child_process", "worker_threads", "vm", "module", "cluster", "wasi"];
const LINES = [process.version, ...Object.keys(NODES)];
let world: GuardedWorld;
const nodes = new Map<string, string>();

worldOfFile(async (preload) => {
  for (const line of LINES)
    nodes.set(
      line,
      realpathSync(
        line.startsWith("v") ? process.execPath : join(await obtainNode(Number(line) as 22), "node"),
      ),
    );
  const executes = [...new Set(nodes.values())].map((node) => entry("filesystem", "execute", node));
  world = await openWorld(preload, () => executes, {}, IMPORTS);
  writeFileSync(
    join(world.places.code, "looks.cjs"),
    `const fs = require("fs");
     const at = JSON.parse(process.argv[2]);
     const read = (path) => { try { return fs.readFileSync(path, "utf8"); } catch (error) { return error.code; } };
     const found = [read(at.reads + "/a.txt"), read(at.secret + "/a.txt")].join();
     try { require("worker_threads").parentPort.postMessage(found); } catch { process.stdout.write(found); }`,
  );
  return world;
});

const LISTING = `
const found = {};
const take = (label, holder) => {
  found[label] = {};
  for (const key of Object.getOwnPropertyNames(holder)) {
    let value;
    try { value = holder[key]; } catch {}
    if (typeof value === "function") found[label][key] = Function.prototype.toString.call(value);
  }
};
const modules = Object.fromEntries(${JSON.stringify(IMPORTS)}.map((name) => [name, require(name)]));
for (const [name, exports] of Object.entries(modules)) take(name, exports);
`;
const SAID = `process.stdout.write(JSON.stringify(found));`;
const STARTED = `
const looks = require("path").join(__dirname, "looks.cjs");
const words = process.argv[2];
// WHY: newer Nodes show the options on this channel after they were decided on.
require("diagnostics_channel").subscribe("tracing:child_process.spawn:start", ({ options }) => {
  if (options === undefined) return;
  options.file = "/usr/bin/id";
  options.args.length = 0;
  options.envPairs.push("NODE_OPTIONS=--expose-internals");
});
const started = {
  sync: modules.child_process.execFileSync(process.execPath, [looks, words], { encoding: "utf8" }),
};
modules.child_process.execFile(process.execPath, [looks, words], (error, stdout) => {
  started.spawned = error ? error.message : stdout;
  const thread = new modules.worker_threads.Worker(looks, { argv: [words], execArgv: [] });
  thread.on("error", (error) => { started.thread = error.message; });
  thread.on("message", (told) => { started.thread = told; });
  thread.on("exit", () => process.stdout.write(JSON.stringify({ found, started })));
});
`;

type Listing = Record<string, Record<string, string>>;
const words = (text: string): readonly string[] => text.split(" ").filter((word) => word !== "");

describe.each(LINES)("on Node %s", (line) => {
  let bare: Listing;
  let guarded: { readonly found: Listing; readonly started: Record<string, string> };
  beforeAll(async () => {
    const node = nodes.get(line) ?? "";
    bare = JSON.parse(
      execFileSync(node, ["--no-warnings", "-e", LISTING + SAID], { encoding: "utf8" }),
    ) as Listing;
    const { code, stdout, stderr } = await start(world, LISTING + STARTED, { node, isOwn: true, waitMs: 0 })
      .ended;
    if (code !== 0) throw new Error(stderr);
    guarded = JSON.parse(stdout) as typeof guarded;
  });

  it("every function of a listed module is classified", () => {
    const unknown = Object.entries(LISTED_MATRIX).flatMap(
      ([module, { guarded: held, refused, harmless }]) => {
        const known = new Set([held, refused, ...Object.values(harmless)].flatMap(words));
        return Object.keys(bare[module] ?? {})
          .filter((name) => !known.has(name))
          .map((name) => `${module}.${name}`);
      },
    );
    expect(unknown).toEqual([]);
    expect(Object.keys(bare)).toEqual(expect.arrayContaining(Object.keys(LISTED_MATRIX)));
  });

  it("what is guarded or refused is no longer Node's own, and what is harmless still is", () => {
    const wrong = Object.entries(LISTED_MATRIX).flatMap(([module, { guarded: held, refused, harmless }]) => {
      const isThere = (name: string): boolean => bare[module]?.[name] !== undefined;
      const isSame = (name: string): boolean => guarded.found[module]?.[name] === bare[module]?.[name];
      const left = [held, refused].flatMap(words).filter((name) => isThere(name) && isSame(name));
      const changed = Object.values(harmless)
        .flatMap(words)
        .filter((name) => isThere(name) && !isSame(name));
      return [...left, ...changed].map((name) => `${module}.${name}`);
    });
    expect(wrong).toEqual([]);
  });

  it("a child, a child that is waited for and a thread are guarded, whatever listens to their start", () => {
    const looks = "reads a,ERR_ACCESS_DENIED";
    expect(guarded.started).toEqual({ sync: looks, spawned: looks, thread: looks });
  });
});
