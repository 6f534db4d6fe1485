/** The short way of reads that are declared: decided from memory, verified at every call, told in batches. */
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { adminCaller } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { type GuardedWorld, openWorld, outcomes, start } from "./guarded-process.ts";
import { worldOfFile } from "./world-of-file.ts";

let world: GuardedWorld;
worldOfFile(async (preload) => (world = await openWorld(preload)));

/** Every form of a read or look, of the path that is in `file`. */
const LOOKS = `
const looks = {
  readFileSync: () => fs.readFileSync(file, "utf8"),
  readBytes: () => fs.readFileSync(file),
  openSync: () => fs.openSync(file),
  statSync: () => fs.statSync(file).size,
  lstatSync: () => fs.lstatSync(file).size,
  existsSync: () => fs.existsSync(file),
  accessSync: () => fs.accessSync(file),
  readFile: () => new Promise((done, failed) => fs.readFile(file, (error, data) => error ? failed(error) : done(data))),
  stat: () => new Promise((done, failed) => fs.stat(file, (error, stats) => error ? failed(error) : done(stats.size))),
  promise: () => fs.promises.readFile(file, "utf8"),
  handle: async () => { const handle = await fs.promises.open(file); await handle.close(); },
  promisedStat: async () => (await fs.promises.stat(file)).size,
  stream: async () => { let text = ""; for await (const chunk of fs.createReadStream(file)) text += chunk; return text; },
};
const each = async () => {
  const found = {};
  for (const [name, look] of Object.entries(looks)) {
    const value = await attempt(look);
    found[name] = typeof value === "string" && value.includes("ERR_ACCESS_DENIED") ? "blocked" : "done";
  }
  return [...new Set(Object.values(found))].length === 1 ? Object.values(found)[0] : found;
};`;

/**
 * A program that looks at one file again and again, and says by which code it was blocked at last. After a thousand looks it
 * looks at another one, which tells the host that it may act.
 */
const untilBlocked = (place: string, name: string): string => `
const fs = require("node:fs");
const file = JSON.parse(process.argv[2]).${place} + "/${name}";
let looks = 0;
const step = () => {
  try { for (let time = 0; time < 1000; time++) { fs.existsSync(file); fs.statSync(file, { throwIfNoEntry: false }); looks++; } } catch (error) {
    process.stdout.write(JSON.stringify([error.check.code, looks >= 1000]));
    return;
  }
  if (looks === 1000) fs.existsSync(file + ".ready");
  setImmediate(step);
};
step();`;

/** The log knows of an access to this target. */
async function recorded(target: string): Promise<void> {
  for (;;) {
    const events = await world.fixture.events();
    if (events.some(({ text }) => text.includes(`"${target}"`))) return;
  }
}

describe("attack: what was read a moment ago is another file now", () => {
  it("a folder of the path was moved away, and a link to a closed one left in its place", async () => {
    const found = await outcomes(
      world,
      `first: each,
       swap: () => { fs.renameSync(at.all + "/swap", at.all + "/kept"); fs.symlinkSync(at.secret, at.all + "/swap"); },
       second: each,
       back: () => { fs.unlinkSync(at.all + "/swap"); fs.renameSync(at.all + "/kept", at.all + "/swap"); },
       third: each`,
      {
        before: `${LOOKS}
          fs.mkdirSync(at.all + "/swap"); fs.writeFileSync(at.all + "/swap/a.txt", "mine");
          const file = at.all + "/swap/a.txt";`,
        waitMs: 0,
      },
    );
    expect(found).toEqual({ first: "done", swap: "done", second: "blocked", back: "done", third: "done" });
  });

  it("the file itself was replaced by a link to a closed one", async () => {
    const found = await outcomes(
      world,
      `first: each,
       swap: () => { fs.unlinkSync(file); fs.symlinkSync(at.secret + "/a.txt", file); },
       followed: () => fs.readFileSync(file, "utf8"), seen: () => fs.statSync(file), there: () => fs.existsSync(file)`,
      {
        before: `${LOOKS} const file = at.all + "/one.txt"; fs.writeFileSync(file, "mine");`,
        waitMs: 0,
      },
    );
    const blocked = expect.stringContaining("ERR_ACCESS_DENIED approval_required");
    expect(found).toEqual({ first: "done", swap: "done", followed: blocked, seen: blocked, there: blocked });
  });

  it("another process moves the folder into a closed one, and leaves a link to it", async () => {
    const { all, secret } = world.places;
    mkdirSync(join(all, "deep"));
    writeFileSync(join(all, "deep", "a.txt"), "mine");
    const { ended } = start(world, untilBlocked("all", "deep/a.txt"), { waitMs: 0 });
    await recorded(join(all, "deep", "a.txt.ready"));
    renameSync(join(all, "deep"), join(secret, "deep"));
    // WHY: between the two there is nothing, which is no block.
    symlinkSync(join(secret, "deep"), join(all, "deep"));
    expect(JSON.parse((await ended).stdout)).toEqual(["approval_required", true]);
  });

  it("`path.toNamespacedPath` is replaced, which Node asks for every path that it opens", async () => {
    const found = await outcomes(
      world,
      `read: () => fs.readFileSync(at.reads + "/a.txt", "utf8"), asynchronous: () => fs.promises.readFile(at.reads + "/a.txt", "utf8")`,
      {
        before: `
          fs.symlinkSync(at.reads + "/a.txt", at.all + "/named");
          const evil = (text) => text.startsWith("/proc/") ? at.all + "/named" : text === at.reads + "/a.txt" ? at.secret + "/a.txt" : text;
          try { path.toNamespacedPath = evil; } catch {}
          try { path.posix.toNamespacedPath = evil; } catch {}
          try { Object.defineProperty(path, "toNamespacedPath", { value: evil }); } catch {}`,
        waitMs: 0,
      },
    );
    expect(found).toEqual({ read: "reads a", asynchronous: "reads a" });
  });
});

