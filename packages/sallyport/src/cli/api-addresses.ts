/**
 * The addresses at which the API of an owner can be reached. The service denies them to every subject, and the server
 * takes connections at no others: an address that nobody denied leads nowhere.
 * Trusts the machine for its interfaces, as they are when the owner starts.
 */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";

const UNSPECIFIED: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);
const LOOPBACK = ["127.0.0.1", "::1"] as const;

/** Addresses as the kernel writes them, without a zone; the local host is always among them. */
export async function apiAddresses(host: string): Promise<ReadonlySet<string>> {
  const bound = isIP(host) === 0 ? (await lookup(host, { all: true })).map(({ address }) => address) : [host];
  const own = bound.some((address) => UNSPECIFIED.has(address))
    ? Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address))
    : [];
  return new Set([...LOOPBACK, ...bound, ...own].map(plainAddress));
}

/** As hosts of the targets that lead to the API, beside the local host. */
export function apiHosts(addresses: ReadonlySet<string>): readonly string[] {
  const beyond = [...addresses].filter((address) => !(LOOPBACK as readonly string[]).includes(address));
  return beyond.map((address) => (address.includes(":") ? `[${address}]` : address));
}

/** WHY: a socket of both families tells an address of the older one as `::ffff:10.0.0.5`. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "").replace(/%.*$/, "");
}
