/** Ways around the guard, each named after the attack. What a way needs from another process is done as that process. */
import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import {
  type GuardedWorld,
  type Preload,
  buildPreload,
  openWorld,
  outcomes,
  start,
} from "./guarded-process.ts";

let preload: Preload;
let world: GuardedWorld;
beforeAll(async () => {
  preload = await buildPreload();
  world = await openWorld(preload);
  const { reads, all, secret } = world.places;
  symlinkSync(secret, join(reads, "into-secret"));
  symlinkSync(join(secret, "a.txt"), join(reads, "secret-file"));
  symlinkSync(join(secret, "new.txt"), join(all, "dangling"));
  mkdirSync(join(all, "tree"), { recursive: true });
  symlinkSync(join(secret, "a.txt"), join(all, "tree", "inside"));
});
afterAll(async () => {
  await world.close();
  preload.remove();
});

const DENIED = /ERR_ACCESS_DENIED|EBADF/;

/** Runs the attacks in one process and expects each to be refused, and the secret to be as it was. */
async function allRefused(attacks: Record<string, string>, before?: string): Promise<void> {
  const { secret } = world.places;
  const tasks = Object.entries(attacks).map(
    ([name, work]) => `${JSON.stringify(name)}: async () => { ${work} }`,
  );
  const found = await outcomes(world, tasks.join(",\n"), {
    waitMs: 0,
    ...(before === undefined ? {} : { before }),
  });
  expect(Object.keys(found)).toEqual(Object.keys(attacks));
  for (const [name, outcome] of Object.entries(found)) expect(`${name}: ${String(outcome)}`).toMatch(DENIED);
  expect(JSON.stringify(found)).not.toContain("secret a");
  expect(readFileSync(join(secret, "a.txt"), "utf8")).toBe("secret a");
  expect(existsSync(join(secret, "new.txt"))).toBe(false);
}

describe("attack: another way to write the path", () => {
  it("is refused in every spelling", () =>
    allRefused({
      "dot dot": `return fs.readFileSync(at.reads + "/../secret/a.txt")`,
      "file URL": `return fs.readFileSync(require("url").pathToFileURL(at.secret + "/a.txt"))`,
      Buffer: `return fs.readFileSync(Buffer.from(at.secret + "/a.txt"))`,
      "Uint8Array that is no Buffer": `return fs.readFileSync(new Uint8Array(Buffer.from(at.secret + "/a.txt")))`,
      "/proc/self/root": `return fs.readFileSync("/proc/self/root" + at.secret + "/a.txt")`,
      "/proc/self/cwd": `return fs.readFileSync("/proc/self/cwd" + "/../".repeat(20) + at.secret + "/a.txt")`,
      "through a link and back": `return fs.readFileSync(at.reads + "/into-secret/../secret/a.txt")`,
      "an object that looks like a URL": `return fs.readFileSync({ href: "file://" + at.secret + "/a.txt", protocol: "file:", pathname: at.secret + "/a.txt", host: "", hostname: "", origin: "null", search: "" })`,
      "a URL whose getter flips": `
        let reads = 0;
        class Flips extends URL { get pathname() { return reads++ === 0 ? at.reads + "/a.txt" : at.secret + "/a.txt"; } get href() { return "file://" + at.secret + "/a.txt"; } }
        return fs.readFileSync(new Flips("file://" + at.secret + "/a.txt"))`,
      "a String object": `return fs.readFileSync(new String(at.secret + "/a.txt"))`,
      "an array": `return fs.readFileSync([at.secret + "/a.txt"])`,
      "the memory of this process": `return fs.openSync("/proc/self/mem", "r+")`,
    }));
});

it("attack: the memory of a process is handed out to nobody, however much was declared", async () => {
  const wide = await openWorld(preload, () =>
    ["read", "modify"].map((operation) => entry("filesystem", operation, "/proc/")),
  );
  const found = await outcomes(
    wide,
    `status: () => fs.readFileSync("/proc/self/status", "utf8").includes("Name:"),
     memory: () => fs.openSync("/proc/self/mem", "r+"),
     thread: () => fs.promises.open("/proc/self/task/" + process.pid + "/mem", "r+"),
     bytes: () => fs.openSync(Buffer.from("/proc/self/mem"), "r")`,
  );
  await wide.close();
  const refused = "ExternalAccessError ERR_ACCESS_DENIED invalid_target open";
  expect(found).toEqual({ status: true, memory: refused, thread: refused, bytes: refused });
});

