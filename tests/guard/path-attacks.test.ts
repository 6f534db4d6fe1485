/** Ways around the guard by names and links, each named after the attack. What another process does is done as that process. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, linkSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { allRefused, openAttackWorld } from "./attack-world.ts";
import { type GuardedWorld, openWorld, outcomes } from "./guarded-process.ts";
import { worldOfFile } from "./world-of-file.ts";

let world: GuardedWorld;
worldOfFile(async (preload) => (world = await openAttackWorld(preload)));

describe("attack: another way to write the path", () => {
  it("is refused in every spelling", () =>
    allRefused(world, {
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
  const wide = await openWorld({ file: world.preload }, () =>
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
    allRefused(world, {
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
    await allRefused(world, {
      "a rename that makes readable": `return fs.renameSync(at.deletes + "/move-me", at.all + "/readable")`,
      "a hard link that makes modifiable": `return fs.linkSync(at.reads + "/a.txt", at.all + "/modifiable")`,
    });
    expect([existsSync(join(all, "readable")), existsSync(join(deletes, "move-me"))]).toEqual([false, true]);
    expect(readFileSync(join(modifies, "a.txt"), "utf8")).toBe("modifies a");
  });
});

describe("attack: flags that do more than they say", () => {
  it("are checked as what they do", async () => {
    await allRefused(world, {
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
      world,
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

it("attack: names on prototypes that make Node take a path for a URL are refused", () =>
  allRefused(
    world,
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

it("attack: names on the prototypes of other values make a path of what is none", () =>
  allRefused(
    world,
    {
      boolean: `return fs.readFileSync(true)`,
      "boolean, by promise": `return fs.promises.readFile(true)`,
      symbol: `return fs.openSync(Symbol("x"))`,
      stat: `return fs.statSync(true)`,
    },
    `
for (const prototype of [Boolean.prototype, Symbol.prototype, Array.prototype]) {
  prototype.href = "file://" + at.secret + "/a.txt"; prototype.protocol = "file:"; prototype.hostname = "";
  prototype.pathname = at.secret + "/a.txt";
}
`,
  ));

it("a hard link that is there already is what its name says", async () => {
  const { secret, reads } = world.places;
  linkSync(join(secret, "a.txt"), join(reads, "hard"));
  expect(await outcomes(world, `read: () => fs.readFileSync(at.reads + "/hard", "utf8")`)).toEqual({
    read: "secret a",
  });
});
