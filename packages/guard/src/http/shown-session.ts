/**
 * Shows the classes of HTTP/2 sessions, which Node exports nowhere: a session is begun and given up at the moment when Node
 * puts it on its native one. Before that it has touched nothing, so nothing has to be taken back or waited for.
 * Must be used before the program runs: meanwhile every object has a setter.
 */
import http2 from "node:http2";
import { Socket } from "node:net";
import { bare, defineProperty, isSymbolOf, ownKeys } from "../captured.ts";

export interface ShownSession {
  readonly session: object;
  readonly native: object;
}

const ObjectPrototype = Object.prototype;
const nothing = (): void => undefined;

/** `undefined` where this Node makes its sessions in another way. */
export function showSession(): ShownSession | undefined {
  const key = ownerSymbol();
  if (key === undefined) return undefined;
  let shown: ShownSession | undefined;
  defineProperty(ObjectPrototype, key, {
    configurable: true,
    set(this: object, session: object) {
      shown = bare({ session, native: this });
      throw new Error("the session was seen: go no further");
    },
  });
  try {
    http2.connect("http://localhost", bare({ createConnection: unconnected as never }));
  } catch {
    // WHY: it was given up, or refused; which of them is seen below.
  } finally {
    Reflect.deleteProperty(ObjectPrototype, key);
  }
  return shown;
}

/** The name under which Node puts the owner of a native object on it. */
function ownerSymbol(): symbol | undefined {
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
