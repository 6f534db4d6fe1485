/**
 * Attacks on programs and packages later than the decision: Node makes the arguments of a program out of what was decided on,
 * and the program runs in between, by setters; and a loader's function tells what a file holds that nobody was asked about.
 */
import { cpSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { obtainNode } from "../../tools/nodes.mjs";
import { type GuardedWorld, openWorld, outcomes } from "./guarded-process.ts";
import { worldOfFile } from "./world-of-file.ts";

let world: GuardedWorld;
const LINES = [22, 24, 26] as const;
worldOfFile(async (preload) => {
  const others = await Promise.all(LINES.map(async (line) => join(await obtainNode(line), "node")));
  // WHY a set: the tests run on one of these Nodes, too.
  const nodes = new Set([process.execPath, ...others].map((node) => realpathSync(node)));
  world = await openWorld(
    preload,
    (folder) => [
      entry("filesystem", "execute", `${folder}/all/`),
      ...[...nodes].map((node) => entry("filesystem", "execute", node)),
    ],
    {},
    ["child_process"],
  );
  const { all, secret } = world.places;
  cpSync("/bin/echo", join(all, "echo"));
  writeFileSync(join(secret, "package.json"), `{ "name": "secret a", "main": "secret a" }`);
  return world;
});

const BEFORE = `
const cp = require("child_process");
const node = process.execPath;
const evil = at.all + "/evil.cjs";
fs.writeFileSync(evil, "require('fs').writeSync(1, require('fs').readFileSync(" + JSON.stringify(at.secret + "/a.txt") + "))");
/** A program of its own, in a folder that it swaps for that of the system. */
let count = 0;
const own = () => {
  const folder = at.all + "/bin-" + process.pid + "-" + ++count;
  fs.mkdirSync(folder);
  fs.renameSync(at.all + "/echo", folder + "/printenv");
  return { file: folder + "/printenv", swap() { fs.renameSync(folder, folder + "-kept"); fs.symlinkSync("/usr/bin", folder); }, end() { fs.renameSync(folder + "-kept/printenv", at.all + "/echo"); } };
};
/** Sees every list of Node's that grows, and may change it. */
const lists = (change, work) => {
  const places = Array.from({ length: 16 }, (_, index) => index);
  for (const index of places)
    Object.defineProperty(Array.prototype, index, { configurable: true, set(value) {
      Object.defineProperty(this, index, { value, writable: true, enumerable: true, configurable: true });
      change(this, index, value);
    } });
  try { return work(); } finally { for (const index of places) delete Array.prototype[index]; }
};
const output = ({ stdout, error }) => { if (error) throw error; return String(stdout); };
`;

const ATTACKS = {
  "a folder that is swapped after the program in it was decided on": `
    const { file, swap, end } = own();
    const child = new cp.ChildProcess();
    const handle = child._handle;
    let isSwapped = false;
    Object.defineProperty(child, "_handle", { configurable: true, set() {}, get() { if (!isSwapped) { isSwapped = true; swap(); } return handle; } });
    try {
      child.spawn({ file, args: ["printenv", "STOLEN"], envPairs: ["STOLEN=secret a"], stdio: "pipe" });
      let text = "";
      await new Promise((done) => { child.stdout.on("data", (data) => (text += data)).on("close", done); child.on("error", done); });
      return text;
    } finally { end(); }`,
  "the same, by what a child inherits": `
    const { file, swap, end } = own();
    const stream = { get fd() { swap(); return 2; } };
    try { return output(cp.spawnSync(file, ["STOLEN"], { env: { STOLEN: "secret a" }, stdio: ["ignore", "pipe", stream] })); } finally { end(); }`,
  "the same, by a list of Node's": `
    const { file, swap, end } = own();
    let isSwapped = false;
    const work = () => cp.spawnSync(file, ["STOLEN"], { env: { STOLEN: "secret a" } });
    try { return output(lists((list, index, value) => { if (!isSwapped && value === "STOLEN=secret a") { isSwapped = true; swap(); } }, work)); } finally { end(); }`,
  "the environment of a Node, in a list of Node's": `
    const work = () => cp.spawnSync(node, ["-e", "0"], { env: { OWN: "x" } });
    return output(lists((list, index, value) => { if (value === "OWN=x") list[index] = "NODE_OPTIONS=--require " + evil; }, work))`,
  "the arguments of a Node, in a list of Node's": `
    const work = () => cp.spawnSync(node, ["-e", "0"], { env: {} });
    return output(lists((list, index, value) => { const at = list.indexOf("--require"); if (at >= 0) list[at + 1] = evil; }, work))`,
  "the arguments of a Node, by the class of lists": `
    const kept = Object.getOwnPropertyDescriptor(Array, Symbol.species);
    class Own extends Array {}
    const made = [];
    Object.defineProperty(Array, Symbol.species, { configurable: true, get() { return function (...args) { const list = new Own(...args); made.push(list); return list; }; } });
    const change = () => { for (const list of made) { const at = list.indexOf("--require"); if (at >= 0) list[at + 1] = evil; } };
    try { return output(lists((list, index, value) => change(), () => cp.spawnSync(node, ["-e", "0"], { env: { OWN: "x" } }))); } finally { Object.defineProperty(Array, Symbol.species, kept); }`,
  "what a package says of itself, by a function of the loader": `
    return JSON.stringify(module.constructor._readPackage(at.secret))`,
};

async function nothingIsStolen(node: string): Promise<void> {
  const tasks = Object.entries(ATTACKS).map(
    ([name, work]) => `${JSON.stringify(name)}: async () => { ${work} }`,
  );
  const found = await outcomes(world, tasks.join(",\n"), { isOwn: true, waitMs: 0, before: BEFORE, node });
  expect(Object.keys(found)).toEqual(Object.keys(ATTACKS));
  expect(Object.entries(found).filter(([, outcome]) => String(outcome).includes("secret a"))).toEqual([]);
}

it("attack: what was decided on is changed before it is executed, or read by another way", () =>
  nothingIsStolen(process.execPath));

it.each(LINES)("attack: the same on Node %i", async (line) =>
  nothingIsStolen(join(await obtainNode(line), "node")),
);

it("a package of the program's own, or one that may be read, says of itself what it always says", async () => {
  writeFileSync(join(world.places.code, "package.json"), `{ "name": "own" }`);
  writeFileSync(join(world.places.reads, "package.json"), `{ "name": "declared" }`);
  const found = await outcomes(
    world,
    `own: () => module.constructor._readPackage(at.code).name,
     declared: () => module.constructor._readPackage(at.reads).name,
     none: () => String(module.constructor._readPackage(at.all).name)`,
    { waitMs: 0 },
  );
  expect(found).toEqual({ own: "own", declared: "declared", none: "undefined" });
});
