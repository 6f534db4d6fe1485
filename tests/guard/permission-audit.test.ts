/**
 * Node's own permission model as an oracle, on Nodes that have `--permission-audit`: it says whenever Node touches a file,
 * starts a program or a thread, from native code too. Whatever it says must be something that the guard has decided on.
 */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { obtainNode } from "../../tools/nodes.mjs";
import { type GuardedWorld, openWorld, start } from "./guarded-process.ts";
import { preloadOfFile } from "./world-of-file.ts";

const preload = preloadOfFile();

const LINK_TEXT = "a.txt";

/** Does every kind of file call once, and says what Node was seen to touch. */
const PROGRAM = `
const fs = require("node:fs");
const channel = require("node:diagnostics_channel");
const at = JSON.parse(process.argv[2]);
const seen = [];
for (const name of ["fs", "child", "worker", "addon", "wasi", "inspector"])
  channel.subscribe("node:permission-model:" + name, ({ permission, resource }) => seen.push([permission, resource]));
const own = (name) => at.all + "/" + name;
// WHY kept: a handle that is collected before the end is an error from Node 26 on.
const kept = [];
const quiet = async (work) => { try { kept.push(await work()); } catch {} };
const read = (file) => new Promise((done) => fs.readFile(file, done));
(async () => {
  const file = own("a.txt");
  fs.writeFileSync(own("new.txt"), "x"); fs.appendFileSync(own("new.txt"), "y"); fs.truncateSync(own("new.txt"), 1);
  for (const sync of ["readFileSync", "statSync", "lstatSync", "existsSync", "accessSync", "realpathSync", "readlinkSync", "statfsSync", "openSync"])
    await quiet(() => fs[sync](file));
  for (const name of ["readFile", "stat", "lstat", "access", "realpath", "open", "statfs"]) {
    await quiet(() => fs.promises[name](file));
    await quiet(() => new Promise((done) => fs[name](file, done)));
  }
  fs.readdirSync(at.all); await fs.promises.readdir(at.all, { recursive: true }); (await fs.promises.opendir(at.all)).closeSync();
  fs.opendirSync(at.all).closeSync();
  fs.mkdirSync(own("one/two/three"), { recursive: true }); await fs.promises.mkdtemp(own("tmp-"));
  fs.symlinkSync("${LINK_TEXT}", own("link")); fs.readFileSync(own("link")); fs.linkSync(own("new.txt"), own("hard")); fs.unlinkSync(own("hard"));
  fs.copyFileSync(file, own("copy.txt")); fs.renameSync(own("copy.txt"), own("moved.txt"));
  fs.cpSync(own("one"), own("tree"), { recursive: true }); await fs.promises.cp(own("one"), own("tree2"), { recursive: true });
  fs.chmodSync(file, 0o600); fs.utimesSync(file, 1, 1); fs.lutimesSync(file, 1, 1); fs.chownSync(file, process.getuid(), process.getgid());
  fs.rmSync(own("tree"), { recursive: true }); fs.rmdirSync(own("one/two/three")); fs.unlinkSync(own("moved.txt"));
  await quiet(() => fs.openAsBlob(file)); fs.watch(file).close(); fs.watchFile(file, () => {}); fs.unwatchFile(file);
  for await (const chunk of fs.createReadStream(file)) void chunk;
  await new Promise((done) => fs.createWriteStream(own("stream.txt")).end("x", done));
  await quiet(() => fs.readFileSync(at.secret + "/a.txt")); await quiet(() => fs.opendirSync(at.secret));
  await quiet(() => fs.cpSync(at.secret, own("stolen"), { recursive: true }));
  await quiet(() => require("node:child_process").spawnSync("/bin/true"));
  await quiet(() => new (require("node:worker_threads").Worker)("", { eval: true }));
  await quiet(() => process.dlopen({ exports: {} }, at.secret + "/a.node"));
  await quiet(() => process.report.writeReport(at.secret + "/report.json"));
  await quiet(() => process.loadEnvFile(at.secret + "/.env"));
  process.stdout.write(JSON.stringify(seen));
})();`;

/** What has to be decided where Node says that it reads or writes. Making, changing and removing look first. */
const OPERATIONS: Readonly<Record<string, readonly string[]>> = {
  FileSystemRead: ["read", "create", "modify", "delete"],
  FileSystemWrite: ["create", "modify", "delete"],
};

describe.each([24, 26] as const)("on Node %s", (line) => {
  let world: GuardedWorld;
  let seen: readonly (readonly [permission: string, resource: string])[];
  let decided: readonly { readonly operation: string; readonly target: string }[];
  beforeAll(async () => {
    world = await openWorld(preload);
    const node = join(await obtainNode(line), "node");
    const ended = await start(world, PROGRAM, { node, flags: ["--permission-audit"], waitMs: 0 }).ended;
    if (ended.stdout === "") throw new Error(`the program said nothing: ${ended.stderr}`);
    seen = JSON.parse(ended.stdout) as typeof seen;
    const events = await world.fixture.events();
    decided = events.flatMap(({ text }) => {
      const found =
        /"operation":"([a-z]+)","target":"([^"]+)"/.exec(text) ??
        /"target":"([^"]+)".*"operation":"([a-z]+)"/.exec(text);
      if (found === null) return [];
      const [, first = "", second = ""] = found;
      return first.startsWith("/")
        ? [{ operation: second, target: first }]
        : [{ operation: first, target: second }];
    });
  }, 240_000);
  afterAll(() => world.close());

  /** Code, the guard's looks at descriptors, and its walk through the folders above a target, where it reads links. */
  const isExempt = (permission: string, resource: string): boolean => {
    const isWalk =
      permission === "FileSystemRead" && decided.some(({ target }) => target.startsWith(`${resource}/`));
    // WHY: the text of a link that is made is no file, and for making one Node asks for the whole file system.
    const isLinkText = resource === LINK_TEXT || (permission === "FileSystem" && resource === "");
    const isOwn = resource.startsWith("/proc/") || resource.startsWith(world.places.code);
    return isWalk || isLinkText || isOwn || (permission === "FileSystemRead" && resource === "");
  };

  it("Node touches nothing that the guard has not decided on", () => {
    expect(seen.length).toBeGreaterThan(50);
    const undecided = seen.filter(([permission, resource]) => {
      if (isExempt(permission, resource)) return false;
      const operations = OPERATIONS[permission] ?? [];
      return !decided.some(({ operation, target }) => operations.includes(operation) && target === resource);
    });
    expect([...new Set(undecided.map(([permission, resource]) => `${permission} ${resource}`))]).toEqual([]);
  });

  it("and is never seen to touch the content of what is closed", () => {
    const { secret } = world.places;
    expect(
      seen.filter(([permission, resource]) => permission !== "FileSystemRead" && resource.startsWith(secret)),
    ).toEqual([]);
  });
});
