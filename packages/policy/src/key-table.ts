/**
 * Open addressing over columns. A key is (owner, tag, port, text), kept and compared as four fields; entries with
 * the same key form a list. A look-up takes a bounded number of steps whatever the number of entries, and one entry
 * comes or goes without a rebuild.
 *
 * INVARIANT: a hash only places an entry. Every hit is confirmed by comparing all four fields.
 */
import { type HashKey, type HashSeed, hashEntry, hashKey, hashText } from "./seeded-hash.ts";

/** Longest run of occupied slots before the table takes another hash key. */
const RUN_MAX = 96;

const FIELDS = 4;
const OWNER = 0;
const TAG = 1;
const PORT = 2;
/** Next entry under the same key, or of the free list; -1 ends it. */
const NEXT = 3;

/** The part of an entry's text that is hashed, which a probe hashes too. */
export type HashedPart = (tag: number, text: string) => string;

export class KeyTable {
  /** Slots looked at since the table was made: what tests bound instead of time. */
  steps = 0;
  readonly #seed: HashSeed;
  readonly #hashedPart: HashedPart;
  #round = 0;
  #key: HashKey;
  /** Keys in the table, and slots that are not empty: keys and graves. */
  #keys = 0;
  #used = 0;
  /** Pairs of hash and entry number plus one; 0 is empty, -1 is a grave. */
  #slots = new Int32Array(32);
  #mask = 15;
  #entries = 0;
  #free = -1;
  /** Four numbers an entry, side by side so that one is read with the others; see the offsets above. */
  #fields = new Int32Array(8 * FIELDS);
  /** Text and value of each entry, side by side for the same reason. */
  readonly #refs: unknown[] = [];

  constructor(seed: HashSeed, hashedPart: HashedPart) {
    this.#seed = seed;
    this.#hashedPart = hashedPart;
    this.#key = hashKey(seed, 0);
  }

