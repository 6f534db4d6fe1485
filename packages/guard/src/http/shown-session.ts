/**
 * Shows the classes of HTTP/2 sessions, which Node exports nowhere: a session is begun and given up at the moment when Node
 * puts it on its native one. Before that it has touched nothing, so nothing has to be taken back or waited for.
 * Runs when a program first connects, so foreign code may have prepared for it: what it is shown of the session is no
 * harm, since the native one decides; where it could have seen that one first, nothing is shown.
 */
import type http2 from "node:http2";
import { Socket } from "node:net";
import { types } from "node:util";
import { apply, bare, defineProperty, getPrototypeOf, hasOwn, isSymbolOf, ownKeys } from "../captured.ts";

export interface ShownSession {
  readonly session: object;
  readonly native: object;
}

const ObjectPrototype = Object.prototype;
const { isProxy } = types;
const { deleteProperty } = Reflect;
const nothing = (): void => undefined;

/**
 * @param connect Node's own
 * @param key see {@link ownerSymbol}
 * @returns `undefined` where this Node makes its sessions in another way, or somebody else may have seen one
 */
export function showSession(connect: typeof http2.connect, key: symbol): ShownSession | undefined {
  let shown: ShownSession | undefined;
  function set(this: object, session: object): void {
    if (isUntouched(this, key)) shown = bare({ session, native: this });
    throw new Error("the session was seen: go no further");
  }
  if (!defineProperty(ObjectPrototype, key, bare({ configurable: true, set }))) return undefined;
  try {
    apply(connect, undefined, ["http://localhost", bare({ createConnection: unconnected as never })]);
  } catch {
    // WHY: it was given up, or refused; which of them is seen below.
  } finally {
    deleteProperty(ObjectPrototype, key);
  }
  return shown;
}

/** INVARIANT: nobody between the native session and us was asked first, who would have its class as Node made it. */
function isUntouched(native: object, key: symbol): boolean {
  for (let holder = getPrototypeOf(native); holder !== ObjectPrototype; holder = getPrototypeOf(holder))
    if (holder === null || isProxy(holder) || hasOwn(holder, key)) return false;
  return true;
}

/** The name under which Node puts the owner of a native object on it. For the time before foreign code runs. */
export function ownerSymbol(): symbol | undefined {
  const handle = {};
  void new Socket({ handle, manualStart: true } as object);
  const keys = ownKeys(handle);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index];
    if (isSymbolOf(key, "owner_symbol")) return key;
  }
  return undefined;
}

/** What Node takes for a socket with a native stream. INVARIANT: given up before that is used. */
function unconnected(): object {
  return { _handle: { isStreamBase: true }, on: nothing, once: nothing };
}
