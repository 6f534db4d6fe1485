/** Every file function in all its forms: what it means, who may call it, and that a blocked one does nothing. */
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type GuardedWorld, openWorld, outcomes } from "./guarded-process.ts";
import { preloadOfFile } from "./world-of-file.ts";

let world: GuardedWorld;
const preload = preloadOfFile();

/** By operation: calls on `f` (a file), `d` (a folder), `l` (a link), `n` (a name that is free). */
const CALLS = {
  read: {
    sync: {
      readFile: "fs.readFileSync(f)",
      readFileFlag: "fs.readFileSync(f, {flag: 'rs'})",
      stat: "fs.statSync(f)",
      lstat: "fs.lstatSync(l)",
      statfs: "fs.statfsSync(d)",
      access: "fs.accessSync(f)",
      exists: "fs.existsSync(f)",
      readdir: "fs.readdirSync(d)",
      readdirTypes: "fs.readdirSync(d, {withFileTypes: true})",
      opendir: "fs.opendirSync(d).closeSync()",
      readlink: "fs.readlinkSync(l)",
      realpath: "fs.realpathSync(f)",
      realpathNative: "fs.realpathSync.native(f)",
      open: "fs.closeSync(fs.openSync(f))",
      watch: "fs.watch(d).close()",
      watchFile: "(fs.watchFile(f, () => {}), fs.unwatchFile(f))",
    },
    callback: {
      readFile: "fs.readFile(f, cb)",
      stat: "fs.stat(f, cb)",
      lstat: "fs.lstat(l, cb)",
      statfs: "fs.statfs(d, cb)",
      access: "fs.access(f, cb)",
      readdir: "fs.readdir(d, cb)",
      opendir: "fs.opendir(d, (e, dir) => e ? cb(e) : dir.close(cb))",
      readlink: "fs.readlink(l, cb)",
      realpath: "fs.realpath(f, cb)",
      realpathNative: "fs.realpath.native(f, cb)",
      open: "fs.open(f, (e, fd) => e ? cb(e) : fs.close(fd, cb))",
      stream: "fs.createReadStream(f).on('error', cb).on('data', () => cb(null))",
      streamClass: "new fs.ReadStream(f).on('error', cb).on('data', () => cb(null))",
    },
    promise: {
      readFile: "fs.promises.readFile(f)",
      stat: "fs.promises.stat(f)",
      lstat: "fs.promises.lstat(l)",
      statfs: "fs.promises.statfs(d)",
      access: "fs.promises.access(f)",
      readdir: "fs.promises.readdir(d)",
      opendir: "fs.promises.opendir(d).then((dir) => dir.close())",
      readlink: "fs.promises.readlink(l)",
      realpath: "fs.promises.realpath(f)",
      open: "fs.promises.open(f).then((handle) => handle.close())",
      openAsBlob: "fs.openAsBlob(f).then((blob) => blob.text())",
    },
  },
  create: {
    sync: {
      writeFile: "fs.writeFileSync(n, 'x')",
      appendFile: "fs.appendFileSync(n, 'x')",
      open: "fs.closeSync(fs.openSync(n, 'wx'))",
      openNumber: "fs.closeSync(fs.openSync(n, fs.constants.O_CREAT | fs.constants.O_WRONLY))",
      readFileAppending: "fs.writeFileSync(n, 'x', {flag: 'ax'})",
      mkdir: "fs.mkdirSync(n)",
      mkdirRecursive: "fs.mkdirSync(n + '/b/c', {recursive: true})",
      mkdtemp: "fs.mkdtempSync(n)",
      symlink: "fs.symlinkSync('anywhere', n)",
    },
    callback: {
      writeFile: "fs.writeFile(n, 'x', cb)",
      appendFile: "fs.appendFile(n, 'x', cb)",
      open: "fs.open(n, 'w', (e, fd) => e ? cb(e) : fs.close(fd, cb))",
      mkdir: "fs.mkdir(n, cb)",
      mkdtemp: "fs.mkdtemp(n, cb)",
      symlink: "fs.symlink('anywhere', n, cb)",
      stream: "fs.createWriteStream(n).on('error', cb).end('x', cb)",
    },
    promise: {
      writeFile: "fs.promises.writeFile(n, 'x')",
      appendFile: "fs.promises.appendFile(n, 'x')",
      open: "fs.promises.open(n, 'w').then((handle) => handle.close())",
      mkdir: "fs.promises.mkdir(n)",
      mkdtemp: "fs.promises.mkdtemp(n)",
      symlink: "fs.promises.symlink('anywhere', n)",
    },
  },
  modify: {
    sync: {
      writeFile: "fs.writeFileSync(f, 'changed')",
      appendFile: "fs.appendFileSync(f, 'changed')",
      truncate: "fs.truncateSync(f, 1)",
      chmod: "fs.chmodSync(f, 0o600)",
      chown: "fs.chownSync(f, process.getuid(), process.getgid())",
      lchown: "fs.lchownSync(l, process.getuid(), process.getgid())",
      utimes: "fs.utimesSync(f, 1, 1)",
      lutimes: "fs.lutimesSync(l, 1, 1)",
      open: "fs.closeSync(fs.openSync(f, fs.constants.O_WRONLY))",
    },
    callback: {
      writeFile: "fs.writeFile(f, 'changed', cb)",
      appendFile: "fs.appendFile(f, 'changed', cb)",
      truncate: "fs.truncate(f, 1, cb)",
      chmod: "fs.chmod(f, 0o600, cb)",
      chown: "fs.chown(f, process.getuid(), process.getgid(), cb)",
      utimes: "fs.utimes(f, 1, 1, cb)",
      stream: "fs.createWriteStream(f).on('error', cb).end('changed', cb)",
    },
    promise: {
      writeFile: "fs.promises.writeFile(f, 'changed')",
      writeFileStream: "fs.promises.writeFile(f, require('stream').Readable.from(['changed']))",
      appendFile: "fs.promises.appendFile(f, 'changed')",
      truncate: "fs.promises.truncate(f, 1)",
      chmod: "fs.promises.chmod(f, 0o600)",
      chown: "fs.promises.chown(f, process.getuid(), process.getgid())",
      utimes: "fs.promises.utimes(f, 1, 1)",
    },
  },
  delete: {
    sync: {
      unlink: "fs.unlinkSync(f)",
      unlinkLink: "fs.unlinkSync(l)",
      rm: "fs.rmSync(f)",
      rmRecursive: "fs.rmSync(t, {recursive: true})",
      rmdir: "fs.rmdirSync(d)",
    },
    callback: {
      unlink: "fs.unlink(f, cb)",
      rm: "fs.rm(f, cb)",
      rmRecursive: "fs.rm(t, {recursive: true}, cb)",
      rmdir: "fs.rmdir(d, cb)",
    },
    promise: {
      unlink: "fs.promises.unlink(f)",
      rm: "fs.promises.rm(f)",
      rmRecursive: "fs.promises.rm(t, {recursive: true})",
      rmdir: "fs.promises.rmdir(d)",
    },
  },
} as const;

