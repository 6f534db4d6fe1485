/** Ways around the guard through Node itself: its inside, its loader, its network, and a start beside the guard. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { allRefused, openAttackWorld } from "./attack-world.ts";
import { type GuardedWorld, outcomes, start } from "./guarded-process.ts";
import { worldOfFile } from "./world-of-file.ts";

let world: GuardedWorld;
worldOfFile(async (preload) => (world = await openAttackWorld(preload)));

describe("attack: Node's inside", () => {
  it("is not handed out", () =>
    allRefused(world, {
      "process.binding": `return process.binding("fs")`,
      "process._linkedBinding": `return process._linkedBinding("fs")`,
      "process.dlopen": `return process.dlopen({ exports: {} }, at.secret + "/a.node")`,
      "a native add-on by require": `fs.writeFileSync(at.all + "/x.node", ""); return require(at.all + "/x.node")`,
      "process.report": `return process.report.writeReport(at.secret + "/new.txt")`,
      "a report at a place of Node's choice": `return process.report.writeReport()`,
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

  it("is not found on the stack of a getter that the guard calls", async () => {
    const found = await outcomes(
      world,
      `functions: async () => {
        const seen = [];
        const look = () => {
          Error.prepareStackTrace = (_, sites) => sites;
          for (const site of new Error("look").stack)
            if (site.getFileName() === "sallyport:guard") seen.push([site.getFunction(), site.getThis()]);
          Error.prepareStackTrace = undefined;
        };
        let caller;
        const get = function () { caller = get.caller; look(); return "r"; };
        fs.readFileSync(at.reads + "/a.txt", Object.defineProperty({}, "flag", { get }));
        const given = seen.flat().filter((value) => value !== undefined).length;
        return [seen.length > 0, given, caller ?? "nobody"];
      }`,
      { waitMs: 0 },
    );
    expect(found).toEqual({ functions: [true, 0, "nobody"] });
  });

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
    allRefused(world, {
      require: `return require("${name}")`,
      "require with a prefix": `return require("node:${name}")`,
      getBuiltinModule: `return process.getBuiltinModule("${name}")`,
      "Module._load": `return module.constructor._load("${name}")`,
      "import()": `const found = await import("node:${name}"); const used = Object.entries(found).find(([key, value]) => typeof value === "function" && key !== "default" && !["isBuiltin", "wrap", "_load", "_findPath", "_nodeModulePaths", "_resolveFilename", "_resolveLookupPaths", "_preloadModules", "_initPaths", "runMain", "Module", "_stat", "_readPackage"].includes(key)); return new used[1]()`,
    }),
  );

  it("a program as a child, a thread and a loader are not started, whatever they are called by", () =>
    allRefused(world, {
      "main.constructor": `return require.main.constructor._load("child_process").spawnSync("true")`,
      "module.register": `return module.constructor.register("data:text/javascript,")`,
      createRequire: `return module.constructor.createRequire(__filename)("child_process")`,
      execve: `if (process.execve === undefined) throw Object.assign(new Error(), { code: "ERR_ACCESS_DENIED" }); return process.execve("/bin/true", ["true"], {})`,
    }));
});

it("attack: the descriptor of the gate is not there for the program, and the gate stays whole", async () => {
  await allRefused(world, {
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
    await allRefused(world, {
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
    allRefused(world, {
      "the code as data": `return fs.readFileSync(__filename, "utf8")`,
      "after loading it": `fs.writeFileSync(at.all + "/own.json", "1"); require(at.all + "/own.json"); return fs.readFileSync(__filename)`,
    }));
});

describe("attack: the network", () => {
  it("is asked about or closed at every way out and in", () =>
    allRefused(
      world,
      {
        "net.connect": `return ended(require("net").connect(80, "127.0.0.1"))`,
        "new Socket().connect": `return ended(new (require("net").Socket)().connect(80))`,
        "a number for an address": `return ended(require("net").connect(80, "0x7f.1"))`,
        "a unix socket": `return ended(require("net").connect("/run/any.sock"))`,
        "an abstract unix socket": `return ended(require("net").connect("\\0any"))`,
        "tls.connect": `return ended(require("tls").connect(443, "127.0.0.1"))`,
        "a host that is none": `return ended(require("net").connect(80, "a b"))`,
        listen: `return ended(require("net").createServer().listen(0))`,
        "a handle to listen": `return require("net")._createServerHandle("127.0.0.1", 0, 4)`,
        "http.get": `return ended(require("http").get("http://127.0.0.1/"))`,
        "http.get without an agent": `return ended(require("http").get("http://127.0.0.1/", { agent: false }))`,
        "https.get": `return ended(require("https").get("https://127.0.0.1/"))`,
        "http2.connect": `const session = require("http2").connect("http://127.0.0.1").on("error", () => {}); return ended(session.request({ ":path": "/" }))`,
        fetch: `return fetch("http://127.0.0.1/").catch((error) => { throw error.cause; })`,
        "the dispatcher behind fetch": `void Headers; return globalThis[Symbol.for("undici.globalDispatcher.1")].request({ origin: "http://127.0.0.1", path: "/", method: "GET" })`,
        "a datagram": `const socket = require("dgram").createSocket("udp4"); const over = ended(socket); socket.send("x", 53, "127.0.0.1"); return over`,
        "dns.lookup": `return require("util").promisify(require("dns").lookup)("example.com")`,
        "dns.promises.lookup": `return require("dns").promises.lookup("example.com")`,
        "dns.promises.resolve": `return require("dns").promises.resolve("example.com")`,
        "an own resolver": `const own = new (require("dns").Resolver)(); own.setServers(["127.0.0.1"]); return new Promise((done, failed) => own.resolve4("x", (error) => error ? failed(error) : done("through")))`,
        "an own resolver, by promise": `return new (require("dns/promises").Resolver)().resolve4("x")`,
      },
      `const ended = (socket) => new Promise((done, failed) => socket.on("error", failed).on("connect", () => done("through")));`,
    ));
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
      execFileSync(process.execPath, ["--require", world.preload, "-e", "1"], {
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
