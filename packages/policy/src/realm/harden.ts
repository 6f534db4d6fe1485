/**
 * Freezes every intrinsic of the realm that it runs in, and its global. After it an object that leaks out of the realm
 * gives its holder nothing to change. Must run before foreign code can hold anything of the realm.
 */

/** Left-overs of the last match that any holder of the constructor could read. */
const REGEXP_LEGACY = [
  "input",
  "$_",
  "lastMatch",
  "$&",
  "lastParen",
  "$+",
  "leftContext",
  "$`",
  "rightContext",
  "$'",
];

/** @returns how many objects were frozen */
export function harden(): number {
  // WHY: nothing here uses it, and what nobody reaches needs no freezing: a segmenter alone takes 15 ms to make.
  Reflect.deleteProperty(globalThis, "Intl");
  for (const name of [...REGEXP_LEGACY, ..."123456789".split("").map((digit) => `$${digit}`)]) {
    Reflect.deleteProperty(RegExp, name);
  }
  const reached = new Set<object>();
  const open: unknown[] = [globalThis, ...hiddenIntrinsics()];
  while (open.length > 0) {
    const value = open.pop();
    if (value === null || (typeof value !== "object" && typeof value !== "function")) continue;
    if (reached.has(value)) continue;
    reached.add(value);
    open.push(Reflect.getPrototypeOf(value));
    const keys = Reflect.ownKeys(value);
    if (isPlainFunction(value, keys)) continue;
    for (const key of keys) {
      const property = Reflect.getOwnPropertyDescriptor(value, key);
      if (property === undefined) continue;
      if ("value" in property) open.push(property.value);
      else open.push(property.get, property.set);
    }
  }
  for (const value of reached) Object.freeze(value);
  return reached.size;
}

/** WHY: most of what is reached, and its length and its name lead nowhere; looking at them took half of the time. */
function isPlainFunction(value: object, keys: readonly PropertyKey[]): boolean {
  return typeof value === "function" && keys.length === 2 && keys[0] === "length" && keys[1] === "name";
}

async function* asyncGenerator(): AsyncGenerator<undefined> {}

/** What no global leads to: prototypes of iterators and constructors that only syntax reaches. */
function hiddenIntrinsics(): unknown[] {
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
    errorWithoutFrames(),
    throwTypeError(),
    ...iteratorHelpers(),
  ];
}

/**
 * WHY: V8 gives every error its own `stack` property, whose accessors no prototype leads to. Without frames, because looking at
 * it makes the text, for which V8 looks for the lines of every script on the stack.
 */
function errorWithoutFrames(): Error {
  const limits = Error as { stackTraceLimit?: unknown };
  const { stackTraceLimit } = limits;
  limits.stackTraceLimit = 0;
  const error = new Error("none");
  limits.stackTraceLimit = stackTraceLimit;
  return error;
}

/** The one function behind `arguments.callee` of strict code. */
function throwTypeError(): unknown {
  return Reflect.getOwnPropertyDescriptor(arguments, "callee")?.get;
}

/** Node 22 and later; not part of the language level that this code is written in. */
function iteratorHelpers(): unknown[] {
  const { Iterator } = globalThis as {
    Iterator?: { from?(value: object): { map?(step: () => 0): unknown } };
  };
  const wrapped = Iterator?.from?.({ next: () => ({ done: true }) });
  return [wrapped, wrapped?.map?.(() => 0)];
}
