/**
 * What a handle of TLS stands on. It writes to the handle below by itself, so what may leave by that one says what may be written
 * to it; whoever put it there, and whether that handle was connected by then or not.
 */
import { apply } from "../captured.ts";
import { replaceExport } from "../replace-export.ts";
import { judgedOwner, ownerOf, standingOf } from "./handle-standing.ts";

/* oxlint-disable typescript/unbound-method -- called through Reflect.apply */
const { get, set } = WeakMap.prototype;
/* oxlint-enable typescript/unbound-method */
/** By handle of TLS. */
const below = new WeakMap<object, object>();
/** By connection that TLS runs in: the one below. */
const covered = new WeakMap<object, object>();

/** INVARIANT: the first that is told counts. */
export function putBelow(handle: object, under: unknown): void {
  if (typeof under !== "object" || under === null || apply(get, below, [handle]) !== undefined) return;
  apply(set, below, [handle, under]);
}

/** TLS that was decided on runs inside of a connection. */
export function putCovered(connection: object, under: object): void {
  apply(set, covered, [connection, under]);
}

/**
 * WHY there: whichever way foreign code has TLS put on a handle, Node calls this one.
 * @param native where Node takes it from
 */
export function seeWrapped(native: object): void {
  replaceExport(
    native,
    "wrap",
    (original) =>
      function wrap(this: unknown, ...args: unknown[]) {
        const handle = apply(original, this, args);
        if (typeof handle === "object" && handle !== null) putBelow(handle, args[0]);
        return handle;
      },
  );
}

/** The connection that what is written to the handle ends up in, where only decided things leave by it; none where all may. */
export function judgedUnder(handle: unknown): object | undefined {
  if (typeof handle !== "object" || handle === null) return undefined;
  const owner = judgedOwner(handle);
  if (owner !== undefined) return owner;
  const under = judgedUnder(apply(get, below, [handle]));
  if (under === undefined || standingOf(handle) !== "free") return under;
  const own = ownerOf(handle) as object;
  return own === under || apply(get, covered, [own]) === under ? undefined : under;
}
