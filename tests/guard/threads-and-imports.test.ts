/** Threads that guarded code starts, sensitive imports by subject, and the native doors. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { type GuardedWorld, openWorld, outcomes } from "./guarded-process.ts";
import { worldOfFile } from "./world-of-file.ts";

let world: GuardedWorld;
const own = { isOwn: true, waitMs: 0 } as const;

worldOfFile(async (preload) => {
  world = await openWorld(preload, (folder) => [entry("filesystem", "execute", `${folder}/all/`)], {}, [
    "worker_threads",
    "vm",
    "module",
    "wasi",
    "native_addons",
    "inspector",
    "sqlite",
  ]);
  const { code } = world.places;
  writeFileSync(join(code, "looks.cjs"), LOOKS);
  writeFileSync(join(code, "plain.cjs"), "module.exports = 1;");
  const left = JSON.stringify(join(world.places.secret, "evil"));
  writeFileSync(join(code, "evil.cjs"), `require("fs").writeFileSync(${left}, "ran");`);
  return world;
});

/** What a thread may do. */
const LOOKS = `
const fs = require("fs");
const { parentPort, workerData: at } = require("worker_threads");
const attempt = (work) => { try { return work(); } catch (error) { return error.code ?? error.message; } };
parentPort.postMessage({
  declared: attempt(() => fs.readFileSync(at.reads + "/a.txt", "utf8")),
  secret: attempt(() => fs.readFileSync(at.secret + "/a.txt", "utf8")),
  imports: attempt(() => require("child_process") && "through"),
  binding: attempt(() => process.binding("fs") && "through"),
  gate: attempt(() => fs.writeSync(3, "x")),
  env: [process.env.SALLYPORT_GATE_FD, process.env.NODE_OPTIONS].join("") || "clean",
});`;

const BEFORE = `
const { Worker, SHARE_ENV } = require("worker_threads");
const file = path.join(__dirname, "looks.cjs");
const evil = path.join(__dirname, "evil.cjs");
const program = "require(" + JSON.stringify(file) + ")";
const said = (worker) => new Promise((done, failed) => {
  worker.on("error", failed);
  worker.on("message", done);
  worker.on("exit", (code) => done("exit " + code));
});
`;
/** What the machines of others have in their environments: nothing that a thread reads. */
const WORDS_FOR_OTHERS = {
  PYTHONPATH: "lib",
  LD_LIBRARY_PATH: "/nowhere",
  GIT_CONFIG_COUNT: "0",
  NODE_VERSION: "20",
};
const GUARDED_THREAD = {
  declared: "reads a",
  secret: "ERR_ACCESS_DENIED",
  imports: "ERR_ACCESS_DENIED",
  binding: "ERR_ACCESS_DENIED",
  gate: "EBADF",
  env: "clean",
};