it("a missing file is missing, with Node's error, and a relative path is what it means", async () => {
  const found = await outcomes(
    world,
    `missing: () => { try { fs.readFileSync(at.reads + "/none"); } catch (error) { return error.code + " " + error.path; } },
     exists: () => fs.existsSync(at.reads + "/none"),
     relative: () => { process.chdir(at.reads); return fs.readFileSync("a.txt", "utf8"); },
     dotted: () => fs.readFileSync("./../reads//a.txt", "utf8"),
     slash: () => { try { fs.readFileSync(at.reads + "/a.txt/"); } catch (error) { return error.code; } }`,
  );
  expect(found).toEqual({
    missing: `ENOENT ${join(world.places.reads, "none")}`,
    exists: false,
    relative: "reads a",
    dotted: "reads a",
    slash: expect.stringMatching(/^(?:ENOTDIR|ERR_ACCESS_DENIED)$/),
  });
});

it("descriptors of the guard's own do not exist for the program, and keep no removed file", async () => {
  const found = await outcomes(
    world,
    `own: () => {
       fs.writeFileSync(at.all + "/held.txt", "x");
       const { ino } = fs.statSync(at.all + "/held.txt");
       let seen = 0;
       for (let fd = 3; fd < 100; fd++) try { if (fs.fstatSync(fd).ino === ino) seen++; } catch {}
       return seen;
     },
     removed: () => {
       fs.unlinkSync(at.all + "/held.txt");
       return fs.existsSync(at.all + "/held.txt");
     }`,
  );
  expect(found).toEqual({ own: 0, removed: false });
});

it("hits are recorded before the process ends: one entry for many equal ones, with their number", async () => {
  await outcomes(
    world,
    `many: () => { for (let time = 0; time < 500; time++) fs.existsSync(at.reads + "/a.txt"); }, once: () => fs.readdirSync(at.reads).length`,
  );
  const events = await world.fixture.events();
  const file = join(world.places.reads, "a.txt");
  const counts = events.flatMap(({ type, text }) => {
    if (type !== "permission.evaluated" || !text.includes(`"${file}"`)) return [];
    return [Number(/"count":(\d+)/.exec(text)?.[1] ?? 1)];
  });
  expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(500);
  expect(counts.length).toBeLessThan(100);
  expect(events.some(({ text }) => text.includes(`"${world.places.reads}"`))).toBe(true);
});

it("a deny rule holds at the next call, in a process that has read the file a thousand times", async () => {
  const file = join(world.places.reads, "ruled.txt");
  writeFileSync(file, "x");
  const { ended } = start(world, untilBlocked("reads", "ruled.txt"), { waitMs: 0 });
  await recorded(`${file}.ready`);
  const rule = { resourceType: "filesystem", operation: "read", target: file } as const;
  const set = await world.fixture.service.setRule(adminCaller(), { effect: "deny", source: "host", ...rule });
  expect(set).toMatchObject({ ok: true });
  expect(JSON.parse((await ended).stdout)).toEqual(["denied_rule", true]);
});