describe("attack: links", () => {
  it("are followed to where they lead, by every function", () =>
    allRefused({
      "a file behind a link": `return fs.readFileSync(at.reads + "/secret-file")`,
      "a folder behind a link": `return fs.readdirSync(at.reads + "/into-secret")`,
      "by promise": `return fs.promises.readFile(at.reads + "/secret-file")`,
      "by stream": `for await (const chunk of fs.createReadStream(at.reads + "/secret-file")) return chunk`,
      "writing through a dangling link": `return fs.writeFileSync(at.all + "/dangling", "x")`,
      "an own link": `fs.symlinkSync(at.secret + "/a.txt", at.all + "/own"); return fs.readFileSync(at.all + "/own")`,
      "a hard link": `return fs.linkSync(at.secret + "/a.txt", at.all + "/hard")`,
      "a rename into reach": `return fs.renameSync(at.secret + "/a.txt", at.all + "/moved")`,
      "a copy into reach": `return fs.copyFileSync(at.secret + "/a.txt", at.all + "/copied")`,
      "cp with dereference": `return fs.cpSync(at.all + "/tree", at.all + "/out", { recursive: true, dereference: true })`,
      "cp with dereference, by promise": `return fs.promises.cp(at.all + "/tree", at.all + "/out2", { recursive: true, dereference: true })`,
      "realpath.native": `return fs.realpathSync.native(at.reads + "/secret-file")`,
      "lstat of a secret": `return fs.lstatSync(at.secret + "/a.txt")`,
      "a blob of a file": `return (await fs.openAsBlob(at.reads + "/secret-file")).text()`,
      "watching a file": `return fs.watchFile(at.secret + "/a.txt", () => {})`,
    }));
});

describe("attack: a name that gives more than the old one", () => {
  it("needs at the old name what passes at the new one", async () => {
    const { deletes, all, modifies } = world.places;
    writeFileSync(join(deletes, "move-me"), "deletable, not readable");
    await allRefused({
      "a rename that makes readable": `return fs.renameSync(at.deletes + "/move-me", at.all + "/readable")`,
      "a hard link that makes modifiable": `return fs.linkSync(at.reads + "/a.txt", at.all + "/modifiable")`,
    });
    expect([existsSync(join(all, "readable")), existsSync(join(deletes, "move-me"))]).toEqual([false, true]);
    expect(readFileSync(join(modifies, "a.txt"), "utf8")).toBe("modifies a");
  });
});

describe("attack: flags that do more than they say", () => {
  it("are checked as what they do", async () => {
    await allRefused({
      "O_RDONLY with O_TRUNC": `return fs.openSync(at.reads + "/a.txt", fs.constants.O_RDONLY | fs.constants.O_TRUNC)`,
      "readFile with flag w": `return fs.readFileSync(at.reads + "/a.txt", { flag: "w+" })`,
      "readFile with flag a+": `return fs.readFileSync(at.reads + "/made.txt", { flag: "a+" })`,
      "a flag that flips": `let reads = 0; return fs.readFileSync(at.reads + "/a.txt", { get flag() { return reads++ === 0 ? "w+" : "r"; } })`,
      "r+ where only reading is declared": `return fs.openSync(at.reads + "/a.txt", "r+")`,
      "an unnamed file": `return fs.openSync(at.reads, 0o20200000 | fs.constants.O_RDWR)`,
    });
    expect(readFileSync(join(world.places.reads, "a.txt"), "utf8")).toBe("reads a");
  });

  it("a descriptor for reading changes neither mode, owner nor times", async () => {
    const file = join(world.places.reads, "a.txt");
    chmodSync(file, 0o640);
    await allRefused(
      {
        fchmod: `return fs.fchmodSync(fs.openSync(at.reads + "/a.txt"), 0o777)`,
        fchown: `return fs.fchownSync(fs.openSync(at.reads + "/a.txt"), process.getuid(), process.getgid())`,
        futimes: `return fs.futimesSync(fs.openSync(at.reads + "/a.txt"), 1, 1)`,
        "fchmod with a callback": `return require("util").promisify(fs.fchmod)(fs.openSync(at.reads + "/a.txt"), 0o777)`,
        "FileHandle.chmod": `return held((handle) => handle.chmod(0o777))`,
        "FileHandle.chown": `return held((handle) => handle.chown(process.getuid(), process.getgid()))`,
        "FileHandle.utimes": `return held((handle) => handle.utimes(1, 1))`,
        "again by /proc/self/fd": `return fs.openSync("/proc/self/fd/" + fs.openSync(at.reads + "/a.txt"), "r+")`,
      },
      `const held = async (use) => { const handle = await fs.promises.open(at.reads + "/a.txt"); try { return await use(handle); } finally { await handle.close(); } };`,
    );
    expect(execFileSync("stat", ["-c", "%a", file], { encoding: "utf8" }).trim()).toBe("640");
  });
});

