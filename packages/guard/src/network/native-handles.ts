/**
 * The native objects below sockets. Whoever has a socket has its handle, and whoever has a handle has its class; so the
 * methods that connect and that write are guarded there too. A handle connects only where the guard lets it, to the
 * address that was decided on, and a handle of a connection that was opened for requests is written to by the guard alone.
 */
import { types } from "node:util";
import { refusedError } from "../blocked-call.ts";
import { SafeWeakSet, apply, bare, defineProperty, getPrototypeOf, hasOwn, quietly } from "../captured.ts";
import { replaceExport } from "../replace-export.ts";

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
/* oxlint-disable typescript/unbound-method -- called through Reflect.apply */
const { get, set } = WeakMap.prototype;
/* oxlint-enable typescript/unbound-method */

/** One dial that was decided on. Used up when it is made. */
interface Permit {
  readonly address: string;
  /** None for a unix socket. */
  readonly port: number | undefined;
  /** For the local end. */
  readonly isBind: boolean;
  readonly isJudged: boolean;
  /** The connection that is dialled; none for datagrams and local ends. */
  readonly owner: object | undefined;
  /** The permits of one connection. */
  readonly batch: object;
  next: Permit | undefined;
}

let permits: Permit | undefined;
/**
 * - `judged`: only the guard writes to it, and no protocol of Node takes it over.
 * - `taken`: a protocol of Node that the guard follows writes to it, natively.
 * - `free`: network connect was decided on.
 */
type Standing = "judged" | "taken" | "free";
const standings = new WeakMap<object, Standing>();
/** INVARIANT: a handle keeps the connection that it was made for, whichever socket the program puts it on. */
const owners = new WeakMap<object, object>();
const guarded = new SafeWeakSet();
/** What the guard is about to write. */
let released: { readonly handle: unknown; readonly data: unknown; readonly method: string } | undefined;
let isBinding = false;

/**
 * Lets a handle connect to one of these addresses, each once.
 * @param isJudged only the guard writes to it then
 * @param owner the connection that is dialled
 * @returns takes back what was not used
 */
export function permitDials(
  addresses: readonly string[],
  port: number | undefined,
  isJudged: boolean,
  owner?: object,
): () => void {
  const batch = bare({});
  for (let index = 0; index < addresses.length; index++)
    permits = bare({
      address: addresses[index] as string,
      port,
      isBind: false,
      isJudged,
      owner,
      batch,
      next: permits,
    });
  return () => {
    for (;;) if (takePermit((permit) => permit.batch === batch) === undefined) return;
  };
}

const ANY_LOCAL = Object.freeze(["0.0.0.0", "::"]);
/** As many as Node tries addresses. */
const BINDS_MAX = 8;

/**
 * Lets a handle that is about to connect choose its own end, which says nothing about where it goes: to listen there is
 * another thing.
 */
export function permitBind(address: string | undefined, port: number | undefined): () => void {
  const batch = bare({});
  const texts = typeof address === "string" && address !== "" ? [address] : ANY_LOCAL;
  for (let count = 0; count < BINDS_MAX; count++)
    for (let index = 0; index < texts.length; index++)
      permits = bare({
        address: texts[index] as string,
        port,
        isBind: true,
        isJudged: false,
        owner: undefined,
        batch,
        next: permits,
      });
  return () => {
    for (;;) if (takePermit((permit) => permit.batch === batch) === undefined) return;
  };
}

/** Whether a dial there was decided on; it is used up. */
export function takeDial(address: unknown, port: unknown): boolean {
  return takePermit((one) => !one.isBind && one.address === address && one.port === port) !== undefined;
}

function takeBind(address: unknown, port: unknown): boolean {
  return takePermit((one) => one.isBind && one.address === address && one.port === port) !== undefined;
}

function takePermit(fits: (permit: Permit) => boolean): Permit | undefined {
  let before: Permit | undefined;
  for (let permit = permits; permit !== undefined; permit = permit.next) {
    if (fits(permit)) {
      if (before === undefined) permits = permit.next;
      else before.next = permit.next;
      return permit;
    }
    before = permit;
  }
  return undefined;
}

