/**
 * The native objects below HTTP/2 sessions. Whoever has a session has its native one, and whoever has that has its class;
 * so what asks for streams is guarded there too. A native session belongs to the connection that it took over, and asks for
 * a stream that was decided on for that connection, once. Sessions on connections that are not judged are free.
 */
import { refusedError } from "../blocked-call.ts";
import { SafeWeakSet, apply, bare, defineProperty, getPrototypeOf, hasOwn } from "../captured.ts";
import type { Connection } from "../network/connection.ts";
import { judgedUnder } from "../network/tls-below.ts";
import { replaceExport } from "../replace-export.ts";
import { type DecidedStream, isDecidedStream, listAsWritten } from "./stream-list.ts";

interface Permit {
  readonly connection: Connection;
  /** None where network connect was decided on. */
  readonly stream: DecidedStream | undefined;
  isLeft: boolean;
}

/* oxlint-disable typescript/unbound-method -- called through Reflect.apply */
const { get, set } = WeakMap.prototype;
/* oxlint-enable typescript/unbound-method */
/** INVARIANT: a native session keeps the connection that it took over, whichever session the program puts it on. */
const owners = new WeakMap<object, Connection>();
/** By native session: the handle that it took over. */
const handles = new WeakMap<object, unknown>();
/** Connections that a session has taken over. */
const consumed = new SafeWeakSet();
let permit: Permit | undefined;

/**
 * Lets one stream be asked for on this connection, while Node makes it.
 * @param stream what was decided on; none where network connect was
 * @returns runs Node's own step, once with effect
 */
export function permitStream(
  connection: Connection,
  stream: DecidedStream | undefined,
): (step: () => unknown) => void {
  const own: Permit = bare({ connection, stream, isLeft: true });
  return (step) => {
    const before = permit;
    permit = own;
    try {
      step();
    } finally {
      own.isLeft = false;
      permit = before;
    }
  };
}

/** @returns false where it is no native session */
export function guardNativeSession(native: object): boolean {
  const prototype = getPrototypeOf(native);
  if (prototype === null || !hasOwn(prototype, "request") || !hasOwn(prototype, "consume")) return false;
  guardClass(prototype);
  return true;
}

function guardClass(prototype: object): void {
  replaceExport(
    prototype,
    "consume",
    (original) =>
      function consume(this: object, handle: unknown) {
        apply(set, handles, [this, handle]);
        const owner = judgedUnder(handle) as Connection | undefined;
        if (owner !== undefined) {
          // INVARIANT: a connection that only decided things leave by is taken over by one session, and for streams alone.
          if (owner.passage !== "streams" || consumed.has(owner)) throw refused("consume");
          consumed.add(owner);
          apply(set, owners, [this, owner]);
        }
        return apply(original, this, [handle]);
      },
  );
  replaceExport(
    prototype,
    "request",
    (original) =>
      function request(this: object, ...args: unknown[]) {
        const owner = ownerOf(this);
        if (owner === undefined) return apply(original, this, args);
        const list = listAsWritten(args[0]);
        if (list === undefined || !takePermit(owner, list[0], args[1])) throw refused("request");
        defineProperty(args, 0, bare({ value: list }));
        return apply(original, this, args);
      },
  );
  replaceExport(
    prototype,
    "goaway",
    (original) =>
      function goaway(this: object, code: unknown, last: unknown, data: unknown) {
        if (data !== undefined && ownerOf(this) !== undefined) throw refused("goaway");
        return apply(original, this, [code, last, data]);
      },
  );
  for (const name of ["altsvc", "origin"]) guardAnnouncement(prototype, name);
}

/** What servers alone say, in a text of their own. */
function guardAnnouncement(prototype: object, name: string): void {
  replaceExport(
    prototype,
    name,
    (original) =>
      function announce(this: object, ...args: unknown[]) {
        if (ownerOf(this) !== undefined) throw refused(name);
        return apply(original, this, args);
      },
  );
}

/** WHY asked each time until there is one: foreign code can have a handle taken over before it is connected. */
function ownerOf(native: object): Connection | undefined {
  const known = apply(get, owners, [native]) as Connection | undefined;
  if (known !== undefined) return known;
  const owner = judgedUnder(apply(get, handles, [native])) as Connection | undefined;
  if (owner !== undefined) apply(set, owners, [native, owner]);
  return owner;
}

function takePermit(owner: Connection, list: string, flags: unknown): boolean {
  const one = permit;
  if (one === undefined || !one.isLeft || one.connection !== owner) return false;
  if (one.stream !== undefined && !isDecidedStream(owner, one.stream, list, flags)) return false;
  one.isLeft = false;
  return true;
}

function refused(syscall: string): Error {
  return refusedError(
    "a native session asks for streams on behalf of the guard alone: use the session",
    bare({ syscall }),
  );
}
