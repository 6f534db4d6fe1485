/* oxlint-disable typescript/unbound-method -- methods are compared, not called */
import { EventEmitter, errorMonitor } from "node:events";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ContextKeeper } from "./context-keeper.ts";
import { type Following, followListeners } from "./follow-listeners.ts";
import { activeName, sampleCaller } from "./testing/sample-caller.ts";

const keeper = new ContextKeeper();
const a = keeper.root(sampleCaller("a"));
const b = keeper.root(sampleCaller("b"));
const NAMES = ["on", "addListener", "once", "prependListener", "prependOnceListener"] as const;
const before = Object.getOwnPropertyDescriptors(EventEmitter.prototype);
let following: Following;

beforeEach(() => {
  following = followListeners(keeper);
});
afterEach(() => following.stop());

describe("listeners of an emitter", () => {
  it.each(NAMES)("%s: run as whoever registered them", (name) => {
    const emitter = new EventEmitter();
    const seen: unknown[] = [];
    keeper.enter(a, () => emitter[name]("x", () => seen.push(activeName(keeper))));
    keeper.enter(b, () => emitter.emit("x"));
    expect(seen).toEqual(["a"]);
  });

  it.each(NAMES)("%s: are counted, listed, announced and removed as the original", (name) => {
    const emitter = new EventEmitter();
    const told: unknown[] = [];
    const fn = (): void => undefined;
    const other = (): void => undefined;
    emitter.on("newListener", (_, listener) => told.push(listener));
    emitter.on("removeListener", (_, listener) => told.push(listener));
    keeper.enter(a, () => emitter[name]("x", fn).on("x", other));
    expect(new Set(emitter.listeners("x"))).toEqual(new Set([fn, other]));
    expect([emitter.listenerCount("x"), emitter.listenerCount("x", fn)]).toEqual([2, 1]);
    emitter.off("x", fn);
    expect(emitter.rawListeners("x")).toEqual([other]);
    emitter.removeAllListeners("x");
    expect(told.filter((listener) => listener === fn)).toHaveLength(2);
    expect(told.filter((listener) => listener === other)).toHaveLength(2);
    expect(emitter.listenerCount("x")).toBe(0);
  });

  it("fire once where that was asked, with receiver and arguments, and are gone", () => {
    const emitter = new EventEmitter();
    const seen: unknown[] = [];
    emitter.once("x", function told(this: unknown, ...args: unknown[]) {
      seen.push(this === emitter, args);
    });
    const raw = emitter.rawListeners("x")[0] as unknown as { listener: unknown };
    expect(raw.listener).toBe(emitter.listeners("x")[0]);
    expect([emitter.emit("x", 1, 2), emitter.emit("x", 3)]).toEqual([true, false]);
    expect(seen).toEqual([true, [1, 2]]);
  });

  it("are removed by a wrapper of the program's own and by what it stands for", () => {
    const emitter = new EventEmitter();
    const inner = (): void => undefined;
    const wrapper = Object.assign((): void => undefined, { listener: inner });
    emitter.on("x", wrapper).off("x", wrapper);
    expect(emitter.listenerCount("x")).toBe(0);
    emitter.on("x", wrapper);
    expect([emitter.listeners("x"), emitter.rawListeners("x")]).toEqual([[inner], [wrapper]]);
    expect(emitter.off("x", inner).listenerCount("x")).toBe(0);
  });

  it("keep errorMonitor, captured rejections and the refusal of what is no function", async () => {
    const emitter = new EventEmitter({ captureRejections: true });
    const seen: unknown[] = [];
    keeper.enter(a, () => emitter.on(errorMonitor, () => seen.push(activeName(keeper))));
    const failed = new Promise((resolve) => keeper.enter(a, () => emitter.on("error", resolve)));
    const fault = new Error("late");
    emitter.on("x", (): unknown => Promise.reject(fault));
    emitter.emit("x");
    expect(await failed).toBe(fault);
    expect(seen).toEqual(["a"]);
    for (const name of NAMES) expect(() => emitter[name]("x", 1 as never)).toThrow(TypeError);
  });
});

describe("listeners of an event target", () => {
  const seen: unknown[] = [];
  const tell = (): void => void seen.push(activeName(keeper));
  const fire = (target: EventTarget): unknown[] => {
    seen.length = 0;
    keeper.enter(b, () => target.dispatchEvent(new Event("x")));
    return [...seen];
  };

  it("run as whoever registered them, objects with handleEvent too", () => {
    const target = new EventTarget();
    keeper.enter(a, () => {
      target.addEventListener("x", tell);
      target.addEventListener("x", { handleEvent: tell });
    });
    expect(fire(target)).toEqual(["a", "a"]);
  });

  it("are added once, removed by the original, and bound anew when added again", () => {
    const target = new EventTarget();
    keeper.enter(a, () => target.addEventListener("x", tell));
    keeper.enter(b, () => target.addEventListener("x", tell));
    expect(fire(target)).toEqual(["a"]);
    target.removeEventListener("x", tell);
    expect(fire(target)).toEqual([]);
    keeper.enter(b, () => target.addEventListener("x", tell));
    expect(fire(target)).toEqual(["b"]);
  });

  it("that fired once or were ended by a signal are bound anew", () => {
    const target = new EventTarget();
    const end = new AbortController();
    keeper.enter(a, () => target.addEventListener("x", tell, { once: true }));
    expect([fire(target), fire(target)]).toEqual([["a"], []]);
    keeper.enter(a, () => target.addEventListener("x", tell, { signal: end.signal }));
    end.abort();
    keeper.enter(b, () => target.addEventListener("x", tell));
    expect(fire(target)).toEqual(["b"]);
  });

  it("of a message port run as whoever registered them", async () => {
    const { port1, port2 } = new MessageChannel();
    const answer = new Promise((resolve) =>
      keeper.enter(a, () => port1.addEventListener("message", () => resolve(activeName(keeper)))),
    );
    port1.start();
    port2.postMessage(1);
    expect(await answer).toBe("a");
    port1.close();
  });
});

describe("following", () => {
  it("twice is following once, and ending puts Node's own methods back", () => {
    const patched = EventEmitter.prototype.on;
    const again = followListeners(keeper);
    expect(EventEmitter.prototype.on).toBe(patched);
    expect(patched).not.toBe(before.on.value);
    again.stop();
    for (const name of [...NAMES, "off", "removeListener", "rawListeners"] as const) {
      expect(EventEmitter.prototype[name]).toBe(before[name].value);
    }
  });

  it("when it has ended, what was bound can still be removed", () => {
    const emitter = new EventEmitter();
    const target = new EventTarget();
    let count = 0;
    const fn = (): void => void count++;
    emitter.on("x", fn);
    target.addEventListener("x", fn);
    following.stop();
    emitter.off("x", fn).emit("x");
    target.removeEventListener("x", fn);
    target.dispatchEvent(new Event("x"));
    expect(count).toBe(0);
  });
});
