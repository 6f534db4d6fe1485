/**
 * Replaces every built-in that can be replaced by a hostile version, and puts all of them back.
 * INVARIANT: between `tamper` and `restore` this file uses operators, its own copies and objects without a prototype.
 */
const {
  apply,
  defineProperty,
  deleteProperty,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  ownKeys,
  setPrototypeOf,
} = Reflect;

/** `attacker` gives values that would open a decision; `throw` breaks whoever calls. */
export type Hostility = "attacker" | "throw";

export interface Tampering {
  /** Properties replaced by hostile versions, accessors and polluted names included. */
  readonly replaced: number;
  /** How often any hostile version ran since the tampering. */
  calls(): number;
  restore(): void;
}

interface Place {
  readonly holder: object;
  readonly key: PropertyKey;
  readonly before: PropertyDescriptor | undefined;
}

/** Names that our code, its protocol or the language reads from ordinary objects. */
const POLLUTED: readonly PropertyKey[] = [
  ..."0 1 2 3 4 5 6 7 8 9 ok code value get set writable enumerable configurable kind href text target form host port".split(
    " ",
  ),
  ..."path query frame frames subject contracts allowed outcome refs mode setup observe confined live ask nowMs op".split(
    " ",
  ),
  ..."address aliases twin named hook classifier id access then toJSON next done return throw errno syscall index input".split(
    " ",
  ),
  ..."groups resourceType operation requested scheme protocol hostname pathname microtaskMode cachedData raw".split(
    " ",
  ),
  Symbol.toPrimitive,
  Symbol.iterator,
  Symbol.asyncIterator,
  Symbol.hasInstance,
  Symbol.toStringTag,
  Symbol.isConcatSpreadable,
  Symbol.species,
];

/** Walks prototypes, properties and accessors from the roots; never calls a getter. */
export function reachableFrom(roots: readonly unknown[], isLeftOut: (value: object) => boolean): object[] {
  const reached = new Set<object>();
  const open = [...roots];
  while (open.length > 0) {
    const value = open.pop();
    if (value === null || (typeof value !== "object" && typeof value !== "function")) continue;
    if (reached.has(value) || isLeftOut(value)) continue;
    reached.add(value);
    open.push(getPrototypeOf(value));
    for (const key of ownKeys(value)) {
      const property = getOwnPropertyDescriptor(value, key);
      open.push(property?.value, property?.get, property?.set);
    }
  }
  return [...reached];
}

/** What no global leads to. */
export function hiddenIntrinsics(): unknown[] {
  const asyncGenerator = async function* (): AsyncGenerator<undefined> {};
  return [
    function* (): Generator<undefined> {},
    async () => undefined,
    asyncGenerator,
    asyncGenerator(),
    [][Symbol.iterator](),
    ""[Symbol.iterator](),
    new Map().entries(),
    new Set().values(),
    "".matchAll(/x/g),
    new URLSearchParams().entries(),
  ];
}

export function tamper(
  hostility: Hostility,
  roots: readonly unknown[],
  isLeftOut: (value: object) => boolean,
): Tampering {
  let calls = 0;
  let turn = 0;
  const gifts: readonly unknown[] = [
    true,
    1,
    "/",
    "https://allowed.example.com/",
    { allowed: true, code: "allowed_rule" },
    -1,
  ];
  function hostile(): unknown {
    calls++;
    if (hostility === "throw") throw 1;
    turn = (turn + 1) % 6;
    return gifts[turn];
  }
  const places: Place[] = [];
  for (const holder of reachableFrom(roots, isLeftOut)) {
    for (const key of ownKeys(holder)) {
      const before = getOwnPropertyDescriptor(holder, key);
      const isFunction = typeof before?.value === "function" && (before.writable || before.configurable);
      const isAccessor =
        before?.value === undefined && before?.configurable === true && before.get !== undefined;
      if (isFunction || isAccessor) places.push({ holder, key, before: setPrototypeOfNull(before) });
    }
  }
  for (const holder of [
    Object.prototype,
    Array.prototype,
    String.prototype,
    Function.prototype,
    Number.prototype,
  ]) {
    for (const key of POLLUTED) {
      if (getOwnPropertyDescriptor(holder, key) === undefined)
        places.push({ holder, key, before: undefined });
    }
  }
  let replaced = 0;
  for (let index = 0; index < places.length; index++) {
    const { holder, key, before } = places[index] as Place;
    const isAccessor = before === undefined || before.get !== undefined;
    const after = isAccessor
      ? { __proto__: null, configurable: true, enumerable: false, get: hostile, set: hostile }
      : {
          __proto__: null,
          configurable: before.configurable,
          enumerable: before.enumerable,
          writable: before.writable,
          value: hostile,
        };
    // WHY: a fixed but writable property takes a new value only.
    if (defineProperty(holder, key, after as unknown as PropertyDescriptor)) replaced++;
  }
  calls = 0;
  return {
    __proto__: null,
    replaced,
    calls: () => calls,
    restore: () => {
      for (let index = places.length - 1; index >= 0; index--) {
        const { holder, key, before } = places[index] as Place;
        if (before === undefined) apply(deleteProperty, undefined, [holder, key]);
        else defineProperty(holder, key, before);
      }
    },
  } as unknown as Tampering;
}

function setPrototypeOfNull<T extends object>(value: T): T {
  setPrototypeOf(value, null);
  return value;
}
