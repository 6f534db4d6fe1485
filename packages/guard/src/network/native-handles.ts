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
import { isInUse, takeNumbersInUse } from "../fs/numbers-in-use.ts";
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
import { guardEnds } from "./native-ends.ts";
import { takeReleased } from "./released-write.ts";
import { judgedUnder, putBelow, seeWrapped } from "./tls-below.ts";
import { connectAt, leavePaths } from "./unix-handle.ts";

const WRITES = Object.freeze([
  "writeBuffer",
  "writev",
  "writeAsciiString",
  "writeLatin1String",
  "writeUcs2String",
  "writeUtf8String",
]);
const CONNECTS = Object.freeze(["connect", "connect6"]);
const ObjectPrototype = Object.prototype;
const { isProxy } = types;

const guarded = new SafeWeakSet();
let isTlsHeld = false;
let requireForeign: (fd: number) => void = () => {
  throw refused();
};

/** What may happen to the handle of a connection. A handle of another one stays what it is. */
export function setStanding(handle: unknown, standing: Standing, owner: object): void {
  if (typeof handle !== "object" || handle === null) return;
  guardHandle(handle);
  if (!isOwned(handle, owner)) return;
  // INVARIANT: what only decided things leave by says so itself, whatever the program says of it.
  if (standing !== "free" && !defineProperty(handle, "isStreamBase", SAID_OF_ITSELF)) throw refused();
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

/**
 * WHY: before the program runs their classes are to be had; later the first handle shows them.
 * @param find the connection of a socket
 * @param keepNameOf is told the name that TLS will ask for
 * @param foreign throws for a descriptor that is no business of the program's
 * @param isConfined the kernel sees where paths lead
 * @returns whether nothing is written by TLS that {@link ownTls} does not know
 */
export function installHandles(
  find: typeof connectionOn,
  keepNameOf: typeof keepName,
  foreign: typeof requireForeign,
  isConfined: boolean,
): boolean {
  if (isConfined) leavePaths();
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
        if (name === "tls_wrap") seeWrapped(internals.binding(name));
        if (found !== undefined) guardClass(found.prototype);
      } catch {
        // Node's own permission model hands out no internals; the first handle is guarded instead.
      }
    }
  });
  return isTlsHeld;
}

/** @param under the one below, as Node tells it; known already where Node hands out its internals */
export function ownTls(handle: object, under: unknown): void {
  guardHandle(handle);
  putBelow(handle, under);
  putMadeByTls(handle);
}

const TAKEN_OVER = bare({
  get(this: object): boolean {
    return standingOf(this) !== "judged";
  },
  enumerable: true,
  configurable: false,
});

const SAID_OF_ITSELF = bare({ ...TAKEN_OVER, enumerable: false });

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
    if (!isTls) guardEnds(holder, isPipe);
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
        const released = takeReleased(this, request, data, name);
        if (!isFree && released === undefined) throw refused();
        if (isTls && (!isMadeByTls(this) || (isFree && judgedUnder(this) !== undefined))) throw refused();
        // WHY: what is sent along to another process is written to there.
        if (judgedOwner(more) !== undefined) throw refused();
        return apply(original, this, [request, released ?? data, more]);
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
        if (isClosedToNumbers(this)) takeNumbersInUse();
        const code = isPipe
          ? connectAt(address as string, (path) => apply(original, this, [args[0], path]))
          : apply(original, this, args);
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
        // WHY: a stream closes its number whoever else means it.
        if (isInUse(fd)) throw refused();
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
