import { AsyncLocalStorage, AsyncResource } from "node:async_hooks";
import { EventEmitter, once } from "node:events";
import { describe, expect, it } from "vitest";
import { openCarrier } from "./async-carrier.ts";
import { contextFacts } from "./context-facts.ts";
import { ContextKeeper } from "./context-keeper.ts";
import { followListeners } from "./follow-listeners.ts";
import { RuntimeContext, sealContext } from "./runtime-context.ts";
import { activeName, sampleCaller, sampleFrame } from "./testing/sample-caller.ts";

const keeper = new ContextKeeper();
const reader = keeper.root(sampleCaller("reader"));

describe("attack: forged context object", () => {
  const forged: Readonly<Record<string, unknown>> = {
    "a plain object": { frames: [sampleFrame("core", "core")] },
    "an object with the prototype": Object.create(RuntimeContext.prototype),
    "an object with the prototype and fields": Object.assign(
      Object.create(RuntimeContext.prototype) as object,
      sampleCaller("core"),
    ),
    "a structured clone": structuredClone(reader),
    "a proxy": new Proxy(reader, {}),
    "an object that inherits from a real one": Object.create(reader),
    "a context of another keeper": new ContextKeeper().root(sampleCaller("reader")),
    "a context sealed by somebody who imported the file": sealContext({}, sampleCaller("reader")),
    nothing: undefined,
    "a text": "reader",
  };

  it.each(Object.entries(forged))("%s is entered by nobody", (_, context) => {
    let isRun = false;
    const run = (): void => {
      isRun = true;
    };
    expect(() => {
      keeper.enter(context as RuntimeContext, run);
    }).toThrow("the context was not made by this keeper");
    expect(() => keeper.withFrame(context as RuntimeContext, sampleFrame("tool", "x"))).toThrow(TypeError);
    expect(() => keeper.withFacts(context as RuntimeContext, { interactive: true })).toThrow(TypeError);
    expect(() => keeper.withContract(context as RuntimeContext, "x")).toThrow(TypeError);
    expect(keeper.callerOf(context as RuntimeContext)).toBeUndefined();
    expect(isRun).toBe(false);
  });

  it("the constructor makes none, not even for a subclass", () => {
    const Constructor = RuntimeContext as unknown as new (...args: unknown[]) => RuntimeContext;
    class Mine extends Constructor {}
    expect(() => new Constructor({}, {}, sampleCaller("reader"))).toThrow("by the host's keeper only");
    expect(() => new Mine({}, {}, sampleCaller("reader"))).toThrow("by the host's keeper only");
    expect(() => Reflect.construct(Constructor, [reader, reader, reader])).toThrow("keeper only");
  });

  it("a context shows nothing of what it holds", () => {
    expect(Reflect.ownKeys(reader)).toEqual([]);
    expect(Reflect.ownKeys(RuntimeContext.prototype)).toEqual(["constructor"]);
    expect(JSON.stringify(reader)).toBe("{}");
  });
});

describe("attack: widening through a retained object", () => {
  it("the host's own object is copied: changing it later changes nothing", () => {
    const frames = [sampleFrame("tool", "reader")];
    const roles = ["member"];
    const given = { ...sampleCaller("reader"), frames, user: { id: 7, roles, accessLevel: null } };
    const context = keeper.root(given);
    frames.push(sampleFrame("core", "core"));
    roles.push("super");
    given.interactive = true;
    (frames[0] as unknown as { contracts: string[] }).contracts.push("wider");
    expect(keeper.callerOf(context)).toEqual(sampleCaller("reader"));
  });

  it("a frame, facts and a profile that were given are copied too", () => {
    const contracts = ["own"];
    const profile = { readRoots: ["/data"] };
    const frame = keeper.withFrame(reader, sampleFrame("tool", "inner", { contracts }));
    const facts = keeper.withFacts(reader, { sandboxProfile: profile as never });
    contracts.push("wider");
    profile.readRoots.push("/");
    expect(keeper.callerOf(frame)?.frames[1]?.contracts).toEqual(["own"]);
    expect(keeper.callerOf(facts)?.sandboxProfile?.readRoots).toEqual(["/data"]);
  });

  it("everything that can be reached is frozen", () => {
    const context = keeper.withFrame(reader, sampleFrame("tool", "inner"));
    expect(mutable(keeper.callerOf(context))).toEqual([]);
    expect(mutable(contextFacts(context))).toEqual([]);
    expect([keeper, context, ContextKeeper, ContextKeeper.prototype].filter(isOpen)).toEqual([]);
    expect([RuntimeContext, RuntimeContext.prototype].filter(isOpen)).toEqual([]);
  });

  it("facts share no object with what the keeper holds", () => {
    const held = objects(keeper.callerOf(reader));
    expect(objects(contextFacts(reader)).filter((value) => held.includes(value))).toEqual([]);
  });

  it("a getter that says one thing first and another later is read once", () => {
    let reads = 0;
    const given = Object.defineProperty({ ...sampleCaller("reader") }, "interactive", {
      enumerable: true,
      get: () => reads++ > 0,
    });
    const context = keeper.root(given);
    expect(keeper.callerOf(context)?.interactive).toBe(false);
    expect(reads).toBe(1);
  });
});

