/**
 * Bypasses that were found in other guards and in Node's own permission model, each named after what was found there. The
 * whole list, with those that other files hold, stands in docs/results/2026-11-16-guard-bypasses.md.
 */
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { obtainNode } from "../../tools/nodes.mjs";
import { allRefused, openAttackWorld } from "./attack-world.ts";
import { type GuardedWorld, outcomes } from "./guarded-process.ts";
import { worldOfFile } from "./world-of-file.ts";

let world: GuardedWorld;
worldOfFile(async (preload) => {
  world = await openAttackWorld(preload);
  const { reads, secret, all } = world.places;
  // WHY: as files from archives have it. Node tells by size and fraction of a second whether a file is still the same.
  utimesSync(join(secret, "a.txt"), 1000, 1000);
  writeFileSync(join(secret, "code.cjs"), 'module.exports = "secret a";');
  mkdirSync(`${reads}-more`);
  writeFileSync(join(`${reads}-more`, "a.txt"), "secret a");
  mkdirSync(join(reads, "package"));
  writeFileSync(join(reads, "package", "package.json"), '{ "main": "../../secret/code.cjs" }');
  mkdirSync(join(all, "relative"));
  symlinkSync("../../secret", join(all, "relative", "out"));
  return world;
});

describe("attack: an object that changes after it was looked at", () => {
  it("is what it was", () =>
    allRefused(world, {
      "bytes of a path that are changed behind a stream": `
        const bytes = Buffer.from(at.reads + "/a.txt".padEnd(at.secret.length - at.reads.length + 6, " "));
        const stream = fs.createReadStream(bytes);
        bytes.fill(0x20); bytes.write(at.secret + "/a.txt");
        for await (const chunk of stream) return chunk`,
      "bytes that say what they are an instance of": `
        Object.defineProperty(Uint8Array, Symbol.hasInstance, { value: () => false, configurable: true });
        try { return fs.readFileSync(new Uint8Array(Buffer.from(at.secret + "/a.txt"))); } finally { delete Uint8Array[Symbol.hasInstance]; }`,
      "an iterator of arrays that leaves out": `
        const own = Array.prototype[Symbol.iterator];
        Array.prototype[Symbol.iterator] = function () { return own.call([]); };
        try { return fs.readFileSync(at.secret + "/a.txt"); } finally { Array.prototype[Symbol.iterator] = own; }`,
      "functions of the guard, from the stack of an error": `
        let found = [];
        Error.prepareStackTrace = (_, sites) => { found = sites.filter((site) => site.getFileName() !== __filename && site.getFunction()); return ""; };
        try { fs.readFileSync(at.secret + "/a.txt"); } catch (error) { void error.stack; } finally { delete Error.prepareStackTrace; }
        if (found.length > 0) return "through";
        throw Object.assign(new Error("nothing found"), { code: "ERR_ACCESS_DENIED" })`,
      "functions of the guard and their arguments, in the middle of a call": `
        let found = 0;
        const looks = (value) => {
          Error.prepareStackTrace = (_, sites) => sites;
          for (const site of new Error().stack) if (site.getFileName() !== __filename && site.getFunction()) found++;
          delete Error.prepareStackTrace;
          return value;
        };
        fs.cpSync(at.reads + "/a.txt", at.all + "/first.txt", { filter: () => looks(true) });
        fs.readdirSync(at.reads, { get withFileTypes() { return looks(true); } });
        fs.writeFileSync(at.all + "/second.txt", "x", { get flag() { return looks("w"); } });
        require("net").connect({ get host() { return looks("127.0.0.1"); }, port: 1 }).on("error", () => {});
        require("http").get({ get path() { return looks("/"); }, host: "127.0.0.1", port: 1 }).on("error", () => {});
        if (found > 0) return "through";
        throw Object.assign(new Error("nothing found"), { code: "ERR_ACCESS_DENIED" })`,
    }));
});

