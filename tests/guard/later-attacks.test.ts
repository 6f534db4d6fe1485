/**
 * Attacks on what an asynchronous call does later than it was decided on: the program itself swaps the place while the call
 * waits for one of Node's threads, or for a person.
 */
import {
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ADMIN, adminCaller, entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { allRefused } from "./attack-world.ts";
import { type GuardedWorld, openWorld, outcomes } from "./guarded-process.ts";
import { worldOfFile } from "./world-of-file.ts";

/** One for each call, so that what one has done does not hide what another one does. */
const SECRETS = 100;
let world: GuardedWorld;
worldOfFile(async (preload) => {
  world = await openWorld(preload, (folder) =>
    (["read", "create", "delete"] as const).map((operation) =>
      entry("filesystem", operation, `${folder}/unmodified/`),
    ),
  );
  for (let each = 0; each < SECRETS; each++) fill(join(world.places.secret, `${each}`), "secret a");
  mkdirSync(join(world.places.all, "..", "unmodified"));
  return world;
});

/** What lies in the secret place, and in the program's own that is swapped for it; the text tells them apart. */
function fill(folder: string, text: string): void {
  mkdirSync(folder);
  writeFileSync(join(folder, "a.txt"), text);
  writeFileSync(join(folder, "only.txt"), text);
  symlinkSync(`hidden ${text}`, join(folder, "link"));
  mkdirSync(join(folder, "empty"));
  mkdirSync(join(folder, "tree"));
  writeFileSync(join(folder, "tree", "b.txt"), text);
  writeFileSync(join(folder, "tree", "only.txt"), text);
  mkdirSync(join(folder, "only"));
}

/** Everything that a call could have changed there. */
function stateOf(folder: string): unknown {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .toSorted()
    .map((name) => {
      const path = join(folder, name);
      const stats = lstatSync(path);
      const { mode, uid, gid, mtimeMs, nlink } = stats;
      const text = stats.isFile() ? readFileSync(path, "utf8") : "";
      return {
        name,
        mode,
        uid,
        gid,
        mtimeMs,
        nlink,
        text,
        link: stats.isSymbolicLink() && readlinkSync(path),
      };
    });
}

const BEFORE = `
const { promisify } = require("util");
const { pbkdf2 } = require("crypto");
let count = -1;
/** A place of the program's own, which it swaps for a link to the secret one. */
const place = (base = at.all) => {
  const folder = base + "/swapped-" + process.pid + "-" + ++count;
  fs.mkdirSync(folder);
  fs.writeFileSync(folder + "/a.txt", "mine");
  fs.symlinkSync("mine", folder + "/link");
  fs.mkdirSync(folder + "/empty");
  fs.mkdirSync(folder + "/tree");
  fs.writeFileSync(folder + "/tree/b.txt", "mine");
  fs.symlinkSync(at.secret + "/" + Math.min(first + count, 99), folder + "-link");
  return folder;
};
const swap = (folder) => {
  fs.renameSync(folder, folder + "-kept");
  fs.renameSync(folder + "-link", folder);
};
/** Node's threads have something else to do first. */
const busy = () => { for (let each = 0; each < 8; each++) pbkdf2("a", "b", 20_000, 8, "sha512", () => {}); };
const swapped = async (call) => {
  const folder = place();
  const other = folder + "-other";
  fs.mkdirSync(other);
  fs.writeFileSync(other + "/a.txt", "other");
  busy();
  const called = call(folder, other);
  swap(folder);
  const value = await called;
  const read = (name) => { try { return fs.readFileSync(name, "utf8"); } catch { return undefined; } };
  return { value: value ?? null, got: read(other + "/got"), gotBelow: read(other + "/got/a.txt") ?? read(other + "/got/tree/b.txt") };
};
const listed = async (dir) => { const names = []; for await (const { name } of dir) names.push(name); return names; };
`;

/** Calls of `fs.promises`, and the same with a callback. */
const CALLS: Record<string, string> = {
  access: `f.access(folder + "/only.txt")`,
  stat: `f.stat(folder + "/a.txt").then(({ size }) => size)`,
  lstat: `f.lstat(folder + "/a.txt").then(({ size }) => size)`,
  "stat of what is not there": `f.stat(folder + "/only.txt").then(({ size }) => size)`,
  readlink: `f.readlink(folder + "/link")`,
  realpath: `f.realpath(folder + "/a.txt")`,
  readdir: `f.readdir(folder)`,
  "readdir with all below": `f.readdir(folder, { recursive: true })`,
  opendir: `f.opendir(folder).then(listed)`,
  chmod: `f.chmod(folder + "/a.txt", 0o777)`,
  chown: `f.chown(folder + "/a.txt", 7, 7)`,
  lchown: `f.lchown(folder + "/a.txt", 7, 7)`,
  utimes: `f.utimes(folder + "/a.txt", 1, 1)`,
  lutimes: `f.lutimes(folder + "/a.txt", 1, 1)`,
  unlink: `f.unlink(folder + "/a.txt")`,
  rmdir: `f.rmdir(folder + "/empty")`,
  rm: `f.rm(folder + "/a.txt")`,
  "rm with all below": `f.rm(folder + "/tree", { recursive: true })`,
  mkdir: `f.mkdir(folder + "/new")`,
  "mkdir with all above": `f.mkdir(folder + "/new/deeper", { recursive: true })`,
  mkdtemp: `f.mkdtemp(folder + "/new-").then(() => undefined)`,
  symlink: `f.symlink("x", folder + "/new")`,
  "link from there": `f.link(folder + "/a.txt", other + "/got")`,
  "link to there": `f.link(other + "/a.txt", folder + "/new")`,
  "rename from there": `f.rename(folder + "/a.txt", other + "/got")`,
  "rename to there": `f.rename(other + "/a.txt", folder + "/a.txt")`,
  "copyFile from there": `f.copyFile(folder + "/a.txt", other + "/got")`,
  "copyFile to there": `f.copyFile(other + "/a.txt", folder + "/new")`,
  "copyFile over what is there": `f.copyFile(other + "/a.txt", folder + "/a.txt")`,
  "cp from there": `f.cp(folder + "/a.txt", other + "/got")`,
  "cp to there": `f.cp(other + "/a.txt", folder + "/new")`,
  "cp over what is there": `f.cp(other + "/a.txt", folder + "/a.txt")`,
  "cp of all below": `f.cp(folder, other + "/got", { recursive: true })`,
  "cp of all below to there": `f.cp(other, folder + "/new/deeper", { recursive: true, preserveTimestamps: true })`,
  truncate: `f.truncate(folder + "/a.txt")`,
  readFile: `f.readFile(folder + "/a.txt", "utf8")`,
  writeFile: `f.writeFile(folder + "/a.txt", "stolen")`,
  appendFile: `f.appendFile(folder + "/new.txt", "stolen")`,
};
const PROMISES = `const f = fs.promises;`;
const CALLBACKS = `const f = Object.fromEntries(Object.keys(fs.promises).flatMap((name) => typeof fs[name] === "function" ? [[name, promisify(fs[name])]] : []));`;

describe("attack: a folder is swapped for a link after an asynchronous call was made", () => {
  it.each([
    ["by promise", PROMISES, 0],
    ["by callback", CALLBACKS, 50],
  ])("%s", async (_, forms, first) => {
    const before = stateOf(world.places.secret);
    const tasks = Object.entries(CALLS).map(
      ([name, call]) => `${JSON.stringify(name)}: () => swapped((folder, other) => ${call})`,
    );
    tasks.push(
      `exists: () => swapped((folder) => new Promise((done) => fs.exists(folder + "/only.txt", done)))`,
    );
    const found = await outcomes(world, tasks.join(",\n"), {
      waitMs: 0,
      before: `const first = ${first};${BEFORE}${forms}`,
    });
    const told = Object.entries(found).map(([name, outcome]) => `${name}: ${JSON.stringify(outcome)}`);
    expect(told.filter((text) => /secret|only\.txt|"value":(?:8|true)/.test(text))).toEqual([]);
    expect(Object.keys(found)).toEqual([...Object.keys(CALLS), "exists"]);
    expect(stateOf(world.places.secret)).toEqual(before);
  });
});

/** What waits for somebody at these places, as soon as there is something. */
async function waitingAt(place: string) {
  for (;;) {
    const { rows } = await world.fixture.service.list.requests(adminCaller());
    const found = rows.filter(
      ({ status, resource }) => status === "pending" && resource.target.includes(place),
    );
    if (found.length > 0) return found;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function decideAt(place: string, verb: "approvePermanently" | "denyExternalAccess"): Promise<void> {
  const { fixture } = world;
  for (const { id } of await waitingAt(place)) {
    const by = await fixture.shown(id);
    await fixture.runtime.runAsHost(ADMIN, () => fixture.sdk.access[verb](by));
  }
}

describe("attack: a folder is swapped for a link while a person decides", () => {
  const UNMODIFIED = `const base = path.dirname(at.all) + "/unmodified";`;

  it.each([
    ["chmod by promise", `fs.promises.chmod(folder + "/a.txt", 0o777)`],
    ["utimes by callback", `promisify(fs.utimes)(folder + "/a.txt", 1, 1)`],
    ["rename over a file", `fs.promises.rename(folder + "/tree/b.txt", folder + "/a.txt")`],
    ["copyFile over a file", `fs.promises.copyFile(folder + "/tree/b.txt", folder + "/a.txt")`],
    ["cp over a file", `fs.promises.cp(folder + "/tree/b.txt", folder + "/a.txt")`],
  ])("%s changes nothing but what was approved", async (_, call) => {
    const before = stateOf(world.places.secret);
    const found = outcomes(
      world,
      `late: async () => {
         const folder = place(base);
         const called = ${call};
         swap(folder);
         return called;
       }`,
      { before: `const first = 99;${BEFORE}${UNMODIFIED}` },
    );
    await decideAt("/unmodified/", "approvePermanently");
    expect(Object.values(await found)).toEqual([expect.stringMatching(/^ExternalAccessError|ENOENT/)]);
    expect(stateOf(world.places.secret)).toEqual(before);
  });

  it("writeFile asks about the place that it leads to by then", async () => {
    const found = outcomes(
      world,
      `late: async () => {
         const folder = place(base);
         const called = fs.promises.writeFile(folder + "/a.txt", "stolen");
         swap(folder);
         return called;
       }`,
      { before: `const first = 99;${BEFORE}${UNMODIFIED}` },
    );
    await decideAt("/unmodified/", "approvePermanently");
    await decideAt("/secret/99/a.txt", "denyExternalAccess");
    expect(await found).toEqual({ late: "ExternalAccessError ERR_ACCESS_DENIED resource_disabled open" });
  });

  it("a file that came to the place of a rename meanwhile is not replaced", async () => {
    writeFileSync(join(world.places.secret, "renamed"), "secret");
    const found = outcomes(
      world,
      `late: async () => {
         const target = at.creates + "/late-" + process.pid;
         const called = fs.promises.rename(at.secret + "/renamed", target);
         fs.writeFileSync(target, "of somebody else");
         return await called.catch((error) => error.check?.code ?? error.code);
       }`,
    );
    await decideAt("/secret/renamed", "approvePermanently");
    expect(await found).toEqual({ late: "invalid_target" });
  });

  it("what came below a folder meanwhile is not listed with it", async () => {
    const { secret } = world.places;
    mkdirSync(join(secret, "listed"));
    const found = outcomes(
      world,
      `late: () => fs.promises.readdir(at.secret + "/listed", { recursive: true }).catch((error) => error.check?.code)`,
    );
    await waitingAt("/secret/listed");
    mkdirSync(join(secret, "listed", "later"));
    await decideAt("/secret/listed", "approvePermanently");
    expect(await found).toEqual({ late: "invalid_target" });
  });
});

describe("attack: the number of a descriptor means another file by the time it is used", () => {
  it.each([
    ["fchmod", `promisify(fs.fchmod)(fd, 0o777)`],
    ["futimes", `promisify(fs.futimes)(fd, 1, 1)`],
  ])("%s changes the file that was decided on, or none", async (_, call) => {
    const file = join(world.places.reads, "a.txt");
    const before = lstatSync(file);
    const found = await outcomes(
      world,
      `swapped: async () => {
         const mine = at.all + "/own-" + process.pid;
         fs.writeFileSync(mine, "mine");
         const fd = fs.openSync(mine, "r+");
         busy();
         const called = ${call};
         fs.closeSync(fd);
         const other = fs.openSync(at.reads + "/a.txt");
         await called.catch(() => {});
         return other === fd;
       }`,
      { before: `const first = 99;${BEFORE}` },
    );
    expect(found).toEqual({ swapped: true });
    const { mode, mtimeMs } = lstatSync(file);
    expect({ mode, mtimeMs }).toEqual({ mode: before.mode, mtimeMs: before.mtimeMs });
  });
});

const FOLDERS = {
  "a method of `Dir` that opens what it is told": `
    const dir = fs.opendirSync(at.reads);
    if (dir.readSyncRecursive === undefined) throw Object.assign(new Error(), { code: "ERR_ACCESS_DENIED" });
    try { dir.readSyncRecursive({ parentPath: at.secret, path: at.secret, name: "." }); } finally { dir.closeSync(); }
    return dir.readSync().name`,
  "a `Dir` of the program's own, with a folder that it names": `
    const handle = { read: () => [path.basename(at.secret), 2], close() {} };
    const dir = new fs.Dir(handle, path.dirname(at.secret), { recursive: true });
    return [dir.readSync().name, dir.readSync().name]`,
  "the same by the constructor of one that Node made": `
    const made = fs.opendirSync(at.reads);
    const handle = { read: () => [path.basename(at.secret), 2], close() {} };
    try { return new made.constructor(handle, path.dirname(at.secret), { recursive: true }).readSync().name; } finally { made.closeSync(); }`,
  "a watcher that begins after its folder was swapped": `
    const folder = place();
    const watcher = fs.promises.watch(folder);
    swap(folder);
    const first = watcher.next();
    setTimeout(() => watcher.return(), 100).unref();
    return await first`,
};

describe("attack: folders are opened by other ways than `opendir`", () => {
  it.each(Object.entries(FOLDERS))("%s", async (_, attack) => {
    await allRefused(world, { attack }, `const first = 99;${BEFORE}`);
  });

  it("a folder below that is swapped for a link while a recursive one is read is not opened", async () => {
    const found = await outcomes(
      world,
      `read: async () => {
         const folder = place();
         fs.renameSync(folder, folder + "-tree");
         fs.mkdirSync(folder);
         fs.renameSync(folder + "-tree", folder + "/below");
         const dir = fs.opendirSync(folder, { recursive: true });
         const names = [dir.readSync().name];
         fs.renameSync(folder + "/below", folder + "-kept");
         fs.renameSync(folder + "-link", folder + "/below");
         for (let entry = dir.readSync(); entry !== null; entry = dir.readSync()) names.push(entry.name);
         dir.closeSync();
         return names.toSorted();
       }`,
      { before: `const first = 99;${BEFORE}` },
    );
    expect(found).toEqual({ read: ["a.txt", "b.txt", "below", "empty", "link", "tree"] });
  });
});

describe("a watched file", () => {
  it("attack: tells nothing of another one that comes in its way", async () => {
    const found = await outcomes(
      world,
      `told: async () => {
         const folder = place();
         const told = [];
         fs.watchFile(folder + "/a.txt", { interval: 20 }, (now, before) => told.push(now.size, before.size));
         await new Promise((done) => setTimeout(done, 100));
         swap(folder);
         await new Promise((done) => setTimeout(done, 200));
         fs.renameSync(folder, folder + "-link");
         fs.renameSync(folder + "-kept", folder);
         await new Promise((done) => setTimeout(done, 100));
         fs.unwatchFile(folder + "/a.txt");
         return told;
       }`,
      { before: `const first = 99;${BEFORE}` },
    );
    expect(found).toEqual({ told: [] });
  });

  it("tells what became of it, and what it was", async () => {
    const found = await outcomes(
      world,
      `told: async () => {
         const file = at.all + "/watched-" + process.pid;
         const heard = (options) => {
           const told = [];
           let wake;
           fs.watchFile(file, { interval: 20, ...options }, (now, before) => { told.push([String(now.size), String(before.size), now.isFile()]); wake?.(); });
           return { told, until: async (count) => { while (told.length < count) await new Promise((done) => (wake = done)); } };
         };
         const seen = heard({});
         await seen.until(1);
         fs.writeFileSync(file, "abc");
         await seen.until(2);
         fs.appendFileSync(file, "de");
         await seen.until(3);
         fs.unlinkSync(file);
         await seen.until(4);
         fs.unwatchFile(file);
         const big = heard({ bigint: true });
         await big.until(1);
         fs.writeFileSync(file, "abc");
         await big.until(2);
         fs.unwatchFile(file);
         return [...seen.told, ...big.told];
       }`,
      { before: `const first = 99;${BEFORE}` },
    );
    expect(found["told"]).toEqual([
      ["0", "0", false],
      ["3", "0", true],
      ["5", "3", true],
      ["0", "5", false],
      ["0", "0", false],
      ["3", "0", true],
    ]);
  });
});

const COPIES = {
  "the filter of a copy swaps the folder whose mode is set at the end": `
    const { folder, source, filter } = copying();
    fs.cpSync(source, folder + "/only", { recursive: true, filter });`,
  "the same, asynchronously": `
    const { folder, source, filter } = copying();
    await fs.promises.cp(source, folder + "/only", { recursive: true, filter });`,
  "a method of `Stats` that runs in the middle of a copy": `
    const { folder, source } = copying();
    const proto = Object.hasOwn(fs.Stats.prototype, "isFile") ? fs.Stats.prototype : Object.getPrototypeOf(fs.Stats.prototype);
    let isSwapped = false;
    const original = proto.isFile;
    proto.isFile = function () { if (!isSwapped) { isSwapped = true; swap(folder); } return original.call(this); };
    try { fs.cpSync(source + "/a.txt", folder + "/a.txt", { force: true }); } finally { proto.isFile = original; }`,
  "a setter that hears what is written into `Stats`": `
    for (let turn = 1; turn <= 40; turn++) {
      const { folder, source } = copying();
      let heard = 0;
      Object.defineProperty(fs.Stats.prototype, "size", { configurable: true, set() { if (++heard === turn) swap(folder); }, get() { return 5; } });
      try { fs.cpSync(source + "/a.txt", folder + "/a.txt", { force: true }); } catch {} finally { delete fs.Stats.prototype.size; }
    }`,
};

it.each(Object.entries(COPIES))("attack: %s", async (_, attack) => {
  const before = stateOf(world.places.secret);
  await outcomes(world, `attack: async () => { ${attack} }`, {
    waitMs: 0,
    before: `const first = 99;${BEFORE}
      /** A folder to be copied, with an odd mode, and a filter that swaps the target when it is asked about what lies in it. */
      const copying = () => {
        const folder = place();
        const source = folder + "-source";
        fs.mkdirSync(source, { mode: 0o711 });
        fs.writeFileSync(source + "/a.txt", "stolen");
        const filter = (from) => { if (from === source) return true; swap(folder); return false; };
        return { folder, source, filter };
      };`,
  });
  expect(stateOf(world.places.secret)).toEqual(before);
});