describe("attack: Node's inside", () => {
  it("is not handed out", () =>
    allRefused({
      "process.binding": `return process.binding("fs")`,
      "process._linkedBinding": `return process._linkedBinding("fs")`,
      "process.dlopen": `return process.dlopen({ exports: {} }, at.secret + "/a.node")`,
      "a native add-on by require": `fs.writeFileSync(at.all + "/x.node", ""); return require(at.all + "/x.node")`,
      "process.report": `return process.report.writeReport(at.all + "/report.json")`,
      "the folder of reports": `process.report.directory = at.secret`,
      "a heap snapshot": `return require("v8").writeHeapSnapshot(at.all + "/heap")`,
      "process.loadEnvFile": `return process.loadEnvFile(at.secret + "/a.txt")`,
      "flags of the engine": `return require("v8").setFlagsFromString("--allow-natives-syntax")`,
      "trace events": `return require("trace_events").createTracing({ categories: ["node"] })`,
      "async hooks": `return require("async_hooks").createHook({ init() {} })`,
      "active handles": `return process._getActiveHandles()`,
      "SIGUSR1 to itself": `return process.kill(process.pid, "SIGUSR1")`,
      "a signal to another": `return process.kill(process.ppid, "SIGTERM")`,
    }));

  it.each([
    "child_process",
    "worker_threads",
    "vm",
    "module",
    "inspector",
    "inspector/promises",
    "wasi",
    "cluster",
  ])("`%s` cannot be imported, and what is found of it otherwise does nothing", (name) =>
    allRefused({
      require: `return require("${name}")`,
      "require with a prefix": `return require("node:${name}")`,
      getBuiltinModule: `return process.getBuiltinModule("${name}")`,
      "Module._load": `return module.constructor._load("${name}")`,
      "import()": `const found = await import("node:${name}"); const used = Object.entries(found).find(([key, value]) => typeof value === "function" && key !== "default" && !["isBuiltin", "wrap", "_load", "_findPath", "_nodeModulePaths", "_resolveFilename", "_resolveLookupPaths", "_preloadModules", "_initPaths", "runMain", "Module", "_stat", "_readPackage"].includes(key)); return new used[1]()`,
    }),
  );

  it("a program as a child, a thread and a loader are not started, whatever they are called by", () =>
    allRefused({
      "main.constructor": `return require.main.constructor._load("child_process").spawnSync("true")`,
      "module.register": `return module.constructor.register("data:text/javascript,")`,
      createRequire: `return module.constructor.createRequire(__filename)("child_process")`,
      execve: `if (process.execve === undefined) throw Object.assign(new Error(), { code: "ERR_ACCESS_DENIED" }); return process.execve("/bin/true", ["true"], {})`,
    }));
});

it("attack: the descriptor of the gate is not there for the program, and the gate stays whole", async () => {
  await allRefused({
    write: `return fs.writeSync(3, "x")`,
    read: `return fs.readSync(3, Buffer.alloc(1))`,
    close: `return fs.closeSync(3)`,
    "by callback": `return require("util").promisify(fs.write)(3, "x")`,
    "as a file": `return fs.writeFileSync(3, "x")`,
    "as a stream": `return new Promise((done, failed) => fs.createReadStream("", { fd: 3 }).on("error", failed).on("data", done))`,
    "by its name in /proc": `return fs.readFileSync("/proc/self/fd/3")`,
    "afterwards a question is still answered": `return fs.readFileSync(at.secret + "/a.txt")`,
  });
});

