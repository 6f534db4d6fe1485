/**
 * Where a socket is to go: a host and a port, or a unix socket. The options are read once; what is found here is what is
 * decided on and what is dialled. Names are resolved by the system's own resolver and by no other: who could answer for
 * a name could connect anywhere under it.
 */
import dns from "node:dns";
import { type Host, isIpLiteral, parseHost } from "@sallyport/contract";
import { NameCache, capturedUrl } from "@sallyport/gate";
import { type AccessPart, connectPart } from "../access-part.ts";
import { invalidError } from "../blocked-call.ts";
import { append, bare, charCodeAt, freeze, put, slice } from "../captured.ts";
import { isPlace, placeOf } from "../fs/place-of.ts";

const { lookup } = dns;
const { now } = Date;
const ADDRESSES_MAX = 8;
const PORT_MAX = 65_535;
const names = new NameCache();

/** Options of `Socket.connect` that say nothing about where it goes. */
const KEPT = freeze([
  "allowHalfOpen",
  "autoSelectFamily",
  "autoSelectFamilyAttemptTimeout",
  "keepAlive",
  "keepAliveInitialDelay",
  "noDelay",
  "onread",
  "timeout",
  "pauseOnConnect",
]);

export interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

export type Endpoint =
  | { readonly kind: "unix"; readonly path: string; readonly parts: readonly AccessPart[] }
  | {
      readonly kind: "address";
      readonly to: Address;
      readonly port: number;
      readonly parts: readonly AccessPart[];
    }
  | { readonly kind: "name"; readonly host: Host; readonly port: number; readonly requested: string };

export type ConnectOptions = Readonly<Record<string, unknown>>;

/** @throws ExternalAccessError where the options lead nowhere that can be told */
export function endpointOf({ path, host, port }: ConnectOptions): Endpoint {
  if (path !== undefined && path !== null) return unixEndpoint(path);
  const written = host === undefined || host === null || host === "" ? "localhost" : host;
  const number = portOf(port);
  const parsed = typeof written === "string" ? parseHost(written, capturedUrl) : undefined;
  if (parsed === undefined || number === undefined)
    throw invalidError(
      "a connection needs a host name or address and a port from 1 to 65535: hand over both",
      bare({ syscall: "connect" }),
    );
  const requested = `${written as string}:${number}`;
  if (!isIpLiteral(parsed))
    return freeze(bare({ kind: "name" as const, host: parsed, port: number, requested }));
  const aliases = names.namesFor(parsed, now());
  const part = connectPart(`${parsed}:${number}`, requested, bare({ aliases }));
  return freeze(
    bare({ kind: "address" as const, to: addressOf(parsed), port: number, parts: freeze([part]) }),
  );
}

function unixEndpoint(written: unknown): Endpoint {
  const place = placeOf(written, "follow", "connect");
  if (!isPlace(place))
    throw invalidError(
      "a unix socket needs a path: abstract names cannot be checked",
      bare({ syscall: "connect" }),
    );
  const part = connectPart(`unix:${place.path}`, `unix:${place.requested}`);
  return freeze(bare({ kind: "unix" as const, path: place.path, parts: freeze([part]) }));
}

function portOf(port: unknown): number | undefined {
  const number = typeof port === "string" && port !== "" ? +port : port;
  return typeof number === "number" && (number | 0) === number && number > 0 && number <= PORT_MAX
    ? number
    : undefined;
}

/** As sockets take it: without brackets. */
function addressOf(host: Host): Address {
  const isSix = charCodeAt(host, 0) === 0x5b;
  return freeze(
    bare({
      address: isSix ? slice(host, 1, host.length - 1) : host,
      family: isSix ? (6 as const) : (4 as const),
    }),
  );
}

export interface Resolved {
  readonly addresses: readonly Address[];
  readonly parts: readonly AccessPart[];
}

/** Resolves a name, and says what has to pass for each of its addresses. */
export function resolveName(
  { host, port, requested }: Extract<Endpoint, { readonly kind: "name" }>,
  family: unknown,
  done: (error: unknown, resolved: Resolved) => void,
): void {
  const options = bare({
    all: true as const,
    family: family === 4 || family === 6 ? family : 0,
    verbatim: true,
  });
  lookup(host, options, (error, found) => {
    const addresses: Address[] = [];
    const hosts: Host[] = [];
    const parts: AccessPart[] = [];
    const count = error === null ? found.length : 0;
    for (let index = 0; index < count && index < ADDRESSES_MAX; index++) {
      const parsed = parseHost((found[index] as Address).address, capturedUrl);
      if (parsed === undefined || !isIpLiteral(parsed)) continue;
      append(hosts, parsed);
      append(addresses, addressOf(parsed));
      append(parts, connectPart(`${host}:${port}`, requested, bare({ address: parsed })));
    }
    if (error === null) names.record(host, hosts, now());
    done(error, bare({ addresses, parts }));
  });
}

/** The options that Node gets: where it goes is said by the guard alone. */
export function ownOptions(options: ConnectOptions): Record<string, unknown> {
  const copy: Record<string, unknown> = bare({});
  for (let index = 0; index < KEPT.length; index++) {
    const key = KEPT[index] as string;
    const value = options[key];
    if (value !== undefined) put(copy, key, value);
  }
  return copy;
}
