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
import { requireOwnNames } from "./system-names.ts";
import { requireWholePath } from "./unix-path.ts";

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
  "blockList",
  "keepAlive",
  "keepAliveInitialDelay",
  "localAddress",
  "localPort",
  "noDelay",
  "onread",
  "timeout",
  "pauseOnConnect",
]);

export interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

/** A host by name or by address. */
export interface HostEndpoint {
  readonly kind: "name" | "address";
  readonly host: Host;
  readonly port: number;
  readonly requested: string;
}

export interface UnixEndpoint {
  readonly kind: "unix";
  readonly path: string;
  readonly requested: string;
}

export type Endpoint = UnixEndpoint | HostEndpoint;

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
  const kind = isIpLiteral(parsed) ? ("address" as const) : ("name" as const);
  return freeze(bare({ kind, host: parsed, port: number, requested }));
}

/** Names that resolved to an address a moment ago; none for a name. */
export function namesOf(host: Host): readonly Host[] | undefined {
  return isIpLiteral(host) ? names.namesFor(host, now()) : undefined;
}

/** Whether an address has these names now. */
export function hasNames(address: Host, known: readonly string[]): boolean {
  // WHY first: that an address has no names is known without a clock.
  if (known.length === 0 && !names.isNamed(address)) return true;
  const found = names.namesFor(address, now());
  if (found.length !== known.length) return false;
  for (let index = 0; index < found.length; index++) if (found[index] !== known[index]) return false;
  return true;
}

/** Network connect to an endpoint. */
export function endpointPart(endpoint: Endpoint, address: Host | undefined): AccessPart {
  if (endpoint.kind === "unix") return connectPart(`unix:${endpoint.path}`, `unix:${endpoint.requested}`);
  const { host, port, requested } = endpoint;
  return connectPart(`${host}:${port}`, requested, bare({ address, aliases: namesOf(host) }));
}

function unixEndpoint(written: unknown): Endpoint {
  const place = placeOf(written, "follow", "connect");
  if (!isPlace(place))
    throw invalidError(
      "a unix socket needs a path: abstract names cannot be checked",
      bare({ syscall: "connect" }),
    );
  requireWholePath(place.path, place.requested, "connect");
  return freeze(bare({ kind: "unix" as const, path: place.path, requested: place.requested }));
}

export function portOf(port: unknown): number | undefined {
  const number = typeof port === "string" && port !== "" ? +port : port;
  return typeof number === "number" && (number | 0) === number && number > 0 && number <= PORT_MAX
    ? number
    : undefined;
}

/** As sockets take it: without brackets. */
export function addressOf(host: Host): Address {
  const isSix = charCodeAt(host, 0) === 0x5b;
  return freeze(
    bare({
      address: isSix ? slice(host, 1, host.length - 1) : host,
      family: isSix ? (6 as const) : (4 as const),
    }),
  );
}

/** Resolves a name by the system's resolver. */
export function resolveName(
  host: Host,
  family: unknown,
  done: (error: unknown, addresses: readonly Host[]) => void,
): void {
  const options = bare({
    all: true as const,
    family: family === 4 || family === 6 ? family : 0,
    verbatim: true,
  });
  try {
    requireOwnNames(host);
  } catch (error) {
    done(error, []);
    return;
  }
  lookup(host, options, (error, found) => {
    const hosts: Host[] = [];
    const count = error === null ? found.length : 0;
    for (let index = 0; index < count && index < ADDRESSES_MAX; index++) {
      const parsed = parseHost((found[index] as Address).address, capturedUrl);
      if (parsed !== undefined && isIpLiteral(parsed)) append(hosts, parsed);
    }
    if (error === null) names.record(host, hosts, now());
    done(error, hosts);
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