const FOLDER_OF = { read: "reads", create: "creates", modify: "modifies", delete: "deletes" } as const;
type Operation = keyof typeof FOLDER_OF;
const OPERATIONS = Object.keys(CALLS) as Operation[];
const FORMS = ["sync", "callback", "promise"] as const;

/** A fresh world in each folder: a file, an empty folder, a link, a tree. Emptied before, as the host. */
function furnish(): void {
  for (const folder of [...Object.values(FOLDER_OF), "secret"] as const) {
    const place = world.places[folder];
    rmSync(place, { recursive: true, force: true });
    for (const operation of OPERATIONS)
      for (const form of FORMS)
        for (const name of Object.keys(CALLS[operation][form])) {
          const at = join(place, operation, form, name);
          mkdirSync(join(at, "folder"), { recursive: true });
          mkdirSync(join(at, "tree", "deep"), { recursive: true });
          writeFileSync(join(at, "file"), "as it was");
          writeFileSync(join(at, "tree", "deep", "leaf"), "as it was");
          symlinkSync("file", join(at, "link"));
        }
  }
}

/** What is below a folder, with what the files hold. */
function picture(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((one) => {
      const path = join(one.parentPath, one.name);
      return `${path} ${one.isFile() ? readFileSync(path, "utf8") : ""}`;
    })
    .toSorted();
}

function tasksOn(folder: string, operation: Operation, form: (typeof FORMS)[number]): string {
  return Object.entries(CALLS[operation][form])
    .map(([name, call]) => {
      const at = `at.${folder} + "/${operation}/${form}/${name}`;
      const names = `const f = ${at}/file", d = ${at}/folder", l = ${at}/link", t = ${at}/tree", n = ${at}/new";`;
      const body =
        form === "callback"
          ? `return new Promise((done, failed) => { const cb = (error) => error ? failed(error) : done("done"); ${call}; });`
          : form === "promise"
            ? `return (${call}).then(() => "done");`
            : `${call}; return "done";`;
      return `"${folder} ${form} ${name}": () => { ${names} ${body} }`;
    })
    .join(",\n");
}