describe("a thread", () => {
  it("is guarded as the same subject, however it is started", async () => {
    const found = await outcomes(
      world,
      `file: () => said(new Worker(file, { workerData: at })),
       evaluated: () => said(new Worker(program, { eval: true, workerData: at })),
       bare: () => said(new Worker(program, { eval: true, execArgv: [], env: {}, workerData: at })),
       flags: () => said(new Worker(program, { eval: true, execArgv: ["--no-warnings"], env: { NODE_OPTIONS: "--expose-internals" }, workerData: at })),
       inherited: () => { process.env.NODE_OPTIONS = "--require " + evil; return said(new Worker(program, { eval: true, workerData: at })); },
       withFlags: () => said(new Worker(program, { eval: true, env: SHARE_ENV, workerData: at })).finally(() => delete process.env.NODE_OPTIONS),
       shared: () => { delete process.env.NODE_OPTIONS; return said(new Worker(program, { eval: true, env: SHARE_ENV, workerData: at })); },
       url: () => said(new Worker(require("url").pathToFileURL(file), { workerData: at })),
       data: () => said(new Worker(new URL("data:text/javascript," + encodeURIComponent("import { createRequire } from 'node:module'; createRequire('/')(" + JSON.stringify(file) + ")")), { workerData: at })),
       subclass: () => { class Own extends Worker {} return said(new Own(program, { eval: true, execArgv: [], workerData: at })); },
       constructor: () => said(new (Worker.prototype.constructor)(program, { eval: true, execArgv: [], workerData: at })),
       parent: () => { class Own extends Worker {} return said(new (Object.getPrototypeOf(Own))(program, { eval: true, execArgv: [], workerData: at })); },
       channel: async () => { let Found; const heard = ({ worker }) => { Found = worker.constructor; }; const { subscribe, unsubscribe } = require("diagnostics_channel"); subscribe("worker_threads", heard); try { await said(new Worker(program, { eval: true, workerData: at })); } finally { unsubscribe("worker_threads", heard); } return said(new Found(program, { eval: true, execArgv: [], workerData: at })); },
       nested: () => said(new Worker("const { Worker, parentPort, workerData } = require('worker_threads'); new Worker(" + JSON.stringify(program) + ", { eval: true, execArgv: [], workerData }).on('message', (told) => parentPort.postMessage(told))", { eval: true, workerData: at })),
       ended: () => new Promise((done, failed) => { const worker = new Worker("setInterval(() => {}, 1000)", { eval: true }); worker.on("online", () => worker.terminate()); worker.on("error", failed); worker.on("exit", done); }),
       failed: () => said(new Worker("throw new Error('mine')", { eval: true })).catch((error) => error.message)`,
      { ...own, before: BEFORE, env: WORDS_FOR_OTHERS },
    );
    const { ended, failed, ...rest } = found;
    expect(rest).toEqual(Object.fromEntries(Object.keys(rest).map((name) => [name, GUARDED_THREAD])));
    expect({ ended, failed }).toEqual({ ended: 1, failed: "mine" });
    expect(existsSync(join(world.places.secret, "evil"))).toBe(false);
  });
});

/** Runs the attacks in one process and expects each to be refused. */
async function allRefused(attacks: Record<string, string>, before = BEFORE): Promise<void> {
  const tasks = Object.entries(attacks).map(
    ([name, work]) => `${JSON.stringify(name)}: async () => { ${work} }`,
  );
  const found = await outcomes(world, tasks.join(",\n"), { ...own, before });
  expect(Object.keys(found)).toEqual(Object.keys(attacks));
  for (const [name, outcome] of Object.entries(found))
    expect(`${name}: ${String(outcome)}`).toMatch(/ERR_ACCESS_DENIED|ERR_INVALID_ARG_TYPE|EBADF/);
}

it(
  "attack: a thread beside its guard does not start",
  () =>
    allRefused({
      "exposed internals": `return new Worker("0", { eval: true, execArgv: ["--expose-internals"] })`,
      "spelled otherwise": `return new Worker("0", { eval: true, execArgv: ["--expose_internals"] })`,
      "flags that are no list": `return new Worker("0", { eval: true, execArgv: { 0: "--expose-internals", length: 1 } })`,
      "a loader": `return new Worker("0", { eval: true, execArgv: ["--experimental-loader", "./x.mjs"] })`,
      "an object for a file": `return new Worker({ toString: () => "/etc/passwd" })`,
      "the memory of a thread": `const worker = new Worker("setInterval(() => {}, 1000)", { eval: true }); try { return await worker.getHeapSnapshot(); } finally { await worker.terminate(); }`,
    }),
  300_000,
);

