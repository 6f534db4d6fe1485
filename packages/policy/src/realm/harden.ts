/**
 * Freezes every intrinsic of the realm that it runs in, and its global. After it an object that leaks out of the realm
 * gives its holder nothing to change. Must run before foreign code can hold anything of the realm.
 */

/** Left-overs of the last match that any holder of the constructor could read. */
const REGEXP_LEGACY = ["input", "$_", "lastMatch", "$&", "lastParen", "$+", "leftContext", "$`", "rightContext", "$'"];

/** @returns how many objects were frozen */
export function harden(): number {
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
    for (const key of Reflect.ownKeys(value)) {
      const property = Reflect.getOwnPropertyDescriptor(value, key);
      open.push(property?.value, property?.get, property?.set);
    }
  }
  for (const value of reached) Object.freeze(value);
  return reached.size;
}

/** What no global leads to: prototypes of iterators and constructors that only syntax reaches. */
function hiddenIntrinsics(): unknown[] {
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
    // INVARIANT: the realm's own functions are reached from here as well, so `arguments` and `caller` stay closed.
    harden,
  ];
}
