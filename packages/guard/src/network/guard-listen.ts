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
import { apply, bare, freeze, inNextTick, put } from "../captured.ts";
import { isPlace, placeOf } from "../fs/place-of.ts";
import type { Ground } from "../ground.ts";
import { replaceExport } from "../replace-export.ts";
import { decideEndpoint } from "./decide-endpoint.ts";
import { type ConnectOptions, addressOf } from "./endpoint.ts";
import { binding } from "./native-handles.ts";

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
interface End {
  readonly address: string | null;
  readonly port: number;
}
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
        const go = (end: End): void => {
          apply(set, ends, [this, end]);
          apply(original, this, callback === null ? [own] : [own, callback]);
        };
        const fail = (error: unknown): void =>
          inNextTick(((reason: unknown) => apply(emit, this, ["error", reason])) as () => void, error);
        decide(ground, both[0], own, go, fail);
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
        return binding(() => apply(original, this, args));
      },
  );
}

function decide(
  ground: Ground,
  { path, host, port }: ConnectOptions,
  own: Record<string, unknown>,
  go: (end: End) => void,
  fail: (error: unknown) => void,
): void {
  if (path !== undefined && path !== null) {
    listenAtPath(ground, path, own, go, fail);
    return;
  }
  const number = port === undefined || port === null ? 0 : typeof port === "string" ? +port : port;
  const hasHost = host !== undefined && host !== null && host !== "";
  const parsed = typeof host === "string" && hasHost ? parseHost(host, capturedUrl) : ANYWHERE;
  if (
    typeof number !== "number" ||
    (number | 0) !== number ||
    number < 0 ||
    number > PORT_MAX ||
    parsed === undefined
  )
    throw invalidError("listening needs a port from 0 to 65535", bare({ syscall: "listen" }));
  put(own, "port", number);
  const target = number === 0 ? parsed : `${parsed}:${number}`;
  const requested = hasHost ? `${host as string}:${number}` : target;
  const part = (address: Host | undefined): AccessPart => connectPart(target, requested, bare({ address }));
  const kind = isIpLiteral(parsed) ? ("address" as const) : ("name" as const);
  const endpoint = bare({ kind, host: parsed, port: number, requested });
  const facts = bare({ syscall: "listen", path: requested });
  decideEndpoint(ground.decider, bare({ endpoint, family: 0, part, facts }), (error, addresses) => {
    if (error !== undefined && error !== null) {
      fail(error);
      return;
    }
    const address = hasHost ? addressOf(addresses[0] as Host).address : null;
    if (address !== null) put(own, "host", address);
    go(bare({ address, port: number }));
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
  const parts = [connectPart(`unix:${path}`, `unix:${requested}`), createOrModify(place)];
  put(own, "path", path);
  decider.later(parts, bare({ syscall: "listen", path: requested }), (blocked) => {
    if (blocked !== undefined) fail(blocked);
    else go(bare({ address: path, port: -1 }));
  });
}

/** @throws ExternalAccessError for a server that is handed a socket from elsewhere */
function ownOptions(args: readonly unknown[], options: ConnectOptions): Record<string, unknown> {
  for (const key of ["_handle", "handle", "fd"])
    if (options[key] !== undefined && options[key] !== null)
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