  /** Slots and entries that there is room for: what tests bound instead of memory. */
  get room(): { readonly slots: number; readonly entries: number } {
    return { slots: this.#mask + 1, entries: this.#entries };
  }

  /** The key that texts are hashed with; it changes when the table takes another one. */
  get hashKey(): HashKey {
    return this.#key;
  }

  insert(owner: number, tag: number, port: number, text: string, value: unknown): void {
    const entry = this.#take();
    this.#fields[entry * FIELDS + OWNER] = owner;
    this.#fields[entry * FIELDS + TAG] = tag;
    this.#fields[entry * FIELDS + PORT] = port;
    this.#refs[entry * 2] = text;
    this.#refs[entry * 2 + 1] = value;
    const hash = this.#hashOf(entry);
    const same = this.#slotOf(hash, owner, tag, port, text);
    if (same >= 0) {
      this.#fields[entry * FIELDS + NEXT] = (this.#slots[same * 2 + 1] as number) - 1;
      this.#slots[same * 2 + 1] = entry + 1;
      return;
    }
    this.#fields[entry * FIELDS + NEXT] = -1;
    this.#keys++;
    if ((this.#used + 1) * 2 > this.#mask + 1) this.#refill(this.#keys * 4);
    if (this.#place(hash, entry) > RUN_MAX) this.#takeAnotherKey();
  }

  /** Removes one entry with this key and value; says whether there was one. */
  remove(owner: number, tag: number, port: number, text: string, value: unknown): boolean {
    const hash = hashEntry(hashText(this.#hashedPart(tag, text), this.#key), owner, tag, port, this.#key);
    const slot = this.#slotOf(hash, owner, tag, port, text);
    if (slot < 0) return false;
    let before = -1;
    for (let entry = (this.#slots[slot * 2 + 1] as number) - 1; entry >= 0; entry = this.#nextOf(entry)) {
      if (this.#refs[entry * 2 + 1] === value) {
        this.#unlink(slot, before, entry);
        return true;
      }
      before = entry;
    }
    return false;
  }

  /**
   * The first value under a key that `accept` takes. The key's text is `text` from `start` to `end`, `textHash`
   * the hash of its hashed part: nothing is copied.
   */
  find(
    owner: number,
    tag: number,
    port: number,
    textHash: number,
    text: string,
    start: number,
    end: number,
    accept: ((value: never) => boolean) | undefined,
  ): unknown {
    const slots = this.#slots;
    const mask = this.#mask;
    const hash = hashEntry(textHash, owner, tag, port, this.#key);
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      this.steps++;
      const mark = slots[slot * 2 + 1] as number;
      if (mark === 0) return undefined;
      if (mark < 0 || slots[slot * 2] !== hash) continue;
      let entry = mark - 1;
      if (!this.#hasNumbers(entry, owner, tag, port)) continue;
      const own = this.#textOf(entry);
      if (own.length !== end - start || text.indexOf(own, start) !== start) continue;
      for (; entry >= 0; entry = this.#nextOf(entry)) {
        const value = this.#refs[entry * 2 + 1];
        if (accept === undefined || accept(value as never)) return value;
      }
      return undefined;
    }
  }

  #textOf(entry: number): string {
    return this.#refs[entry * 2] as string;
  }

  #nextOf(entry: number): number {
    return this.#fields[entry * FIELDS + NEXT] as number;
  }

  #hasNumbers(entry: number, owner: number, tag: number, port: number): boolean {
    const fields = this.#fields;
    const at = entry * FIELDS;
    return fields[at + OWNER] === owner && fields[at + TAG] === tag && fields[at + PORT] === port;
  }

  #hashOf(entry: number): number {
    const at = entry * FIELDS;
    const owner = this.#fields[at + OWNER] as number;
    const tag = this.#fields[at + TAG] as number;
    const port = this.#fields[at + PORT] as number;
    return hashEntry(
      hashText(this.#hashedPart(tag, this.#textOf(entry)), this.#key),
      owner,
      tag,
      port,
      this.#key,
    );
  }

  #slotOf(hash: number, owner: number, tag: number, port: number, text: string): number {
    for (let slot = hash & this.#mask; ; slot = (slot + 1) & this.#mask) {
      this.steps++;
      const mark = this.#slots[slot * 2 + 1] as number;
      if (mark === 0) return -1;
      if (mark < 0 || this.#slots[slot * 2] !== hash) continue;
      const entry = mark - 1;
      if (this.#hasNumbers(entry, owner, tag, port) && this.#textOf(entry) === text) return slot;
    }
  }

  /** Takes the next empty slot and says how many were passed over. */
  #place(hash: number, entry: number): number {
    let run = 0;
    let slot = hash & this.#mask;
    while (this.#slots[slot * 2 + 1] !== 0) {
      slot = (slot + 1) & this.#mask;
      run++;
    }
    this.#slots[slot * 2] = hash;
    this.#slots[slot * 2 + 1] = entry + 1;
    this.#used++;
    return run;
  }

  #unlink(slot: number, before: number, entry: number): void {
    const next = this.#nextOf(entry);
    if (before >= 0) this.#fields[before * FIELDS + NEXT] = next;
    else this.#slots[slot * 2 + 1] = next >= 0 ? next + 1 : -1;
    if (before < 0 && next < 0) this.#keys--;
    this.#refs[entry * 2] = "";
    this.#refs[entry * 2 + 1] = undefined;
    this.#fields[entry * FIELDS + NEXT] = this.#free;
    this.#free = entry;
  }

  /** WHY: so long a run means that somebody knows the key, or the worst of luck; either way another one ends it. */
  #takeAnotherKey(): void {
    this.#round++;
    this.#key = hashKey(this.#seed, this.#round);
    const old = this.#slots;
    for (let slot = 0; slot < old.length; slot += 2) {
      const mark = old[slot + 1] as number;
      if (mark > 0) old[slot] = this.#hashOf(mark - 1);
    }
    this.#refill((this.#mask + 1) * 2);
  }

  /** Puts every key into new slots, and leaves the graves behind. */
  #refill(wanted: number): void {
    const old = this.#slots;
    let capacity = 16;
    while (capacity < wanted) capacity *= 2;
    this.#slots = new Int32Array(capacity * 2);
    this.#mask = capacity - 1;
    this.#used = 0;
    for (let slot = 0; slot < old.length; slot += 2) {
      const mark = old[slot + 1] as number;
      if (mark > 0) this.#place(old[slot] as number, mark - 1);
    }
  }

  #take(): number {
    if (this.#free >= 0) {
      const entry = this.#free;
      this.#free = this.#nextOf(entry);
      return entry;
    }
    if (this.#entries * FIELDS === this.#fields.length) {
      const grown = new Int32Array(Math.ceil(this.#entries * 1.5) * FIELDS);
      grown.set(this.#fields);
      this.#fields = grown;
    }
    return this.#entries++;
  }
}