function standingOf(handle: object): Standing | undefined {
  return apply(get, standings, [handle]) as Standing | undefined;
}

/** What may happen to the handle of a connection. A handle of another one stays what it is. */
export function setStanding(handle: unknown, standing: Standing, owner: object): void {
  if (typeof handle !== "object" || handle === null) return;
  guardHandle(handle);
  if (isOwned(handle, owner)) apply(set, standings, [handle, standing]);
}

/** Whether the handle is this connection's; it becomes so where it was nobody's. */
function isOwned(handle: object, owner: object): boolean {
  const known = ownerOf(handle);
  if (known === undefined) apply(set, owners, [handle, owner]);
  return known === undefined || known === owner;
}

function ownerOf(handle: unknown): unknown {
  return apply(get, owners, [handle]);
}

/**
 * Runs the guard's own write: lets these data leave once, by the method that Node takes for them.
 * INVARIANT: methods of the socket that the program may have replaced run meanwhile, and gain nothing by it.
 */
export function releasing(
  { socket, owner }: { readonly socket: object; readonly owner: object },
  data: unknown,
  encoding: unknown,
  work: () => unknown,
): void {
  const { _handle: handle } = socket as { readonly _handle?: unknown };
  const method =
    typeof data !== "string" ? "writeBuffer" : isLatin1(encoding) ? "writeLatin1String" : "writeUtf8String";
  released = ownerOf(handle) === owner ? { handle, data, method } : undefined;
  try {
    work();
  } finally {
    released = undefined;
  }
}

function isLatin1(encoding: unknown): boolean {
  return encoding === "latin1" || encoding === "binary";
}

function takeReleased(handle: object, data: unknown, method: string): boolean {
  const one = released;
  if (one === undefined || one.handle !== handle || one.data !== data || one.method !== method) return false;
  released = undefined;
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

/** WHY: before the program runs their classes are to be had; later the first handle shows them. */
export function installHandles(): void {
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
}

const TAKEN_OVER = bare({
  get(this: object): boolean {
    return standingOf(this) !== "judged";
  },
  enumerable: true,
  configurable: false,
});

function guardHandle(handle: object): void {
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
    for (const name of WRITES) if (hasOwn(holder, name)) guardWrite(holder, name);
    for (const name of CONNECTS) if (!isTls && hasOwn(holder, name)) guardConnect(holder, name, isPipe);
    for (const name of BINDS) if (!isTls && hasOwn(holder, name)) guardBind(holder, name);
    // WHY: TLS and HTTP/2 take over what says this of itself, and write to it by themselves.
    if (hasOwn(holder, "isStreamBase")) defineProperty(holder, "isStreamBase", TAKEN_OVER);
  }
}

function guardWrite(holder: object, name: string): void {
  replaceExport(
    holder,
    name,
    (original) =>
      function write(this: object, ...args: unknown[]) {
        const standing = standingOf(this);
        const isFree = standing === undefined || standing === "free";
        if (!isFree && !takeReleased(this, args[1], name)) throw refused();
        return apply(original, this, args);
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
        const permit = takePermit((one) => !one.isBind && one.address === address && one.port === port);
        if (permit === undefined) throw refused();
        const { owner, isJudged } = permit;
        // WHY: a handle that was dialled before would go on as what it was decided to be then.
        if (owner === undefined ? ownerOf(this) !== undefined : !isOwned(this, owner)) throw refused();
        if (isJudged && owner !== undefined && standingOf(this) !== "taken")
          setStanding(this, "judged", owner);
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
        if (!isBinding && (name === "listen" || !takeBind(args[0], args[1]))) throw refused();
        return apply(original, this, args);
      },
  );
}

export function refused(): Error {
  return refusedError(
    "a native handle connects and writes for the guard alone: use the socket",
    bare({ syscall: "connect" }),
  );
}
