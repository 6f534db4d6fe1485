/**
 * Where nothing is blocked, paths that cannot be, copies and folders for a while are what they are in bare Node; and what
 * is thrown to nobody is told in a few lines. Each row was found by Node's own tests (docs/results).
 */
import net from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { entry } from "../../packages/sallyport/src/testing/sallyport-fixture.ts";
import { expectLikeBare } from "./beside-bare.ts";
import { type GuardedWorld, openWorld, outcomes, start } from "./guarded-process.ts";
import { worldOfFile } from "./world-of-file.ts";

/** As in Linux, in bytes: of a longer path Node 20 dials what is left of it. */
const SOCKET_PATH_MAX = 108;

let world: GuardedWorld;
const longPath = (places: string): string => join(places, "all", "x".repeat(SOCKET_PATH_MAX));

worldOfFile(async (preload) => {
  world = await openWorld(preload, (places) => [
    entry("network", "connect", "localhost"),
    entry("network", "connect", `unix:${longPath(places)}`),
  ]);
  return world;
});

const PROGRAM = `
const at = JSON.parse(process.argv[2]);
const fs = require("node:fs");
const net = require("node:net");
const told = (error) => !error ? "none" : [error.name, error.code, error.path?.replace(at.all, "")].join(" ");
const thrown = (work) => { try { return work() ?? "nothing"; } catch (error) { return told(error); } };
const called = (work) => new Promise((done) => work((error) => done(error ? told(error) : "done")));
const rejected = (promise) => promise.then(() => "done", told);
const never = () => { throw new Error("the callback was called"); };
const file = at.all + "/a.txt";
const long = "n".repeat(300);
const linked = (name, target) => { fs.symlinkSync(target, at.all + "/" + name); return at.all + "/" + name; };
const after = (path) => [fs.lstatSync(path).isSymbolicLink(), fs.readFileSync(path, "utf8")];
fs.mkdirSync(at.all + "/folder");
const tasks = {
  "below a file": () => thrown(() => fs.statSync(file + "/x")),
  "below a file, if it is there": () => thrown(() => fs.existsSync(file + "/x")),
  "far below a file": () => thrown(() => fs.readFileSync(file + "/x/y")),
  "below a file, later": () => called((done) => fs.readFile(file + "/x", done)),
  "below a file, promised": () => rejected(fs.promises.readdir(file + "/x")),
  "made below a file": () => thrown(() => fs.mkdirSync(file + "/x/y", { recursive: true })),
  "written below a file": () => thrown(() => fs.writeFileSync(file + "/x", "")),
  "removed below a file": () => thrown(() => fs.rmSync(file + "/x", { force: true })),
  "renamed below a file": () => thrown(() => fs.renameSync(file + "/x", at.all + "/y")).split(" ").slice(0, 2),
  "linked below a file": () => thrown(() => fs.linkSync(file + "/x", at.all + "/y")).split(" ").slice(0, 2),
  "a name that is too long": () => thrown(() => fs.statSync(at.all + "/" + long)).slice(0, 20),
  "a long name, if it is there": () => thrown(() => fs.existsSync(at.all + "/" + long)),
  "a path that is too long": () => thrown(() => fs.readFileSync(at.all + ("/" + long).repeat(20))).slice(0, 20),
  "a copy with options that are none": () => thrown(() => fs.cpSync("a", "b", "none")),
  "a copy with options that are a function": () => thrown(() => fs.cpSync("a", "b", never)),
  "a copy with a list of options": () => thrown(() => fs.cpSync("a", "b", [])),
  "a copy with options that are none, later": () => thrown(() => fs.cp("a", "b", "none", never)),
  "a copy with options that are none, promised": () => rejected(fs.promises.cp("a", "b", never)),
  "a copy with an undefined switch": () => thrown(() => fs.cpSync(file, file + "2", { verbatimSymlinks: undefined })),
  "a copy with a filter that is none": () => thrown(() => fs.cpSync(file, file + "2", { filter: "none" })),
  "a copy over a link to a folder": () => { const link = linked("l1", at.all + "/folder"); fs.cpSync(file, link); return after(link); },
  "a copy over a link to a file": async () => { const link = linked("l2", at.all + "/a.txt"); await fs.promises.cp(file, link, { filter: () => true }); return after(link); },
  "a copy over a link to nothing": () => { const link = linked("l3", at.all + "/none"); fs.cpSync(file, link, { dereference: true }); return [after(link), fs.existsSync(at.all + "/none")]; },
  "a folder for a while": () => {
    if (fs.mkdtempDisposableSync === undefined) return "none";
    process.chdir(at.all);
    const made = fs.mkdtempDisposableSync("d-");
    process.chdir(at.all + "/folder");
    const full = at.all + "/" + made.path;
    const was = fs.existsSync(full);
    made.remove();
    made[Symbol.dispose]();
    return [was, fs.existsSync(full), Object.keys(made), made.path.length, thrown(() => fs.mkdtempDisposableSync(7))];
  },
  "a folder for a while, promised": async () => {
    if (fs.promises.mkdtempDisposable === undefined) return "none";
    const made = await fs.promises.mkdtempDisposable(at.all + "/d-");
    const was = fs.existsSync(made.path);
    await made.remove();
    await made[Symbol.asyncDispose]();
    return [was, fs.existsSync(made.path), Object.keys(made), await rejected(fs.promises.mkdtempDisposable(7))];
  },
  "an encoding that is none": () => [
    thrown(() => fs.readFileSync("none", "none")),
    thrown(() => fs.readdirSync("none", { encoding: "none" })),
    thrown(() => fs.readlink("none", "none", never)),
    thrown(() => fs.realpath("none", "none", never)),
    thrown(() => fs.mkdtempSync(at.all + "/m-", "none")),
    thrown(() => fs.watch("none", "none", never)),
    thrown(() => fs.writeFileSync(at.all + "/new1", "x", "none")),
    fs.existsSync(at.all + "/new1"),
  ],
  "data that are none, before a file is made": async () => [
    thrown(() => fs.appendFileSync(at.all + "/new2", {})),
    await rejected(fs.promises.writeFile(at.all + "/new2", 7)),
    fs.existsSync(at.all + "/new2"),
    await rejected(fs.promises.writeFile(at.all + "/new3", ["a", "b"].values())),
    fs.readFileSync(at.all + "/new3", "utf8"),
  ],
  "a mode that is none": async () => [
    thrown(() => fs.openSync(file, "r", {})),
    await rejected(fs.promises.open(file, "r", [])),
  ],
  "an owner that is not there": () => [thrown(() => fs.chown(file, undefined, 1, never)), thrown(() => fs.lchown(file, 1, undefined, never))],
  "a link at what is no path": () => thrown(() => fs.symlink("", undefined, never)),
  "a length that is an object": () => { try { fs.truncate(file, {}, never); } catch (error) { return error.message; } },
  "reading that is stopped": () => {
    const stop = new AbortController();
    process.nextTick(() => stop.abort());
    return new Promise((done) => fs.readFile(file, { signal: stop.signal }, (error, data) => done([told(error), error?.message, data?.length])));
  },
  "a file that is too large": async () => {
    fs.writeFileSync(at.all + "/large", "");
    fs.truncateSync(at.all + "/large", 2 ** 31);
    return called((done) => fs.readFile(at.all + "/large", done));
  },
  "a host with a NUL": () => new Promise((done) => {
    try { net.connect({ port: 1, host: "127.0.0.1\\0.example" }).on("error", () => done("an error")); } catch (error) { done(told(error)); }
  }),
};
`;