describe.each(OPERATIONS)("a call that means %s", (operation) => {
  // WHY: a world of its own, since a subject may hold only so many pending requests.
  beforeEach(async () => {
    world = await openWorld(preload);
    furnish();
  });
  afterEach(() => world.close());

  it("passes in every form where that is declared, and in none where only another operation is", async () => {
    const own = FORMS.map((form) => tasksOn(FOLDER_OF[operation], operation, form));
    const passed = await outcomes(world, own.join(",\n"));
    expect(Object.entries(passed).filter(([, outcome]) => outcome !== "done")).toEqual([]);
    expect(Object.keys(passed)).toHaveLength(
      FORMS.flatMap((form) => Object.keys(CALLS[operation][form])).length,
    );

    const other = FOLDER_OF[OPERATIONS[(OPERATIONS.indexOf(operation) + 1) % OPERATIONS.length] as Operation];
    const folders = [other, "secret"] as const;
    const before = folders.map((folder) => picture(world.places[folder]));
    const foreign = folders.flatMap((folder) => FORMS.map((form) => tasksOn(folder, operation, form)));
    const blocked = await outcomes(world, foreign.join(",\n"), { waitMs: 0 });
    expect(Object.entries(blocked).filter(([name, outcome]) => !isBlocked(name, outcome))).toEqual([]);
    expect(Object.keys(blocked)).toHaveLength(2 * Object.keys(passed).length);
    expect(folders.map((folder) => picture(world.places[folder]))).toEqual(before);
  });
});

/** A synchronous call leaves its request; an asynchronous one has waited for nobody here. */
function isBlocked(name: string, outcome: unknown): boolean {
  const codes = name.includes(" sync ") ? "approval_required" : "(?:approval_required|approval_timeout)";
  return new RegExp(`^\\w+ ERR_ACCESS_DENIED ${codes} \\w+$`).test(String(outcome));
}

it("one call is one decision: what Node itself does for a copy or a removal is not asked about again", async () => {
  world = await openWorld(preload);
  writeFileSync(join(world.places.deletes, "b.txt"), "b");
  const found = await outcomes(
    world,
    `cpSync: () => fs.cpSync(at.reads + "/a.txt", at.creates + "/1"),
     cpPromise: () => fs.promises.cp(at.reads + "/a.txt", at.creates + "/2"),
     cpCallback: () => require("util").promisify(fs.cp)(at.reads + "/a.txt", at.creates + "/3"),
     copyFile: () => fs.copyFileSync(at.reads + "/a.txt", at.creates + "/4"),
     mkdir: () => { fs.mkdirSync(at.creates + "/5/6", { recursive: true }); },
     rm: () => fs.promises.rm(at.deletes + "/a.txt", { force: true }),
     rmSync: () => fs.rmSync(at.deletes + "/b.txt")`,
    { waitMs: 0 },
  );
  await world.close();
  expect(Object.entries(found).filter(([, outcome]) => outcome !== "done")).toEqual([]);
});

it("really does what it says where it passes", async () => {
  world = await openWorld(preload);
  await outcomes(
    world,
    `write: () => fs.writeFileSync(at.all + "/w.txt", "written"),
     append: () => fs.promises.appendFile(at.all + "/w.txt", " more"),
     copy: () => fs.promises.copyFile(at.all + "/w.txt", at.all + "/c.txt"),
     tree: () => fs.mkdirSync(at.all + "/x/y", {recursive: true}),
     into: () => fs.writeFileSync(at.all + "/x/y/z", "deep"),
     cp: () => fs.cpSync(at.all + "/x", at.all + "/copy", {recursive: true}),
     move: () => fs.renameSync(at.all + "/x", at.all + "/moved"),
     gone: () => fs.rmSync(at.all + "/moved/y", {recursive: true})`,
  );
  const { all } = world.places;
  expect(readFileSync(join(all, "w.txt"), "utf8")).toBe("written more");
  expect(readFileSync(join(all, "c.txt"), "utf8")).toBe("written more");
  expect(readFileSync(join(all, "copy", "y", "z"), "utf8")).toBe("deep");
  expect([
    existsSync(join(all, "moved")),
    existsSync(join(all, "moved", "y")),
    existsSync(join(all, "x")),
  ]).toEqual([true, false, false]);
  await world.close();
});
