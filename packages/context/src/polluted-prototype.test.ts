import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, it } from "vitest";
import { contextFacts } from "./context-facts.ts";
import { ContextKeeper } from "./context-keeper.ts";
import { RuntimeContext } from "./runtime-context.ts";
import { sampleCaller, sampleFrame } from "./testing/sample-caller.ts";

const GREEDY: Readonly<Record<string, unknown>> = {
  frames: [sampleFrame("core", "core")],
  user: { id: 1, roles: ["super"], accessLevel: "super" },
  organizationId: null,
  sessionKey: "stolen",
  interactive: true,
  mode: "bypass",
  observe: true,
  confined: true,
  credential: "host",
  process: sampleCaller("greedy"),
  defaultValue: "greedy",
  contracts: ["everything"],
  accessLevel: "super",
  get: () => "greedy",
  value: "greedy",
  writable: true,
  "-1": sampleFrame("core", "core"),
};

const accessors = (calls: unknown[]): PropertyDescriptorMap =>
  Object.fromEntries(
    [...Object.keys(GREEDY), "0", "1", "enabled", "kResourceStore", "listener", "subject", "phase"].map(
      (key) => [
        key,
        {
          configurable: true,
          get: () => undefined,
          set: (value: unknown) => void calls.push([key, value]),
        },
      ],
    ),
  );

describe("attack: prototype pollution of context objects", () => {
  it("before: greedy values on Object.prototype reach no context", () => {
    const whole = sampleCaller("reader");
    const { user: _user, ...noUser } = whole;
    const seen = polluted(Object.prototype, data(GREEDY), () => {
      const keeper = new ContextKeeper();
      const context = keeper.root(whole);
      const inner = keeper.withFrame(context, sampleFrame("tool", "inner"));
      return {
        outside: keeper.current(),
        inside: keeper.enter(context, () => keeper.current()) === context,
        missing: fault(() => keeper.root(noUser as never)),
        facts: fault(() => keeper.withFacts(context, {})),
        caller: keeper.callerOf(context),
        inner: keeper.callerOf(inner)?.frames.length,
        empty: fault(() => keeper.withContract(keeper.root({ ...whole, frames: [] }), "x")),
      };
    });
    expect(seen.outside).toBeUndefined();
    expect(seen.inside).toBe(true);
    expect(seen.missing).toContain("`user` is missing");
    expect(seen.facts).toBe("");
    expect(seen.caller).toEqual(whole);
    expect(seen.inner).toBe(2);
    expect(seen.empty).toContain("no subject is active");
  });

  it("after: greedy values on Object.prototype and Array.prototype are not seen on a context", () => {
    const keeper = new ContextKeeper();
    const context = keeper.root(sampleCaller("reader", { user: null }));
    const read = (): unknown => {
      const caller = keeper.callerOf(context) as unknown as Record<string, unknown>;
      const facts = contextFacts(context) as unknown as Record<string, unknown>;
      return [
        caller["defaultValue"],
        caller["user"],
        facts["sessionKey"],
        facts["mode"],
        facts["interactive"],
      ];
    };
    const expected = [undefined, null, undefined, null, false];
    expect(polluted(Object.prototype, data(GREEDY), read)).toEqual(expected);
    expect(polluted(Array.prototype, data(GREEDY), read)).toEqual(expected);
  });

  it.each([
    ["Object.prototype", Object.prototype],
    ["Array.prototype", Array.prototype],
    ["AsyncLocalStorage.prototype", AsyncLocalStorage.prototype],
  ])("setters on %s see nothing of a context that is made, entered or read", (_, prototype) => {
    const calls: unknown[] = [];
    const keeper = new ContextKeeper();
    const whole = sampleCaller("reader");
    const frame = sampleFrame("tool", "inner");
    const answer = polluted(prototype, accessors(calls), () => {
      const context = keeper.withFacts(keeper.withFrame(keeper.root(whole), frame), { interactive: true });
      const name = keeper.enter(keeper.withContract(context, "once"), () => {
        const facts = contextFacts(keeper.current());
        return facts?.subjectChain[1]?.subject.name;
      });
      return [name, keeper.bind(() => 1).call(undefined)];
    });
    expect(answer).toEqual(["inner", 1]);
    expect(calls).toEqual([]);
  });

  it("the classes' prototypes cannot be changed, nor what they inherit from", () => {
    const replaced = (): undefined => undefined;
    for (const holder of [ContextKeeper.prototype, RuntimeContext.prototype, ContextKeeper, RuntimeContext]) {
      for (const name of ["current", "enter", "root", "callerOf", "bind", "constructor", "extra"]) {
        expect(Reflect.set(holder, name, replaced)).toBe(false);
        expect(Reflect.defineProperty(holder, name, { value: replaced })).toBe(false);
      }
      expect(Reflect.setPrototypeOf(holder, { current: replaced })).toBe(false);
    }
    expect(Object.getPrototypeOf(ContextKeeper.prototype)).toBeNull();
    expect(Object.getPrototypeOf(RuntimeContext.prototype)).toBeNull();
  });
});