describe("attack: found in Node's permission model", () => {
  it("modules by another door", () =>
    allRefused(world, {
      "CVE-2023-30581: `mainModule.__proto__`": `return process.mainModule.__proto__.require("child_process").execSync("id")`,
      "CVE-2023-23918: `mainModule.require`": `return process.mainModule.require("child_process").execSync("id")`,
      "CVE-2023-32002: `Module._load`": `return module.constructor._load("child_process").execSync("id")`,
      "CVE-2023-32006: `createRequire` of a constructor": `return module.constructor.createRequire(__filename)("child_process").execSync("id")`,
      "CVE-2023-32006: `extensions` of the main module": `const one = new module.constructor("x"); require.extensions[".js"](one, at.secret + "/code.cjs"); return one.exports`,
      "the loader of JSON": `const one = new module.constructor("x"); require.extensions[".json"](one, at.secret + "/a.txt"); return one.exports`,
      "CVE-2023-32558: `process.binding`": `return process.binding("spawn_sync").spawn({ file: "/bin/true", args: ["true"] })`,
      "CVE-2025-23083: a thread from a diagnostics channel": `
        let Found; require("diagnostics_channel").subscribe("worker_threads", ({ worker }) => { Found = worker.constructor; });
        try { require.main.constructor.register("data:text/javascript,"); } catch {}
        try { return new Found("0", { eval: true, execArgv: [] }); } catch (error) { throw Object.assign(error, { code: error.code ?? "ERR_ACCESS_DENIED" }); }`,
      "CVE-2026-49406: a package whose main file is elsewhere": `return require(at.reads + "/package")`,
    }));

  it("files by another call", () =>
    allRefused(world, {
      "CVE-2023-30582: watchFile": `return fs.watchFile(at.secret + "/a.txt", () => {})`,
      "CVE-2023-30583: openAsBlob": `return (await fs.openAsBlob(at.secret + "/a.txt")).text()`,
      "a file that is swapped for a link behind its blob": `
        const file = at.all + "/blob.txt";
        fs.writeFileSync(file, "12345678"); fs.utimesSync(file, 1000, 1000);
        const blob = await fs.openAsBlob(file);
        fs.unlinkSync(file); fs.symlinkSync(at.secret + "/a.txt", file);
        if ((await blob.text()) !== "12345678") return "through";
        throw Object.assign(new Error("as it was"), { code: "ERR_ACCESS_DENIED" })`,
      "code as a blob": `return (await fs.openAsBlob(require("url").pathToFileURL(__filename))).text()`,
      "CVE-2023-32005: statfs": `return fs.statfsSync(at.secret)`,
      "CVE-2024-22018: lstat": `return fs.lstatSync(at.secret + "/a.txt")`,
      "CVE-2025-55130: a relative link": `fs.symlinkSync("../secret/a.txt", at.all + "/own-relative"); return fs.readFileSync(at.all + "/own-relative")`,
      "CVE-2025-55130: a relative link in a chain of folders": `return fs.readFileSync(at.all + "/relative/out/a.txt")`,
      "a relative link that was copied": `fs.cpSync(at.all + "/relative", at.all + "/copied", { recursive: true, verbatimSymlinks: true }); return fs.readFileSync(at.all + "/copied/out/a.txt")`,
      "CVE-2026-21715: realpath.native": `return fs.realpathSync.native(at.secret + "/a.txt")`,
      "CVE-2026-48617: another working folder": `const before = process.cwd(); try { process.chdir(at.all); return fs.readFileSync("../secret/a.txt"); } finally { process.chdir(before); }`,
      "CVE-2026-48936: a pipe that is bound by its handle": `const Pipe = process.stdout._handle.constructor; return new Pipe(1).bind(at.secret + "/new.txt")`,
      "CVE-2026-58043: a name that begins as a declared one": `return fs.readFileSync(at.reads + "-more/a.txt")`,
      "the environment of the host": `return fs.readFileSync("/proc/" + process.ppid + "/environ")`,
      "a debugger in another process": `return process._debugProcess(process.ppid)`,
    }));

  it("hosts by another name", () =>
    allRefused(
      world,
      {
        "CVE-2026-48930: a zero byte in a host": `return ended(require("net").connect(80, "localhost\\0.example.com"))`,
        "a zero byte in the host of a request": `return ended(require("http").get({ host: "localhost\\0.example.com", path: "/", setHost: false }))`,
        "CVE-2026-21636: a unix socket": `return ended(require("net").connect(at.secret + "/socket"))`,
        "CVE-2026-21711: listening at a unix socket": `return ended(require("net").createServer().listen(at.secret + "/socket"))`,
        "a unix socket of an HTTP client": `return ended(require("http").get({ socketPath: at.secret + "/socket", path: "/" }))`,
      },
      `const ended = (socket) => new Promise((done, failed) => socket.on("error", failed).on("connect", () => done("through")).on("listening", () => done("through")));`,
    ));
});

