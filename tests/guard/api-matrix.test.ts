/** The table of the guard against what the running Node really has, on every Node that is supported. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { API_MATRIX, REFUSED_MODULES } from "../../packages/guard/src/api-matrix.ts";
import { NODES, obtainNode } from "../../tools/nodes.mjs";
import { type GuardedWorld, openWorld, start } from "./guarded-process.ts";
import { worldOfFile } from "./world-of-file.ts";

let world: GuardedWorld;
worldOfFile(async (preload) => (world = await openWorld(preload)));

/** Prints the source of every function of the covered modules. Loads modules without asking for them by name. */
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
const report = async () => {
  const fs = require("fs"), net = require("net");
  take("fs", fs); take("fs/promises", fs.promises); take("net", net); take("dgram", require("dgram")); take("dns", require("dns"));
  take("v8", require("v8")); take("v8.promiseHooks", require("v8").promiseHooks); take("process", process);
  take("http", require("http")); take("http2", require("http2"));
  const dns = require("dns"), tls = require("tls");
  take("https", require("https")); take("tls", tls); take("dns/promises", dns.promises);
  take("async_hooks", require("async_hooks")); take("trace_events", require("trace_events"));
  for (const name of JSON.parse(process.argv[3] ?? "[]")) {
    const module = await import(name).catch(() => undefined);
    if (module !== undefined) take(name, module.default);
  }
  process.stdout.write(JSON.stringify(found));
};
report();
`;

type Listing = Record<string, Record<string, string>>;

const words = (text: string): readonly string[] => text.split(" ").filter((word) => word !== "");

/** As the guard leaves it, and as Node has it. */
async function listings(node: string): Promise<{ readonly guarded: Listing; readonly bare: Listing }> {
  const { code } = world.places;
  const names = JSON.stringify(Object.keys(REFUSED_MODULES).map((name) => `node:${name}`));
  const source = LISTING.replace('process.argv[3] ?? "[]"', JSON.stringify(names));
  const { code: exit, stdout, stderr } = await start(world, source, { node }).ended;
  if (exit !== 0) throw new Error(stderr);
  const bare = execFileSync(node, ["--no-warnings", "-e", source], { encoding: "utf8", cwd: code });
  return { guarded: JSON.parse(stdout) as Listing, bare: JSON.parse(bare) as Listing };
}

const LINES = [process.version, ...(Object.keys(NODES) as unknown as (keyof typeof NODES)[])];

describe.each(LINES)("on Node %s", (line) => {
  let node: string;
  let found: Awaited<ReturnType<typeof listings>>;
  beforeAll(async () => {
    node =
      typeof line === "string" && line.startsWith("v")
        ? process.execPath
        : join(await obtainNode(Number(line) as 22), "node");
    found = await listings(node);
  });

  it("every function of the covered modules is classified", () => {
    const unknown = Object.entries(API_MATRIX).flatMap(([module, { guarded, refused, harmless }]) => {
      const known = new Set([guarded, refused, ...Object.values(harmless)].flatMap(words));
      return Object.keys(found.bare[module] ?? {})
        .filter((name) => !known.has(name))
        .map((name) => `${module}.${name}`);
    });
    expect(unknown).toEqual([]);
    expect(Object.keys(found.bare["fs"] ?? {}).length).toBeGreaterThan(80);
  });

  it("what is guarded or refused is no longer Node's own, and what is harmless still is", () => {
    const wrong = Object.entries(API_MATRIX).flatMap(([module, { guarded, refused, harmless }]) => {
      const isSame = (name: string): boolean => found.guarded[module]?.[name] === found.bare[module]?.[name];
      const there = (name: string): boolean => found.bare[module]?.[name] !== undefined;
      const left = [guarded, refused].flatMap(words).filter((name) => there(name) && isSame(name));
      const changed = Object.values(harmless)
        .flatMap(words)
        .filter((name) => there(name) && !isSame(name));
      return [...left, ...changed].map((name) => `${module}.${name}`);
    });
    expect(wrong).toEqual([]);
  });

  it("no function of a sensitive module is Node's own", () => {
    // WHY: from Node 22 on they cannot even be imported.
    const open = Object.entries(REFUSED_MODULES).flatMap(([module, kept]) => {
      const guarded = found.guarded[`node:${module}`];
      if (guarded === undefined) return [];
      return Object.entries(found.bare[`node:${module}`] ?? {})
        .filter(([name, source]) => guarded[name] === source && !words(kept).includes(name))
        .map(([name]) => `${module}.${name}`);
    });
    expect(open).toEqual([]);
    if (!node.includes("node-2")) expect(Object.keys(found.guarded)).toContain("node:child_process");
    else expect(Object.keys(found.guarded)).not.toContain("node:child_process");
  });
});