describe("attack: loading a file as code", () => {
  it("is a read outside the roots of the code", async () => {
    const { secret, reads } = world.places;
    writeFileSync(join(secret, "data.json"), '{"text":"secret a"}');
    writeFileSync(join(secret, "code.mjs"), 'export default "secret a"');
    writeFileSync(join(reads, "data.json"), '{"text":"declared"}');
    await allRefused({
      "require of JSON": `return require(at.secret + "/data.json")`,
      "import of JSON": `return JSON.stringify(await import(at.secret + "/data.json", { with: { type: "json" } }))`,
      "import of a module": `return (await import(at.secret + "/code.mjs")).default`,
      "import by a URL": `return (await import(require("url").pathToFileURL(at.secret + "/code.mjs").href)).default`,
    });
    const found = await outcomes(
      world,
      `required: () => require(at.reads + "/data.json").text,
       imported: async () => (await import(at.reads + "/data.json", { with: { type: "json" } })).default.text`,
    );
    expect(found).toEqual({ required: "declared", imported: "declared" });
  });

  it("an exemption for code is not one for reading", () =>
    allRefused({
      "the code as data": `return fs.readFileSync(__filename, "utf8")`,
      "after loading it": `fs.writeFileSync(at.all + "/own.json", "1"); require(at.all + "/own.json"); return fs.readFileSync(__filename)`,
    }));
});

describe("attack: the network", () => {
  it("is asked about or closed at every way out and in", () =>
    allRefused(
      {
        "net.connect": `return ended(require("net").connect(80, "127.0.0.1"))`,
        "new Socket().connect": `return ended(new (require("net").Socket)().connect(80))`,
        "a number for an address": `return ended(require("net").connect(80, "0x7f.1"))`,
        "a unix socket": `return ended(require("net").connect("/run/any.sock"))`,
        "an abstract unix socket": `return ended(require("net").connect("\\0any"))`,
        "tls.connect": `return ended(require("tls").connect(443, "127.0.0.1"))`,
        "a host that is none": `return ended(require("net").connect(80, "a b"))`,
        listen: `return require("net").createServer().listen(0)`,
        "a handle to listen": `return require("net")._createServerHandle("127.0.0.1", 0, 4)`,
        "http.get": `return require("http").get("http://127.0.0.1/")`,
        "http.get without an agent": `return require("http").get("http://127.0.0.1/", { agent: false })`,
        "https.get": `return require("https").get("https://127.0.0.1/")`,
        "http with an own connection": `return ended(require("http").get({ createConnection: () => new (require("stream").PassThrough)() }))`,
        "http2.connect": `return require("http2").connect("http://127.0.0.1")`,
        fetch: `return fetch("http://127.0.0.1/")`,
        "the dispatcher behind fetch": `void Headers; return globalThis[Symbol.for("undici.globalDispatcher.1")].request({ origin: "http://127.0.0.1", path: "/", method: "GET" })`,
        "a datagram": `return require("dgram").createSocket("udp4").send("x", 53, "127.0.0.1")`,
        "dns.lookup": `return require("util").promisify(require("dns").lookup)("example.com")`,
        "dns.promises.lookup": `return require("dns").promises.lookup("example.com")`,
        "dns.promises.resolve": `return require("dns").promises.resolve("example.com")`,
        "an own resolver": `const own = new (require("dns").Resolver)(); own.setServers(["127.0.0.1"]); return own.resolve4("x", () => {})`,
        "an own resolver, by promise": `return new (require("dns/promises").Resolver)().resolve4("x")`,
      },
      `const ended = (socket) => new Promise((done, failed) => socket.on("error", failed).on("connect", () => done("through")));`,
    ));
});

