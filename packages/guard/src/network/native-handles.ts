/**
 * The native objects below sockets. Whoever has a socket has its handle, and whoever has a handle has its class; so the
 * methods that connect and that write are guarded there too. A handle connects only where the guard lets it, to the
 * address that was decided on, and a handle of a connection that was opened for requests is written to by the guard alone.
 */
import { types } from "node:util";
import {
  SafeWeakSet,
  apply,
  bare,
  defineProperty,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  hasOwn,
  isSymbolOf,
  ownKeys,
  quietly,
} from "../captured.ts";
import { replaceExport } from "../replace-export.ts";
import { takeDialOf, takeUse } from "./dial-permits.ts";
import {
  type Standing,
  isClosedToNumbers,
  isMadeByTls,
  isOwned,
  judgedOwner,
  keepNumber,
  learnNumber,
  ownerOf,
  putMadeByTls,
  putStanding,
  refused,
  standingOf,
} from "./handle-standing.ts";

const WRITES = Object.freeze([
  "writeBuffer",
  "writev",
  "writeAsciiString",
  "writeLatin1String",
  "writeUcs2String",
  "writeUtf8String",
]);
const CONNECTS = Object.freeze(["connect", "connect6"]);
const BINDS = Object.freeze(["bind", "bind6", "listen"]);
const ObjectPrototype = Object.prototype;
const { isProxy } = types;

const guarded = new SafeWeakSet();
let isTlsHeld = false;
let requireForeign: (fd: number) => void = () => {
  throw refused();
};
/** What the guard is about to write, and by which method; no handle: nothing. */
let releasedHandle: unknown;
let releasedData: unknown;
let releasedMethod = "";
let isBinding = false;

/** What may happen to the handle of a connection. A handle of another one stays what it is. */
export function setStanding(handle: unknown, standing: Standing, owner: object): void {
  if (typeof handle !== "object" || handle === null) return;
  guardHandle(handle);
  if (!isOwned(handle, owner)) return;
  putStanding(handle, standing);
}

let connectionOn: (socket: object) => object | undefined = () => undefined;
let keepName: (handle: object, name: unknown) => void = () => {
  throw refused();
};

/** The connection of the socket that Node has put the handle on. */
function connectionWith(handle: object): object | undefined {
  const keys = ownKeys(handle);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index];
    if (!isSymbolOf(key, "owner_symbol")) continue;
    const socket: unknown = getOwnPropertyDescriptor(handle, key)?.value;
    if (typeof socket === "object" && socket !== null) return connectionOn(socket);
  }
  return undefined;
}

/** Node's own `_writeGeneric`. */
type NativeWrite = (isMany: boolean, data: unknown, encoding: unknown, written: unknown) => unknown;

/**
 * The guard's own write: lets these data leave once, by the method that Node takes for them.
 * INVARIANT: methods of the socket that the program may have replaced run meanwhile, and gain nothing by it.
 */
export function writeReleased(
  original: NativeWrite,
  socket: object,
  owner: object,
  data: unknown,
  encoding: unknown,
  written: unknown,
): void {
  const { _handle: handle } = socket as { readonly _handle?: unknown };
  // WHY three values and neither an object nor a closure: this runs for every request.
  releasedHandle = ownerOf(handle) === owner ? handle : undefined;
  releasedData = data;
  releasedMethod =
    typeof data !== "string" ? "writeBuffer" : isLatin1(encoding) ? "writeLatin1String" : "writeUtf8String";
  try {
    apply(original, socket, [false, data, encoding, written]);
  } finally {
    releasedHandle = undefined;
    releasedData = undefined;
  }
}

function isLatin1(encoding: unknown): boolean {
  return encoding === "latin1" || encoding === "binary";
}

function takeReleased(handle: object, data: unknown, method: string): boolean {
  if (releasedHandle !== handle || releasedData !== data || releasedMethod !== method) return false;
  releasedHandle = undefined;
  return true;
}

/** Lets Node bind and listen, for a server that was decided on. */
export function binding<R>(work: () => R): R {
  isBinding = true;
  try {
    return work();
  } finally {
    isBinding = false;
  }
}

/**
 * WHY: before the program runs their classes are to be had; later the first handle shows them.
 * @param find the connection of a socket
 * @param keepNameOf is told the name that TLS will ask for
 * @param foreign throws for a descriptor that is no business of the program's
 * @returns whether nothing is written by TLS that {@link ownTls} does not know
 */
export function installHandles(
  find: typeof connectionOn,
  keepNameOf: typeof keepName,
  foreign: typeof requireForeign,
): boolean {
  connectionOn = find;
  keepName = keepNameOf;
  requireForeign = foreign;
  quietly(() => {
    for (const [name, type] of [
      ["tcp_wrap", "TCP"],
      ["pipe_wrap", "Pipe"],
      ["tls_wrap", "TLSWrap"],
    ] as const) {
      try {
        const internals = process as unknown as {
          binding(name: string): Record<string, { readonly prototype: object }>;
        };
        const found = internals.binding(name)[type];
        if (found !== undefined) guardClass(found.prototype);
      } catch {
        // Node's own permission model hands out no internals; the first handle is guarded instead.
      }
    }
  });
  return isTlsHeld;
}

