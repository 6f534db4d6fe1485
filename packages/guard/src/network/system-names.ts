/**
 * The system's own resolver, and what the program could put between it and the guard: the native object of a look-up, which
 * holds who is told of the addresses, and words in the environment by which the C library asks for other names.
 * Trusts the resolver for what it says then.
 */
import dns from "node:dns";
import { refusedError } from "../blocked-call.ts";
import { bare, defineProperty, freeze, getOwnPropertyDescriptor } from "../captured.ts";
import { nativePrototype } from "../native-class.ts";

const { env } = process;
const { deleteProperty, preventExtensions } = Reflect;
const ObjectPrototype = Object.prototype;

/** The C library puts a domain behind names by them, or takes other names for them. */
const WORDS = freeze(["HOSTALIASES", "LOCALDOMAIN", "RES_OPTIONS"]);
const values: readonly (string | undefined)[] = freeze(WORDS.map((word) => env[word]));

/** @throws ExternalAccessError where names would be asked for that nobody has decided on */
export function requireOwnNames(name: string): void {
  for (let index = 0; index < WORDS.length; index++)
    if (env[WORDS[index] as string] !== values[index])
      throw refusedError(
        `\`${WORDS[index]}\` says which names are asked for in the place of \`${name}\`: leave it as it was`,
        bare({ syscall: "getaddrinfo", path: name }),
      );
}

/**
 * Before the program runs. WHY: Node keeps whom it tells on an object of this class, and what it puts there would be seen by
 * whoever has put a setter, or something that answers for all names, among the prototypes of that class.
 * @throws TypeError where this Node looks names up in another way
 */
export function closeLookups(): void {
  const prototype = nativePrototype("cares_wrap", "GetAddrInfoReqWrap") ?? shownLookup();
  if (prototype === undefined)
    throw new TypeError(
      "this Node looks names up in a way that the guard does not know: use a supported one",
    );
  const made: unknown = getOwnPropertyDescriptor(prototype, "constructor")?.value;
  if (typeof made === "function") defineProperty(made, "prototype", bare({ writable: false }));
  deleteProperty(prototype, "constructor");
  preventExtensions(bare(prototype));
}

/** WHY: where Node hands out no internals a look-up shows the class; it is given up before anything is asked. */
function shownLookup(): object | undefined {
  let shown: object | undefined;
  function set(this: object): void {
    shown = Reflect.getPrototypeOf(this) ?? undefined;
    throw new Error("the look-up was seen: go no further");
  }
  defineProperty(ObjectPrototype, "callback", bare({ configurable: true, set }));
  try {
    dns.lookup("localhost", () => undefined);
  } catch {
    // It was given up.
  } finally {
    deleteProperty(ObjectPrototype, "callback");
  }
  return shown;
}