describe("attack: the asynchronous context of another", () => {
  const SYMBOLS = `Object.getOwnPropertySymbols`;
  it("does not matter: a process has one subject, and that is its socket's", () =>
    allRefused(
      world,
      {
        "a timer without its context": `return new Promise((done, failed) => { const timer = setTimeout(() => { try { done(read()); } catch (error) { failed(error); } }, 1); for (const key of ${SYMBOLS}(timer)) if (/Store|Frame|context/i.test(String(key))) timer[key] = undefined; })`,
        "a resource without its context": `const one = new AsyncResource("x"); for (const key of [...${SYMBOLS}(one), "context_frame"]) if (/Store|Frame|context/i.test(String(key))) one[key] = undefined; return one.runInAsyncScope(read)`,
        "a snapshot": `return AsyncLocalStorage.snapshot()(read)`,
        "a store of its own": `return new AsyncLocalStorage().run({ type: "core", name: "core" }, read)`,
        "a replaced `getStore`": `const own = AsyncLocalStorage.prototype.getStore; AsyncLocalStorage.prototype.getStore = () => ({ type: "core", name: "core" }); try { return read(); } finally { AsyncLocalStorage.prototype.getStore = own; }`,
        "the resource of now": `return executionAsyncResource()`,
        "a hook": `return createHook({ init() {} })`,
        "a thenable that is awaited": `return await { then(done) { done(read()); } }`,
        "a listener of the process": `return new Promise((done, failed) => { process.once("own", () => { try { done(read()); } catch (error) { failed(error); } }); process.emit("own"); })`,
        "a message": `return new Promise((done, failed) => { const { port1, port2 } = new MessageChannel(); port2.onmessage = () => { try { done(read()); } catch (error) { failed(error); } finally { port1.close(); } }; port1.postMessage(1); })`,
        "a listener of a channel": `return new Promise((done, failed) => { const { channel } = require("diagnostics_channel"); const one = channel("own"); one.subscribe(() => { try { done(read()); } catch (error) { failed(error); } }); one.publish({}); })`,
        "`push` of the host": `const own = Array.prototype.push; Array.prototype.push = function (...all) { globalThis.pushed = read; return Reflect.apply(own, this, all); }; try { return fs.readdirSync(at.secret); } finally { Array.prototype.push = own; }`,
      },
      `const { AsyncLocalStorage, AsyncResource, createHook, executionAsyncResource } = require("async_hooks");
       const read = () => fs.readFileSync(at.secret + "/a.txt", "utf8");`,
    ));
});

describe.each([24, 26] as const)("attack: what only newer Nodes have, on Node %i", (line) => {
  it("is refused", async () => {
    const refused = /ERR_ACCESS_DENIED|ERR_UNKNOWN_BUILTIN_MODULE|MODULE_NOT_FOUND/;
    const found = await outcomes(
      world,
      `"sqlite: ATTACH": () => { const db = new (require("node:sqlite").DatabaseSync)(":memory:"); db.exec("attach '" + at.secret + "/new.txt' as x; create table x.t (a)"); return "through"; },
       "sqlite by getBuiltinModule": () => new (process.getBuiltinModule("node:sqlite").DatabaseSync)(at.secret + "/new.txt"),
       "sqlite by import": async () => new (await import("node:sqlite")).DatabaseSync(at.secret + "/new.txt"),
       ffi: () => require("node:ffi"),
       execve: () => process.execve("/bin/true", ["true"], {}),
       registerHooks: () => module.constructor.registerHooks({ load: () => ({ format: "commonjs", source: "", shortCircuit: true }) }),
       "compile cache": () => module.constructor.enableCompileCache(at.secret),
       findPackageJSON: () => module.constructor.findPackageJSON(at.secret + "/code.cjs"),
       "heap near its limit": () => require("v8").setHeapSnapshotNearHeapLimit(1)`,
      { waitMs: 0, node: join(await obtainNode(line), "node") },
    );
    for (const [name, outcome] of Object.entries(found))
      expect(`${name}: ${String(outcome)}`).toMatch(refused);
  });
});