describe("attack: built-ins that are replaced", () => {
  it("change no decision", () =>
    allRefused(
      {
        sync: `return fs.readFileSync(at.secret + "/a.txt")`,
        promise: `return fs.promises.readFile(at.secret + "/a.txt")`,
        callback: `return new native.Promise((done, failed) => fs.readFile(at.secret + "/a.txt", (error, data) => error ? failed(error) : done(data)))`,
        handle: `return fs.promises.open(at.secret + "/a.txt")`,
        stat: `return fs.statSync(at.secret + "/a.txt").size`,
        write: `return fs.writeFileSync(at.secret + "/new.txt", "x")`,
        remove: `return fs.rmSync(at.secret + "/a.txt")`,
      },
      `
const native = { Promise };
const yes = { allowed: true, code: "allowed_rule", requiresApproval: false };
const put = (owner, key, value) => Object.defineProperty(owner, key, { value, configurable: true, writable: true });
put(String.prototype, "startsWith", () => true);
put(String.prototype, "slice", String.prototype.slice.bind(""));
put(String.prototype, "charCodeAt", () => 47);
put(Buffer.prototype, "utf8Slice", () => at.reads + "/a.txt");
put(path, "resolve", () => at.reads + "/a.txt");
put(path, "toNamespacedPath", () => at.reads + "/a.txt");
put(Array.prototype, "slice", () => []);
put(Array.prototype, "some", () => false);
put(Map.prototype, "get", () => yes);
put(WeakSet.prototype, "has", () => true);
put(Object.prototype, "allowed", true);
put(Object.prototype, "check", yes);
put(Object.prototype, "entered", []);
put(Object.prototype, "named", { type: "core", name: "core" });
put(JSON, "parse", () => yes);
put(Reflect, "apply", () => yes);
put(Function.prototype, "apply", () => yes);
put(Function.prototype, "call", () => yes);
put(Atomics, "load", () => 0);
put(process, "hrtime", () => [0, 0]);
put(process, "cwd", () => at.reads);
put(fs.Stats.prototype, "isDirectory", () => false);
put(TextDecoder.prototype, "decode", () => JSON.stringify(yes));
const said = JSON.stringify.bind(JSON);
`,
    ));

  it("change no decision that is waited for: `then`, `constructor` and listeners of promises and ports", () =>
    allRefused(
      {
        promise: `return await new native.Promise((done, failed) => reflectApply(then, fs.promises.readFile(at.secret + "/a.txt"), [done, failed]))`,
        callback: `return new native.Promise((done, failed) => fs.readFile(at.secret + "/a.txt", (error, data) => error ? failed(error) : done(data)))`,
      },
      `
const native = { Promise };
const { apply: reflectApply } = Reflect;
const { then } = Promise.prototype;
const yes = JSON.stringify({ allowed: true, code: "allowed_rule" });
const { AsyncResource } = require("async_hooks");
const { bind } = AsyncResource.prototype;
AsyncResource.prototype.bind = function (fn, ...args) { fn(); return reflectApply(bind, this, [fn, ...args]); };
AsyncResource.prototype.runInAsyncScope = function (fn, self, ...args) { try { reflectApply(fn, self, [undefined, ...args]); } catch {} };
Object.defineProperty(MessagePort.prototype, "emit", { value() {}, configurable: true });
for (const symbol of Object.getOwnPropertySymbols(EventTarget.prototype)) {
  const original = EventTarget.prototype[symbol];
  if (typeof original !== "function" || !/hybridDispatch/i.test(String(symbol))) continue;
  EventTarget.prototype[symbol] = function (data, type, event) {
    for (let ticket = 1; data === null && ticket < 50; ticket++) reflectApply(original, this, [{ kind: "answer", ticket, text: yes }, type, event]);
    return reflectApply(original, this, [data, type, event]);
  };
}
`,
    ));
});

it("attack: names on prototypes that make Node take a path for a URL are refused", () =>
  allRefused(
    {
      "a declared path": `return fs.readFileSync(at.reads + "/a.txt")`,
      "by promise": `return fs.promises.readFile(at.reads + "/a.txt")`,
      stat: `return fs.statSync(at.reads + "/a.txt")`,
    },
    `
const target = "file://" + at.secret + "/a.txt";
for (const [key, value] of Object.entries({ href: target, protocol: "file:", pathname: at.secret + "/a.txt", hostname: "" }))
  Object.defineProperty(String.prototype, key, { get: () => value, configurable: true });
`,
  ));

/** Another process that swaps what a name leads to, over and over. */
async function whileSwapping(
  program: string,
  args: readonly string[],
  work: () => Promise<void>,
): Promise<void> {
  const source = `const fs = require("fs"); const [a, b, c, d] = process.argv.slice(1); for (;;) { ${program} }`;
  const swapper = spawn(process.execPath, ["-e", source, ...args]);
  try {
    await work();
  } finally {
    swapper.kill("SIGKILL");
  }
}

