/** Who watches files hears of them where that is declared, and nothing elsewhere; who stops watching can end. */
import { dirname } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { obtainPackage } from "../../tools/cached-package.mjs";
import { type GuardedWorld, openWorld, outcomes } from "./guarded-process.ts";
import { worldOfFile } from "./world-of-file.ts";

const REFUSED = expect.stringMatching(/ERR_ACCESS_DENIED/);
let world: GuardedWorld;
let chokidar: string;

worldOfFile(async (preload) => (world = await openWorld(preload)));
beforeAll(async () => {
  chokidar = await obtainPackage("chokidar", "4.0.3");
});

/** WHY a limit: a program that hangs says at which step, and ends. It is no statement about time. */
const STEPS = `
const within = async (step, settle) => {
  let limit;
  const never = new Promise((done, failed) => {
    limit = setTimeout(() => failed(Object.assign(new Error(), { code: "never: " + step })), 60_000);
  });
  try { return await Promise.race([new Promise(settle), never]); } finally { clearTimeout(limit); }
};
const folder = (...names) => {
  const made = path.join(at.all, ...names);
  fs.mkdirSync(made, { recursive: true });
  return made;
};
const watchers = () => process.getActiveResourcesInfo().filter((name) => /FSEvent|StatWatcher/.test(name)).join();
const letGo = async () => {
  let next;
  const look = (done) => { if (watchers() === "") done(); else next = setTimeout(look, 20, done); };
  try { await within("no watcher left", look); } catch (error) {
    clearTimeout(next);
    // WHY: what is still watched would keep the program from its end, and from telling.
    setImmediate(() => process.exit());
    throw error;
  }
};
`;

it("one act is heard once a watcher looks: a name by events, a size and an end by looking", async () => {
  const found = await outcomes(
    world,
    `events: async () => {
       const watcher = fs.watch(folder("events"));
       try {
         const heard = within("an event", (done) => watcher.once("change", (kind, name) => done(name)));
         fs.writeFileSync(folder("events") + "/by-events.txt", "x");
         return await heard;
       } finally { watcher.close(); }
     },
     promised: async () => {
       const stop = new AbortController();
       const changes = fs.promises.watch(folder("promised"), stop)[Symbol.asyncIterator]();
       const heard = within("a promised event", (done, failed) => changes.next().then(({ value }) => done(value.filename), failed));
       fs.writeFileSync(folder("promised") + "/promised.txt", "x");
       try { return await heard; } finally { stop.abort(); }
     },
     looking: async () => {
       const file = folder("looking") + "/by-looking.txt";
       let said = () => {};
       const next = (step) => within(step, (done) => (said = done));
       // WHY a file that is not there: Node says so when it has looked for the first time, and what comes next is a change.
       const first = next("the first look");
       fs.watchFile(file, { interval: 20 }, ({ size, nlink }) => said([size, nlink]));
       try {
         const seen = [await first];
         let look = next("a size");
         fs.writeFileSync(file + ".draft", "four");
         fs.renameSync(file + ".draft", file);
         seen.push(await look);
         look = next("an end");
         fs.unlinkSync(file);
         return [...seen, await look];
       } finally { fs.unwatchFile(file); }
     },
     letGo`,
    { waitMs: 0, before: STEPS },
  );
  expect(found).toEqual({
    events: "by-events.txt",
    promised: "promised.txt",
    looking: [
      [0, 0],
      [4, 1],
      [0, 0],
    ],
    letGo: "done",
  });
});

it("chokidar sees what happens where it is declared, by events and by looking, and is blocked outside", async () => {
  const found = await outcomes(
    world,
    `events: () => watched("events", {}),
     looking: () => watched("looking", { usePolling: true, interval: 20 }),
     blocked: () => fault(at.secret, {}),
     blockedLooking: () => fault(at.secret, { usePolling: true }),
     letGo`,
    {
      waitMs: 0,
      before: `${STEPS}
const chokidar = require(${JSON.stringify(chokidar)});
// WHY again and again, after longer and longer pauses: under bare Node too, what happens to a folder between \`watchFile\`
// and its first look never happened for it, and \`ready\` does not wait for that look.
const heard = async (watcher, event, act) => {
  let pause = 50, next;
  const again = () => { act(); next = setTimeout(again, (pause *= 2)); };
  again();
  try {
    // WHY not at once: chokidar tells of a file before it notes how to let go of it.
    return await within(event, (done) => watcher.on("all", (kind, file) => { if (kind === event) setImmediate(done, file); }));
  } finally { clearTimeout(next); }
};
const watched = async (name, options) => {
  const below = folder("chokidar", name, "below");
  const watcher = chokidar.watch(path.dirname(below), options);
  try {
    await within("ready", (done) => watcher.once("ready", done));
    // WHY a name of its own each time: what goes and comes back at once has only changed for chokidar.
    let files = 0, newest, text = "x";
    const add = () => fs.writeFileSync((newest = path.join(below, ++files + ".txt")), text);
    const added = await heard(watcher, "add", add);
    const changed = await heard(watcher, "change", () => fs.writeFileSync(added, (text += "!")));
    const gone = await heard(watcher, "unlink", () => { fs.unlinkSync(newest); add(); });
    return [added, changed, gone].every((file) => path.dirname(file) === below) ? "seen" : [added, changed, gone];
  } finally { await watcher.close(); }
};
const fault = async (place, options) => {
  const watcher = chokidar.watch(place, options);
  try { throw await within("an error", (done) => watcher.once("error", done)); } finally { await watcher.close(); }
};`,
      codeRoots: [dirname(chokidar)],
    },
  );
  expect(found).toEqual({
    events: "seen",
    looking: "seen",
    blocked: REFUSED,
    blockedLooking: REFUSED,
    letGo: "done",
  });
});
