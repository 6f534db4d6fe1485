/**
 * Names that were resolved in this process a short while ago, by address: what lets a rule for a name hold for a
 * connection to its address. Bounded, and safe beside replaced built-ins.
 * Must be told only what a resolver answered, never what guarded code claims.
 */
import { type Host, type UrlParser, isIpLiteral, parseHost } from "@sallyport/contract";
import { SafeMap, charCodeAt } from "./captured.ts";

const { defineProperty } = Reflect;

export const NAME_LIFE_MS = 60_000;
const NAMES_MAX = 4096;
const ADDRESSES_MAX = 64;
export const LOOKUPS_MAX = 8;

interface Resolved {
  readonly addresses: SafeMap<Host, true>;
  readonly untilMs: number;
}

export class NameCache {
  readonly #byName = new SafeMap<Host, Resolved>();
  readonly #namesOf = new SafeMap<Host, SafeMap<Host, true>>();

  get size(): number {
    return this.#byName.size;
  }

  /** Takes a resolver's answer in place of the last one for that name. Addresses beyond the bound are left out. */
  record(name: Host, addresses: readonly Host[], nowMs: number): void {
    if (isAddress(name)) return;
    this.#forget(name);
    const kept = new SafeMap<Host, true>();
    for (let index = 0; index < addresses.length && kept.size < ADDRESSES_MAX; index++) {
      const address = addresses[index] as Host;
      if (isAddress(address)) kept.set(address, true);
    }
    if (kept.size === 0) return;
    if (this.#byName.size >= NAMES_MAX) this.#forget(this.#byName.oldest());
    this.#byName.set(name, { addresses: kept, untilMs: nowMs + NAME_LIFE_MS });
    kept.each((_, address) => {
      let names = this.#namesOf.get(address);
      if (names === undefined) this.#namesOf.set(address, (names = new SafeMap()));
      names.set(name, true);
    });
  }

  /** Whether any name resolved to an address, however long ago. */
  isNamed(address: Host): boolean {
    return this.#namesOf.get(address) !== undefined;
  }

  /** The names that resolved to an address within the last minute, oldest answer first. */
  namesFor(address: Host, nowMs: number): readonly Host[] {
    const found: Host[] = [];
    this.#namesOf.get(address)?.each((_, name) => {
      const resolved = this.#byName.get(name);
      // WHY: a clock that was set back must not make an old answer young again.
      if (resolved === undefined || nowMs >= resolved.untilMs || nowMs < resolved.untilMs - NAME_LIFE_MS)
        return;
      append(found, name);
    });
    return found;
  }

  #forget(name: Host): void {
    const resolved = this.#byName.get(name);
    if (resolved === undefined) return;
    this.#byName.delete(name);
    resolved.addresses.each((_, address) => {
      const names = this.#namesOf.get(address);
      names?.delete(name);
      if (names?.size === 0) this.#namesOf.delete(address);
    });
  }
}

/** WHY: not `push`, which asks setters that foreign code can put on `Array.prototype`. */
function append(list: Host[], host: Host): void {
  const property = { __proto__: null, value: host, enumerable: true, configurable: true, writable: true };
  defineProperty(list, list.length, property as PropertyDescriptor);
}

/** WHY: not the contract's parser, which uses built-ins. A canonical host whose last label is a number is an address. */
function isAddress(host: Host): boolean {
  if (charCodeAt(host, 0) === 0x5b) return true;
  for (let index = host.length - 1; index >= 0; index--) {
    const code = charCodeAt(host, index);
    if (code === 0x2e) return index < host.length - 1;
    if (code < 0x30 || code > 0x39) return false;
  }
  return false;
}

/** Addresses of a name, as a resolver writes them. */
export type Resolver = (name: Host) => Promise<readonly string[]>;

export interface ResolvedName {
  readonly name: Host;
  readonly addresses: readonly Host[];
}

/** Looks up at most `limit` names at once. A name whose look-up fails is not in the answer; nothing is thrown. */
export async function resolveNames(
  names: readonly Host[],
  resolver: Resolver,
  options: { readonly limit?: number; readonly parseUrl: UrlParser },
): Promise<readonly ResolvedName[]> {
  const asked = [...new Set(names)]
    .filter((name) => !isIpLiteral(name))
    .slice(0, options.limit ?? LOOKUPS_MAX);
  const answers = await Promise.all(asked.map((name) => lookUp(name, resolver, options.parseUrl)));
  return answers.filter((answer) => answer !== undefined);
}

async function lookUp(
  name: Host,
  resolver: Resolver,
  parseUrl: UrlParser,
): Promise<ResolvedName | undefined> {
  try {
    const answer = await resolver(name);
    const addresses = answer.slice(0, ADDRESSES_MAX).flatMap((text) => parseAddress(text, parseUrl) ?? []);
    return addresses.length === 0 ? undefined : { name, addresses };
  } catch {
    return undefined;
  }
}

function parseAddress(text: unknown, parseUrl: UrlParser): Host | undefined {
  const host = typeof text === "string" ? parseHost(text, parseUrl) : undefined;
  return host !== undefined && isIpLiteral(host) ? host : undefined;
}
