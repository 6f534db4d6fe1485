/**
 * Listening, by TCP and by unix socket: of whoever connects nobody knows the direction, so it is network connect to the
 * local end. Without a host it is the unspecified address, `[::]`; without a port the host alone. A unix socket is also
 * a file that is made. What others accept from there is not asked again.
 */
import net from "node:net";
import { type Host, isIpLiteral, parseHost } from "@sallyport/contract";
import { capturedUrl } from "@sallyport/gate";
import { type AccessPart, connectPart, createOrModify } from "../access-part.ts";
import { invalidError, refusedError } from "../blocked-call.ts";
import { apply, bare, charCodeAt, freeze, inNextTick, put } from "../captured.ts";
import { isPlace, placeOf } from "../fs/place-of.ts";
import type { Ground } from "../ground.ts";
import { replaceExport } from "../replace-export.ts";
import { decideEndpoint } from "./decide-endpoint.ts";
import { type ConnectOptions, addressOf } from "./endpoint.ts";
import { type End, binding } from "./native-ends.ts";
import { shownValue } from "./not-an-endpoint.ts";
import { requireWholePath } from "./unix-path.ts";

type AnyFunction = (...args: unknown[]) => unknown;

const { _normalizeArgs: normalizeArgs } = net as unknown as {
  readonly _normalizeArgs: (args: readonly unknown[]) => readonly [ConnectOptions, AnyFunction | null];
};
// oxlint-disable-next-line typescript/unbound-method -- called through Reflect.apply
const { emit } = net.Server.prototype;
const PORT_MAX = 65_535;
const ANYWHERE = "[::]" as Host;
/** Options that say nothing about where it listens. */
const KEPT = freeze([
  "backlog",
  "exclusive",
  "ipv6Only",
  "readableAll",
  "writableAll",
  "reusePort",
  "signal",
]);

/** The local end that Node is let listen at, by server. */
const ends = new WeakMap<object, End>();
/* oxlint-disable typescript/unbound-method -- called through Reflect.apply */
const { get, set } = WeakMap.prototype;
/* oxlint-enable typescript/unbound-method */

export function guardListen(ground: Ground): void {
  replaceExport(
    net.Server.prototype,
    "listen",
    (original) =>
      function listen(this: net.Server, ...args: unknown[]): net.Server {
        const both = normalizeArgs(args);
        const own = ownOptions(args, both[0]);
        const callback = both[1];
        const isListening = Boolean((this as Listening)._handle);
        const asked = isListening ? undefined : askedOf(args, both[0]);
        // WHY: it throws, and says why; without an end that was decided on it listens nowhere.
        if (asked === undefined) return apply(original, this, [shownOptions(both[0])]) as net.Server;
        const call = nextCall(this as Listening);
        const fail = (error: unknown): void =>
          inNextTick(((reason: unknown) => apply(emit, this, ["error", reason])) as () => void, error);
        let isReturned = false;
        const go = (end: End): void => {
          // WHY: a server that was closed, or told to listen elsewhere, meanwhile does not listen here.
          if (isReturned && (this as Listening)._listeningId !== call) return;
          apply(set, ends, [this, end]);
          try {
            apply(original, this, callback === null ? [own] : [own, callback]);
          } catch (error) {
            if (!isReturned) throw error;
            fail(error);
          }
        };
        decide(ground, asked, own, go, fail);
        isReturned = true;
        return this;
      },
  );
  replaceExport(
    net.Server.prototype,
    "_listen2",
    (original) =>
      function _listen2(this: object, ...args: unknown[]) {
        const end = apply(get, ends, [this]) as End | undefined;
        if (
          end === undefined ||
          args[0] !== end.address ||
          args[1] !== end.port ||
          typeof args[4] === "number"
        )
          throw refusedError("a server listens by `listen`", bare({ syscall: "listen" }));
        return binding(end, () => apply(original, this, args));
      },
  );
}

interface Asked {
  readonly path: string | undefined;
  readonly host: unknown;
  readonly port: number;
}

/** Where Node would listen; `undefined` where it refuses. */
function askedOf(args: readonly unknown[], options: ConnectOptions): Asked | undefined {
  const { path, host, port: given } = options;
  const isAny =
    args.length === 0 ||
    typeof args[0] === "function" ||
    given === null ||
    (given === undefined && "port" in options);
  if (!isAny && typeof given !== "number" && typeof given !== "string")
    return typeof path === "string" && path !== "" ? bare({ path, host: undefined, port: 0 }) : undefined;
  const port = isAny ? 0 : typeof given === "string" ? (hasDigit(given) ? +given : -1) : (given as number);
  if ((port | 0) !== port || port < 0 || port > PORT_MAX) return undefined;
  return bare({ path: undefined, host, port });
}

