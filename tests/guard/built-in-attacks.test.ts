/** Built-ins and listeners that the program has replaced, each with a purpose; see also tampered-built-ins.test.ts. */
import { describe, it } from "vitest";
import { allRefused, openAttackWorld } from "./attack-world.ts";
import { type GuardedWorld } from "./guarded-process.ts";
import { worldOfFile } from "./world-of-file.ts";

let world: GuardedWorld;
worldOfFile(async (preload) => (world = await openAttackWorld(preload)));

describe("attack: built-ins that are replaced", () => {
  it("change no decision", () =>
    allRefused(
      world,
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
const put = (owner, key, value) => Reflect.defineProperty(owner, key, { value, configurable: true, writable: true });
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
      world,
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