describe("attack: shedding the context", () => {
  const none = new AsyncLocalStorage<number>();
  const inReader = <R>(fn: () => R): R => keeper.enter(reader, fn);
  const seen = (): string | undefined => activeName(keeper);

  it("AsyncResource.bind, a new resource and a snapshot keep it", () => {
    expect(inReader(() => AsyncResource.bind(seen))()).toBe("reader");
    expect(inReader(() => new AsyncResource("mine")).runInAsyncScope(seen)).toBe("reader");
    expect(inReader(() => AsyncLocalStorage.snapshot())(seen)).toBe("reader");
    expect(inReader(() => AsyncLocalStorage.bind(seen))()).toBe("reader");
  });

  it("leaving, entering and disabling another storage keeps it", () => {
    expect(inReader(() => none.run(1, () => none.exit(seen)))).toBe("reader");
    expect(inReader(() => [none.enterWith(2), seen()][1])).toBe("reader");
    expect(inReader(() => [none.disable(), seen()][1])).toBe("reader");
  });

  it("timers, microtasks and handles without a reference keep it", async () => {
    const later = (start: (done: () => void) => unknown): Promise<string | undefined> =>
      inReader(() => new Promise((resolve) => void start(() => resolve(seen()))));
    const held = setTimeout(() => undefined, 60_000);
    expect(await later((done) => setTimeout(done, 0))).toBe("reader");
    expect(await later((done) => setTimeout(done, 0).unref())).toBe("reader");
    expect(await later((done) => setImmediate(done))).toBe("reader");
    expect(await later((done) => queueMicrotask(done))).toBe("reader");
    expect(await later((done) => process.nextTick(done))).toBe("reader");
    clearTimeout(held);
  });

  it("an emitter that the host made, and that the host emits on, keeps it", async () => {
    const following = followListeners(keeper);
    const ofHost = new EventEmitter();
    const answer = inReader(() => new Promise((resolve) => ofHost.on("x", () => resolve(seen()))));
    const awaited = inReader(() => once(ofHost, "x").then(seen));
    ofHost.emit("x");
    following.stop();
    expect(await answer).toBe("reader");
    expect(await awaited).toBe("reader");
  });

  it("a listener of the host on an emitter of guarded code does not run as guarded code", () => {
    const following = followListeners(keeper);
    const ofGuarded = inReader(() => new EventEmitter());
    const seenByHost: unknown[] = [];
    ofGuarded.on("x", () => seenByHost.push(keeper.current()));
    inReader(() => ofGuarded.emit("x"));
    following.stop();
    expect(seenByHost).toEqual([undefined]);
  });
});

describe("attack: another value in the carrier", () => {
  it("a carrier gives back whatever was put there, which is why the keeper looks at the seal", () => {
    const carrier = openCarrier();
    const anything = {};
    expect(carrier.run(anything, () => carrier.read())).toBe(anything);
  });
});

function isOpen(value: object): boolean {
  return !Object.isFrozen(value);
}

function objects(value: unknown): object[] {
  if (typeof value !== "object" || value === null) return [];
  return [value, ...Object.values(value).flatMap((inner) => objects(inner))];
}

function mutable(value: unknown): object[] {
  return objects(value).filter((inner) => isOpen(inner));
}