async function raced(path: string): Promise<Record<string, number>> {
  const found = await outcomes(
    world,
    `race: () => {
       const seen = {};
       for (let round = 0; round < 4000; round++) {
         let outcome;
         try { outcome = fs.readFileSync(at.reads + ${JSON.stringify(path)}, "utf8"); } catch (error) { outcome = error.code; }
         seen[outcome] = (seen[outcome] ?? 0) + 1;
       }
       return seen;
     }`,
  );
  return found["race"] as Record<string, number>;
}

describe("attack: what a name leads to is swapped between check and open", () => {
  it("a file for a link wins nothing", async () => {
    const { reads, secret } = world.places;
    for (const name of ["swapped", "other"]) writeFileSync(join(reads, name), "harmless");
    const swap = `
      try { fs.symlinkSync(b, a + ".1"); fs.renameSync(a + ".1", a); } catch {}
      try { fs.linkSync(c, a + ".2"); fs.renameSync(a + ".2", a); fs.unlinkSync(a + ".2"); } catch {}`;
    const args = [join(reads, "swapped"), join(secret, "a.txt"), join(reads, "other")];
    await whileSwapping(swap, args, async () => {
      const seen = await raced("/swapped");
      expect(Object.keys(seen)).not.toContain("secret a");
      expect(seen["harmless"]).toBeGreaterThan(0);
    });
  });

  it("a folder above the file for a link wins nothing", async () => {
    const { reads, secret } = world.places;
    mkdirSync(join(reads, "above"));
    writeFileSync(join(reads, "above", "a.txt"), "harmless");
    symlinkSync(secret, join(reads, "above-link"));
    const swap = `
      try { fs.renameSync(a, b); fs.renameSync(c, a); } catch {}
      try { fs.renameSync(a, c); fs.renameSync(b, a); } catch {}`;
    const args = [join(reads, "above"), join(reads, "above-kept"), join(reads, "above-link")];
    await whileSwapping(swap, args, async () => {
      const seen = await raced("/above/a.txt");
      expect(Object.keys(seen)).not.toContain("secret a");
      expect(seen["harmless"]).toBeGreaterThan(0);
    });
  });
});

describe("attack: a start beside the guard", () => {
  it("is refused behind another preload", async () => {
    const before = join(world.places.code, "before.cjs");
    writeFileSync(before, "globalThis.stolen = require('node:fs').readFileSync;");
    const ended = await start(world, "console.log('ran')", {
      env: { NODE_OPTIONS: `--require ${before}` },
    }).ended;
    expect([ended.code, ended.stdout]).toEqual([78, ""]);
    expect(ended.stderr).toContain("another preload ran before the guard");
  });

  it.each(["--expose-internals", "--inspect=0"])("is refused with `%s`", async (flag) => {
    const ended = await start(world, "console.log('ran')", { flags: [flag] }).ended;
    expect([ended.code, ended.stdout]).toEqual([78, ""]);
  });

  it("is refused without a gate", () => {
    let told = "";
    try {
      execFileSync(process.execPath, ["--require", preload.file, "-e", "1"], {
        stdio: "pipe",
        encoding: "utf8",
      });
    } catch (error) {
      told = (error as { stderr: string }).stderr;
    }
    expect(told).toContain("there is no gate");
  });

  it("leaves no trace of the gate in the environment, nor of itself in the cache", async () => {
    const found = await outcomes(
      world,
      `names: () => Object.keys(process.env).filter((name) => name.startsWith("SALLYPORT_GATE") || name.startsWith("SALLYPORT_GUARD")).join(),
       cache: () => Object.keys(require.cache).filter((file) => file.includes("preload")).join()`,
    );
    expect(found).toEqual({ names: "", cache: "" });
  });
});

it("a hard link that is there already is what its name says", async () => {
  const { secret, reads } = world.places;
  linkSync(join(secret, "a.txt"), join(reads, "hard"));
  expect(await outcomes(world, `read: () => fs.readFileSync(at.reads + "/hard", "utf8")`)).toEqual({
    read: "secret a",
  });
});