describe("sensitive imports", () => {
  it("are those that the manifest lists, by every way to a module, and no others", async () => {
    const found = await outcomes(
      world,
      `vm: () => require("node:vm").runInNewContext("1 + 1"),
       imported: async () => (await import("node:vm")).runInThisContext("2 + 2"),
       createRequire: () => require("module").createRequire(__filename)("./plain.cjs") && "loaded",
       builtin: () => typeof process.getBuiltinModule("worker_threads").Worker,
       loaded: () => typeof module.constructor._load("vm").Script,
       cp: () => require("child_process"),
       cpByRequire: () => require("module").createRequire(__filename)("node:child_process"),
       cpByLoad: () => module.constructor._load("child_process"),
       cpByBuiltin: () => process.getBuiltinModule("child_process"),
       cpByImport: async () => (await import("node:child_process")).spawnSync("true"),
       cpInContext: () => require("vm").runInNewContext("load('child_process')", { load: require }),
       cluster: () => require("cluster"),
       register: () => require("module").register("data:text/javascript,"),
       hooks: () => require("module").registerHooks ? require("module").registerHooks({}) : require("cluster"),
       cache: () => (require("module").enableCompileCache ?? (() => require("cluster")))(at.secret),
       inspector: () => require("inspector"),
       session: async () => new (await import("node:inspector")).Session(),
       sqlite: () => require("module").isBuiltin("node:sqlite") ? require("node:sqlite") : require("cluster")`,
      own,
    );
    const refused = expect.stringMatching(/^ExternalAccessError ERR_ACCESS_DENIED denied_rule import/);
    const { vm, imported, createRequire, builtin, loaded, ...rest } = found;
    expect({ vm, imported, createRequire, builtin, loaded }).toEqual({
      vm: 2,
      imported: 4,
      createRequire: "loaded",
      builtin: "function",
      loaded: "function",
    });
    expect(rest).toEqual(Object.fromEntries(Object.keys(rest).map((name) => [name, refused])));
  });

  it("do not travel to a task subprocess of the same subject", async () => {
    const found = await outcomes(world, `vm: () => require("vm"), threads: () => require("worker_threads")`, {
      waitMs: 0,
    });
    const refused = "ExternalAccessError ERR_ACCESS_DENIED denied_rule import";
    expect(found).toEqual({ vm: refused, threads: refused });
  });
});

describe("native code", () => {
  it("an add-on is executed where that is declared, by its real path", async () => {
    const { all, reads } = world.places;
    writeFileSync(join(all, "broken.node"), "no object file");
    writeFileSync(join(reads, "other.node"), "no object file");
    const found = await outcomes(
      world,
      `declared: () => { try { require(at.all + "/broken.node"); } catch (error) { return error.code; } },
       other: () => require(at.reads + "/other.node"),
       dlopen: () => process.dlopen({ exports: {} }, at.reads + "/other.node"),
       flips: () => { let reads = 0; return process.dlopen({ exports: {} }, { toString: () => reads++ === 0 ? at.all + "/broken.node" : at.reads + "/other.node" }); }`,
      own,
    );
    expect(found).toEqual({
      declared: "ERR_DLOPEN_FAILED",
      other: "AccessPendingError ERR_ACCESS_DENIED approval_required dlopen",
      dlopen: "AccessPendingError ERR_ACCESS_DENIED approval_required dlopen",
      flips: "ExternalAccessError ERR_ACCESS_DENIED invalid_target dlopen",
    });
  });

  it("a WASI program gets no folders and no descriptors of the guard", async () => {
    const found = await outcomes(
      world,
      `plain: () => typeof new WASI({ version: "preview1", args: ["a"] }).wasiImport,
       folders: () => new WASI({ version: "preview1", preopens: { "/": "/" } }),
       flips: () => { let reads = 0; return typeof new WASI({ version: "preview1", get preopens() { return reads++ === 0 ? undefined : { "/": "/" }; } }).wasiImport; },
       gate: () => new WASI({ version: "preview1", stdin: 3 }),
       constructor: () => new (WASI.prototype.constructor)({ version: "preview1", preopens: { "/": "/" } })`,
      { ...own, before: `const { WASI } = require("wasi");` },
    );
    expect(found).toEqual({
      plain: "object",
      folders: "ExternalAccessError ERR_ACCESS_DENIED denied_rule wasi",
      flips: "object",
      gate: "Error EBADF wasi",
      constructor: "ExternalAccessError ERR_ACCESS_DENIED denied_rule wasi",
    });
  });
});
