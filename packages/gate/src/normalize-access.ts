/**
 * From a raw question of a guarded process, whatever values it holds, to what can be decided on: an access or a fault,
 * the address that will be dialled, and the names behind an address. Every value is read once.
 * Trusts its ports; nothing in the question. Never throws. Runs contract code in its own realm: in a guarded process it
 * prepares a question for display and for the service; what is allowed there is parsed and decided in the private realm.
 */
import {
  type Access,
  type Fault,
  type FilesystemTarget,
  type Host,
  type NetworkTarget,
  type Parsed,
  type PathResolution,
  type RealPathPort,
  type Target,
  type UrlParser,
  accessTo,
  checkPair,
  fault,
  isIpLiteral,
  parseHost,
  parseNetworkTarget,
  parseTarget,
  resolveFilesystemTarget,
} from "@sallyport/contract";
import type { NameCache } from "./name-cache.ts";
import { pathText } from "./path-text.ts";

export interface RawQuestion {
  readonly resourceType: unknown;
  readonly operation: unknown;
  /** Text; for a network target also a URL object, for a path also bytes and `file:` URLs. */
  readonly target: unknown;
  /** The address that a name was resolved to and that will be dialled. */
  readonly address?: unknown;
  /** Whether a link that the path ends in is itself the target. Absent: as the operation means it. */
  readonly lastLink?: PathResolution["lastLink"];
}

export interface AccessPorts {
  readonly parseUrl: UrlParser;
  readonly realPath: RealPathPort;
  readonly names: Pick<NameCache, "namesFor">;
  /** Absolute folder that relative paths start from. */
  readonly cwd: string;
  readonly nowMs: number;
}

export interface NormalizedAccess {
  readonly access: Access | Fault;
  readonly address?: Host;
  readonly aliases?: readonly Host[];
}

export function normalizeAccess(raw: RawQuestion, ports: AccessPorts): NormalizedAccess {
  try {
    return normalize(raw, ports);
  } catch {
    // WHY: the question may be an object whose properties throw.
    return { access: fault("invalid_target", "target", "target could not be read: hand over text") };
  }
}

function normalize(raw: RawQuestion, ports: AccessPorts): NormalizedAccess {
  const { resourceType, operation, target, address, lastLink } = raw;
  const pairFault = checkPair(resourceType, operation);
  if (pairFault !== undefined) return { access: pairFault };
  switch (resourceType) {
    case "network":
      return networkAccess(operation as string, target, address, ports);
    case "filesystem": {
      // WHY: deleting takes the link away, everything else goes to what it leads to.
      const ending = lastLink ?? (operation === "delete" ? "keep" : "follow");
      return { access: settled(operation as string, filesystemTarget(target, ending, ports)) };
    }
    default:
      return {
        access: settled(operation as string, parseTarget("system_dependency", target, ports.parseUrl)),
      };
  }
}

function networkAccess(
  operation: string,
  target: unknown,
  address: unknown,
  ports: AccessPorts,
): NormalizedAccess {
  const parsed = throughLinks(parseNetworkTarget(urlOrText(target), ports.parseUrl), ports);
  const access = settled(operation, parsed);
  if (!parsed.ok || parsed.value.form === "unix") return { access };
  const { host } = parsed.value;
  if (isIpLiteral(host)) {
    const aliases = ports.names.namesFor(host, ports.nowMs);
    return aliases.length === 0 ? { access } : { access, aliases };
  }
  if (address === undefined) return { access };
  const dialled = typeof address === "string" ? parseHost(address, ports.parseUrl) : undefined;
  if (dialled === undefined || !isIpLiteral(dialled)) {
    return { access: fault("invalid_target", "address", "address to dial must be an IP address") };
  }
  return { access, address: dialled };
}

/** A unix socket behind a link is the socket that the link leads to. */
function throughLinks(parsed: Parsed<NetworkTarget>, ports: AccessPorts): Parsed<NetworkTarget> {
  if (!parsed.ok || parsed.value.form !== "unix") return parsed;
  const { path, requested } = parsed.value;
  const real = ports.realPath(path, "follow");
  if (real === undefined) return fault("invalid_target", "target", "unix socket path cannot be walked");
  if (real === path) return parsed;
  const followed = parseNetworkTarget(`unix:${real}`, ports.parseUrl);
  return followed.ok ? { ok: true, value: Object.freeze({ ...followed.value, requested }) } : followed;
}

function filesystemTarget(
  target: unknown,
  lastLink: PathResolution["lastLink"],
  { realPath, cwd }: AccessPorts,
): Parsed<FilesystemTarget> {
  const text = pathText(target);
  if (text === undefined) {
    return fault(
      "invalid_target",
      "target",
      "filesystem target must be a path: text, UTF-8 bytes or a `file:` URL, without NUL",
    );
  }
  return resolveFilesystemTarget(text, { realPath, cwd, lastLink });
}

const { apply, getOwnPropertyDescriptor } = Reflect;
const hrefOf = getOwnPropertyDescriptor(URL.prototype, "href")?.get as () => string;

/** The text of a genuine URL object; everything else as it is, for the parser to judge. */
function urlOrText(target: unknown): unknown {
  if (typeof target !== "object" || target === null) return target;
  try {
    return apply(hrefOf, target, []);
  } catch {
    return undefined;
  }
}

function settled(operation: string, parsed: Parsed<Target>): Access | Fault {
  if (!parsed.ok) return parsed;
  const access = accessTo(operation, parsed.value);
  return access.ok ? access.value : access;
}
