/**
 * Addresses that stand for names inside a sandbox. A name is never looked up for a program that only asks for it: it is
 * given an address of a range that nobody has, and the gateway knows by it later which name was meant.
 */
import type { Host } from "@sallyport/contract";

/** 198.18.0.0/15 is set aside for tests of networks; nothing real is there. */
const FIRST = 0xc6120000;
/** The resolver's own, and the first that is given away. */
const RESOLVER_OFFSET = 1;
const FIRST_OFFSET = 256;
const NAMES_MAX = 65_536;

export const RESOLVER_ADDRESS = addressAt(RESOLVER_OFFSET);

export class SyntheticNames {
  readonly #offsets = new Map<Host, number>();
  readonly #names: Host[] = [];

  /** `undefined`: the sandbox has asked for too many names. */
  addressOf(name: Host): string | undefined {
    let offset = this.#offsets.get(name);
    if (offset === undefined) {
      // INVARIANT: an address never comes to mean another name, so that none is reached by another's approval.
      if (this.#names.length >= NAMES_MAX) return undefined;
      offset = FIRST_OFFSET + this.#names.length;
      this.#offsets.set(name, offset);
      this.#names.push(name);
    }
    return addressAt(offset);
  }

  nameOf(address: string): Host | undefined {
    const offset = offsetOf(address);
    return offset === undefined ? undefined : this.#names[offset - FIRST_OFFSET];
  }
}

/** Whether an address is of the range, whatever it stands for. */
export function isSynthetic(address: string): boolean {
  return offsetOf(address) !== undefined;
}

function offsetOf(address: string): number | undefined {
  const parts = address.split(".").map(Number);
  if (parts.length !== 4 || !parts.every((part) => Number.isInteger(part) && part >= 0 && part < 256))
    return undefined;
  const offset = parts.reduce((sum, part) => sum * 256 + part, 0) - FIRST;
  return offset >= 0 && offset < 0x20000 ? offset : undefined;
}

function addressAt(offset: number): string {
  const value = FIRST + offset;
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join(".");
}
