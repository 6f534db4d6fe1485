/**
 * The local ends of native handles: they bind and listen only where the guard lets them, at the end that was decided on.
 * Whoever has a socket has its handle, and whoever has a handle has its class.
 */
import { SafeWeakSet, apply, hasOwn } from "../captured.ts";
import { replaceExport } from "../replace-export.ts";
import { takeUse } from "./dial-permits.ts";
import { refused } from "./handle-standing.ts";
import { bindAt, openToAll, whenClosed } from "./unix-handle.ts";

const BINDS = Object.freeze(["bind", "bind6"]);

let bindable: End | undefined;
/** Bound for a server. */
const serving = new SafeWeakSet();

/** Where a server listens, as it was decided on. */
export interface End {
  /** None: everywhere. */
  readonly address: string | null;
  readonly port: number;
}

/** Lets Node bind there, for a server that was decided on. */
export function binding<R>(end: End, work: () => R): R {
  bindable = end;
  try {
    return work();
  } finally {
    bindable = undefined;
  }
}

/** INVARIANT: the program may run meanwhile; by whatever handle it binds, it is the decided end. */
function isBindable(address: unknown, port: unknown, isPipe: boolean): boolean {
  const end = bindable;
  if (end === undefined || end.port < 0 !== isPipe) return false;
  if (isPipe) return address === end.address;
  const isThere = end.address === null ? address === "::" || address === "0.0.0.0" : address === end.address;
  return isThere && port === end.port;
}

/** @param holder a prototype of handles */
export function guardEnds(holder: object, isPipe: boolean): void {
  for (const name of BINDS) if (hasOwn(holder, name)) guardBind(holder, name, isPipe);
  if (hasOwn(holder, "listen")) guardListening(holder);
  if (isPipe && hasOwn(holder, "fchmod")) guardPath(holder);
  if (hasOwn(holder, "close")) guardClose(holder);
}

function guardBind(holder: object, name: string, isPipe: boolean): void {
  replaceExport(
    holder,
    name,
    (original) =>
      function bind(this: object, ...args: unknown[]) {
        const isServing = isBindable(args[0], args[1], isPipe);
        // WHY not for a path: what a connection chooses as its own end is an address.
        if (!isServing && (isPipe || takeUse("bind", args[0], args[1]) === undefined)) throw refused();
        const code = isPipe
          ? bindAt(this, args[0] as string, (path) => apply(original, this, [path]))
          : apply(original, this, args);
        if (isServing && code === 0) serving.add(this);
        return code;
      },
  );
}

function guardListening(holder: object): void {
  replaceExport(
    holder,
    "listen",
    (original) =>
      function listen(this: object, backlog: unknown) {
        if (!serving.has(this)) throw refused();
        return apply(original, this, [backlog]);
      },
  );
}

/** Of a unix socket that is made: Node comes back to its path. */
function guardPath(holder: object): void {
  replaceExport(
    holder,
    "fchmod",
    (original) =>
      function fchmod(this: object, mode: unknown) {
        return openToAll(this, mode, () => apply(original, this, [mode]));
      },
  );
}

function guardClose(holder: object): void {
  replaceExport(
    holder,
    "close",
    (original) =>
      function close(this: object, ...args: unknown[]) {
        const result = apply(original, this, args);
        whenClosed(this);
        return result;
      },
  );
}