it("where nothing is blocked, says of a path what bare Node says", () => expectLikeBare(world, PROGRAM));

it("who may not read a file is not told that it is one", async () => {
  const found = await outcomes(
    world,
    `below: () => fs.statSync(at.secret + "/a.txt/x"),
     made: () => fs.mkdirSync(at.secret + "/a.txt/x/y", { recursive: true }),
     linked: () => fs.linkSync(at.secret + "/a.txt/x", at.all + "/linked"),
     copied: () => fs.cpSync(at.secret + "/a.txt/x", at.all + "/copied"),
     long: () => fs.existsSync(at.secret + "/" + "n".repeat(300)),`,
    { waitMs: 0 },
  );
  for (const [name, outcome] of Object.entries(found))
    expect(outcome, name).toMatch(/^(?:ExternalAccessError|AccessPendingError) ERR_ACCESS_DENIED/);
});

it("a copy over a link replaces the link, which takes the right to change the link", async () => {
  const found = await outcomes(
    world,
    `over: () => {
       fs.symlinkSync(at.all + "/a.txt", at.creates + "/link");
       fs.cpSync(at.reads + "/a.txt", at.creates + "/link");
     },
     behind: () => fs.readFileSync(at.all + "/a.txt", "utf8"),`,
    { waitMs: 0 },
  );
  expect(found).toEqual({ over: expect.stringMatching(/ERR_ACCESS_DENIED/), behind: "all a" });
});

it("a unix socket whose path Node would cut off: nothing is dialled but what was decided on", async () => {
  const long = longPath(join(world.places.all, ".."));
  const cut = long.slice(0, SOCKET_PATH_MAX);
  let connections = 0;
  const server = net.createServer(() => connections++);
  await new Promise<void>((resolve) => void server.listen(cut, resolve));
  try {
    const found = await outcomes(
      world,
      `dialled: () => new Promise((resolve, reject) => {
         const socket = net.connect(long, () => { socket.destroy(); resolve("connected"); });
         socket.on("error", reject);
       }),
       listened: () => new Promise((resolve, reject) => {
         const server = net.createServer().listen(long, () => { server.close(); resolve("listening"); });
         server.on("error", reject);
       }),`,
      { before: `const net = require("node:net"); const long = ${JSON.stringify(long)};` },
    );
    expect(found).toEqual({ dialled: "Error EINVAL connect", listened: "Error EINVAL listen" });
    expect(connections).toBe(0);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});

it("an error that nobody catches is told in a few lines, by its name", async () => {
  const { code, stderr } = await start(world, `require("node:fs").readFileSync("/proc/self/mem")`).ended;
  expect(code).toBe(1);
  expect(stderr).toMatch(/^ExternalAccessError: /m);
  expect(Math.max(...stderr.split("\n").map((line) => line.length))).toBeLessThan(400);
});