/** WHY: text without one is a number to the language, and none to Node. */
function hasDigit(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = charCodeAt(text, index);
    if (code >= 0x30 && code <= 0x39) return true;
  }
  return false;
}

/** What Node is shown so that it refuses it. */
function shownOptions(options: ConnectOptions): object {
  const shown = {};
  for (const key of ["port", "path"]) if (key in options) put(shown, key, shownValue(options[key]));
  return shown;
}

interface Listening {
  _handle?: unknown;
  _listeningId?: unknown;
}

/** Node numbers the calls of `listen` and `close`, so that one that waits knows whether it still counts. */
function nextCall(server: Listening): unknown {
  if (typeof server._listeningId === "number") server._listeningId++;
  return server._listeningId;
}

function decide(
  ground: Ground,
  { path, host, port }: Asked,
  own: Record<string, unknown>,
  go: (end: End) => void,
  fail: (error: unknown) => void,
): void {
  if (path !== undefined) {
    listenAtPath(ground, path, own, go, fail);
    return;
  }
  const hasHost = host !== undefined && host !== null && host !== "";
  const parsed = typeof host === "string" && hasHost ? parseHost(host, capturedUrl) : ANYWHERE;
  if (parsed === undefined)
    throw invalidError("listening needs a host name or address: hand over one", bare({ syscall: "listen" }));
  put(own, "port", port);
  const target = port === 0 ? parsed : `${parsed}:${port}`;
  const requested = hasHost ? `${host as string}:${port}` : target;
  const part = (address: Host | undefined): AccessPart => connectPart(target, requested, bare({ address }));
  const kind = isIpLiteral(parsed) ? ("address" as const) : ("name" as const);
  const endpoint = bare({ kind, host: parsed, port, requested });
  const facts = bare({ syscall: "listen", path: requested });
  decideEndpoint(ground.decider, bare({ endpoint, family: 0, part, facts }), (error, addresses) => {
    if (error !== undefined && error !== null) {
      fail(error);
      return;
    }
    const address = hasHost ? addressOf(addresses[0] as Host).address : null;
    if (address !== null) put(own, "host", address);
    go(bare({ address, port }));
  });
}

function listenAtPath(
  { decider }: Ground,
  written: unknown,
  own: Record<string, unknown>,
  go: (end: End) => void,
  fail: (error: unknown) => void,
): void {
  const place = placeOf(written, "keep", "listen");
  if (!isPlace(place))
    throw invalidError(
      "a unix socket needs a path: abstract names cannot be checked",
      bare({ syscall: "listen" }),
    );
  const { path, requested } = place;
  try {
    requireWholePath(path, requested, "listen");
  } catch (error) {
    fail(error);
    return;
  }
  const parts = [connectPart(`unix:${path}`, `unix:${requested}`), createOrModify(place)];
  put(own, "path", path);
  decider.later(parts, bare({ syscall: "listen", path: requested }), (blocked) => {
    if (blocked !== undefined) fail(blocked);
    else go(bare({ address: path, port: -1 }));
  });
}

/** WHY: Node takes nothing else for one. */
function isDescriptor(fd: unknown): boolean {
  return typeof fd === "number" && fd >= 0;
}

/** @throws ExternalAccessError for a server that is handed a socket from elsewhere */
function ownOptions(args: readonly unknown[], options: ConnectOptions): Record<string, unknown> {
  for (const key of ["_handle", "handle", "fd"])
    if (key === "fd" ? isDescriptor(options[key]) : Boolean(options[key]))
      throw refusedError(
        "listening at a socket from elsewhere is refused to guarded code: name a port or a path",
        bare({ syscall: "listen" }),
      );
  const own: Record<string, unknown> = bare({});
  for (let index = 0; index < KEPT.length; index++) {
    const key = KEPT[index] as string;
    const value = options[key];
    if (value !== undefined) put(own, key, value);
  }
  // WHY: (port, backlog) and (port, host, backlog).
  for (let index = 1; index < 3; index++)
    if (typeof args[index] === "number" && own["backlog"] === undefined) put(own, "backlog", args[index]);
  return own;
}