/** A handle of TLS that its guarded socket has made. */
export function ownTls(handle: object): void {
  guardHandle(handle);
  putMadeByTls(handle);
}

const TAKEN_OVER = bare({
  get(this: object): boolean {
    return standingOf(this) !== "judged";
  },
  enumerable: true,
  configurable: false,
});

/** WHY: for a Node that hands out no internals, the first handle shows the class. */
export function guardHandle(handle: object): void {
  const prototype = getPrototypeOf(handle);
  if (prototype !== null && !guarded.has(prototype) && !isProxy(prototype)) guardClass(prototype);
}

function guardClass(prototype: object): void {
  // WHY: those of TLS hand on to the handle below, which is guarded itself.
  const isTls = hasOwn(prototype, "setServername");
  const isPipe = !hasOwn(prototype, "connect6");
  for (
    let holder: object | null = prototype;
    holder !== null && holder !== ObjectPrototype;
    holder = getPrototypeOf(holder)
  ) {
    if (guarded.has(holder)) return;
    guarded.add(holder);
    for (const name of WRITES) if (hasOwn(holder, name)) guardWrite(holder, name, isTls);
    if (isTls && hasOwn(holder, "writeBuffer")) isTlsHeld = true;
    for (const name of CONNECTS) if (!isTls && hasOwn(holder, name)) guardConnect(holder, name, isPipe);
    if (isTls && hasOwn(holder, "setServername")) guardName(holder);
    for (const name of BINDS) if (!isTls && hasOwn(holder, name)) guardBind(holder, name);
    if (!isTls && hasOwn(holder, "open")) guardOpen(holder);
    if (!isTls) learnNumber(holder);
    // WHY: TLS and HTTP/2 take over what says this of itself, and write to it by themselves.
    if (hasOwn(holder, "isStreamBase")) defineProperty(holder, "isStreamBase", TAKEN_OVER);
  }
}

/** INVARIANT: TLS whose socket is not guarded, wherever that comes from, writes nothing. */
function guardWrite(holder: object, name: string, isTls: boolean): void {
  replaceExport(
    holder,
    name,
    (original) =>
      function write(this: object, request: unknown, data: unknown, more: unknown) {
        const standing = standingOf(this);
        const isFree = standing === undefined || standing === "free";
        if (!isFree && !takeReleased(this, data, name)) throw refused();
        if (isTls && !isMadeByTls(this)) throw refused();
        // WHY: what is sent along to another process is written to there.
        if (judgedOwner(more) !== undefined) throw refused();
        return apply(original, this, [request, data, more]);
      },
  );
}

function guardConnect(holder: object, name: string, isPipe: boolean): void {
  replaceExport(
    holder,
    name,
    (original) =>
      function connect(this: object, ...args: unknown[]) {
        const address = args[1];
        const port = isPipe ? undefined : args[2];
        const home = ownerOf(this);
        // WHY the socket's: Node tries another address with another handle. It only chooses among what was decided on.
        const permit =
          takeDialOf(home ?? connectionWith(this), address, port) ??
          (home === undefined ? takeUse("dial", address, port) : undefined);
        if (permit === undefined) throw refused();
        const { owner, isJudged } = permit;
        if (owner !== undefined) isOwned(this, owner);
        if (isJudged && owner !== undefined && standingOf(this) !== "taken")
          setStanding(this, "judged", owner);
        const code = apply(original, this, args);
        // WHY now: before that it has no number.
        if (isClosedToNumbers(this)) keepNumber(this);
        return code;
      },
  );
}

/** A descriptor that is made a stream of: never one of the guard's, or of a connection that only decided things leave by. */
function guardOpen(holder: object): void {
  replaceExport(
    holder,
    "open",
    (original) =>
      function open(this: object, given: unknown) {
        if (typeof given !== "number") throw refused();
        const fd = given | 0;
        requireForeign(fd);
        return apply(original, this, [fd]);
      },
  );
}

function guardName(holder: object): void {
  replaceExport(
    holder,
    "setServername",
    (original) =>
      function setServername(this: object, ...args: unknown[]) {
        keepName(this, args[0]);
        return apply(original, this, args);
      },
  );
}

function guardBind(holder: object, name: string): void {
  replaceExport(
    holder,
    name,
    (original) =>
      function bind(this: object, ...args: unknown[]) {
        if (!isBinding && (name === "listen" || takeUse("bind", args[0], args[1]) === undefined))
          throw refused();
        return apply(original, this, args);
      },
  );
}