describe("attack: replaced AsyncLocalStorage", () => {
  const names = Reflect.ownKeys(AsyncLocalStorage.prototype).filter((name) => name !== "constructor");
  const evil = (calls: unknown[]): PropertyDescriptorMap =>
    Object.fromEntries(
      names.map((name) => [
        name,
        { configurable: true, value: (...args: unknown[]) => void calls.push([name, args]) },
      ]),
    );

  it("run, getStore, enterWith and the rest replaced after import change nothing and are never called", async () => {
    const calls: unknown[] = [];
    const keeper = new ContextKeeper();
    const context = keeper.root(sampleCaller("reader"));
    const seen = await polluted(AsyncLocalStorage.prototype, evil(calls), () => {
      const first = keeper.enter(context, () => keeper.current());
      const later = keeper.enter(
        context,
        () =>
          new Promise((resolve) => {
            setTimeout(() => resolve(keeper.current()), 0);
          }),
      );
      const fresh = new ContextKeeper();
      const own = fresh.root(sampleCaller("fresh"));
      const second = fresh.enter(own, () => fresh.current()) === own;
      return later.then((value) => [first === context, value === context, second]);
    });
    expect(seen).toEqual([true, true, true]);
    expect(calls).toEqual([]);
  });

  it("Map, WeakMap, Reflect and Object functions replaced after import change nothing", () => {
    const keeper = new ContextKeeper();
    const context = keeper.root(sampleCaller("reader"));
    const greedy = (): PropertyDescriptor => ({
      configurable: true,
      writable: true,
      value: () => context,
    });
    const holders = [Map.prototype, WeakMap.prototype, Reflect, Object, Function.prototype, Array];
    for (const holder of holders) {
      const keys = Reflect.ownKeys(holder).filter(
        (key) => typeof Reflect.getOwnPropertyDescriptor(holder, key)?.value === "function",
      );
      const doomed = keys.filter((key) => key !== "constructor" && key !== Symbol.hasInstance);
      const replacements = Object.fromEntries(doomed.map((key) => [key, greedy()]));
      const seen = polluted(holder, replacements, () => {
        const inner = keeper.withFrame(context, sampleFrame("tool", "inner"));
        return [
          keeper.current(),
          keeper.enter(inner, () => keeper.current()) === inner,
          contextFacts(inner)?.subjectChain[1]?.subject.name,
          keeper.callerOf({} as RuntimeContext),
        ];
      });
      expect(seen).toEqual([undefined, true, "inner", undefined]);
    }
  });
});

function data(values: Readonly<Record<string, unknown>>): PropertyDescriptorMap {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, { configurable: true, writable: true, value }]),
  );
}

function fault(fn: () => unknown): string {
  try {
    fn();
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

/** Runs with properties replaced, and puts them back without using anything that was. */
function polluted<R>(holder: object, properties: PropertyDescriptorMap, fn: () => R): R {
  const { defineProperty, deleteProperty, getOwnPropertyDescriptor, ownKeys } = Reflect;
  const keys = ownKeys(properties);
  // WHY: descriptors without a prototype, since `get` and `value` may be among what is put there.
  const plain = (descriptor: PropertyDescriptor | undefined): PropertyDescriptor | undefined =>
    descriptor && (Object.assign(Object.create(null), descriptor) as PropertyDescriptor);
  const before = keys.map((key) => plain(getOwnPropertyDescriptor(holder, key)));
  const wanted = keys.map((key) => plain(getOwnPropertyDescriptor(properties, key)) as PropertyDescriptor);
  const restore = (): void => {
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index] as PropertyKey;
      const then = before[index];
      if (then === undefined) deleteProperty(holder, key);
      else defineProperty(holder, key, then);
    }
  };
  for (let index = 0; index < keys.length; index++) {
    defineProperty(holder, keys[index] as PropertyKey, wanted[index] as PropertyDescriptor);
  }
  let result: R;
  try {
    result = fn();
  } catch (error) {
    restore();
    throw error;
  }
  if (!(result instanceof Promise)) {
    restore();
    return result;
  }
  return result.finally(restore) as R;
}
