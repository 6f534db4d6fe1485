/**
 * Memory that the main thread of a guarded process and the worker of its gate share: the lease, how many messages of
 * facts there were, and one answer at a time. Written by the worker, but for the ticket that is waited for.
 */
const { load, notify, store, wait } = Atomics;

const EXPECTED = 0;
const ANSWERED = 1;
const LENGTH = 2;
const FACTS = 3;
const HEADER_BYTES = 32;
const LEASE_BYTES = 8;
const ANSWER_BYTES_MAX = 64 * 1024;
const MICROSECONDS = 1000;

const NO_LEASE = BigInt(0);
const toBigInt = BigInt;
const toNumber = Number;
const { floor } = Math;
const Bytes = Uint8Array;

export class SharedState {
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #lease: BigInt64Array;
  readonly #answer: Uint8Array;

  constructor(
    memory: SharedArrayBuffer = new SharedArrayBuffer(HEADER_BYTES + LEASE_BYTES + ANSWER_BYTES_MAX),
  ) {
    this.memory = memory;
    this.#words = new Int32Array(memory, 0, HEADER_BYTES / 4);
    this.#lease = new BigInt64Array(memory, HEADER_BYTES, 1);
    this.#answer = new Uint8Array(memory, HEADER_BYTES + LEASE_BYTES);
  }

  get leaseEndMs(): number {
    return toNumber(load(this.#lease, 0)) / MICROSECONDS;
  }

  /** WHY: rounded down, so that it never ends later than was said. */
  set leaseEndMs(untilMs: number) {
    store(this.#lease, 0, untilMs > 0 ? toBigInt(floor(untilMs * MICROSECONDS)) : NO_LEASE);
  }

  /** Messages of facts that were posted. */
  get facts(): number {
    return load(this.#words, FACTS);
  }

  set facts(count: number) {
    store(this.#words, FACTS, count);
  }

  /** Main thread: the answer of this ticket is the one that is waited for. */
  expect(ticket: number): void {
    store(this.#words, EXPECTED, ticket);
  }

  /** Worker: false where nobody waits for it any more. */
  answer(ticket: number, text: Uint8Array): boolean {
    if (load(this.#words, EXPECTED) !== ticket) return false;
    const isFitting = text.length <= this.#answer.length;
    if (isFitting) this.#answer.set(text);
    store(this.#words, LENGTH, isFitting ? text.length : 0);
    // INVARIANT: last, so that whoever sees the ticket sees its answer.
    store(this.#words, ANSWERED, ticket);
    notify(this.#words, ANSWERED);
    return true;
  }

  /** Main thread: blocks until the answer of the ticket is there. `undefined`: it did not come in time. */
  await(ticket: number, timeoutMs: number, monotonicMs: () => number): Uint8Array | undefined {
    const endMs = monotonicMs() + timeoutMs;
    for (;;) {
      const answered = load(this.#words, ANSWERED);
      if (answered === ticket) return this.#copy(load(this.#words, LENGTH));
      const leftMs = endMs - monotonicMs();
      if (!(leftMs > 0)) return undefined;
      wait(this.#words, ANSWERED, answered, leftMs);
    }
  }

  /** WHY: constructors only, since foreign code can replace the methods of arrays. */
  #copy(length: number): Uint8Array {
    return new Bytes(new Bytes(this.memory, HEADER_BYTES + LEASE_BYTES, length));
  }
}
