/**
 * The first words of a gate, heard by the thread that decides, from the descriptor itself: it then has the facts and a
 * lease without waiting for the thread that owns the gate from there on, which takes over where this stopped.
 * Trusts the service. For the time before foreign code runs: it blocks, and uses built-ins as they are.
 * INVARIANT: reads no byte beyond the message that it hears; the next one is for whoever takes over.
 */
import { readSync, writeSync } from "node:fs";
import { FrameDecoder, encodeFrame } from "../protocol/frame.ts";
import { GateFault } from "../protocol/gate-fault.ts";
import {
  type ChildMessage,
  FRAME_BYTES_MAX,
  type FactsMessage,
  MessageWriter,
  type ServiceMessage,
  serviceMessages,
} from "../protocol/message.ts";
import { type GateTerms, type LinkStart, type ServiceHello, agreedTerms } from "./gate-terms.ts";
import { type MirrorFacts, mirrorFacts } from "./mirror-facts.ts";
import { monotonicMs } from "./monotonic.ts";
import { NOT_OPENED } from "./say-hello.ts";

const HEADER_BYTES = 4;
/** How long to wait where a descriptor has nothing yet, and says so. */
const PAUSE_MS = 1;
/** The one that `say-hello.ts` has written. */
const WRITTEN = 1;
const BEAT = 1;

/** What was heard, and what whoever takes over has to know. */
export interface Greeted {
  readonly terms: GateTerms;
  readonly facts: readonly MirrorFacts[];
  /** The end of the lease by the monotonic clock; `0`: the service does not vouch for its view yet. */
  readonly untilMs: number;
  readonly link: LinkStart;
}

export class GateGreeting {
  readonly #fd: number;
  readonly #endMs: number;
  readonly #reader = serviceMessages();
  readonly #writer = new MessageWriter(WRITTEN);
  readonly #pause = new Int32Array(new SharedArrayBuffer(4));
  readonly #facts: MirrorFacts[] = [];
  #read = 0;
  #written = WRITTEN;
  #revision = -1;
  #hello: ServiceHello | undefined;
  #sentMs = 0;

  /** @param fd where hello was said already */
  constructor(fd: number, openMs: number) {
    this.#fd = fd;
    this.#endMs = monotonicMs() + openMs;
  }

  /** Blocks until the first snapshot is there, and asks for a lease. Throws a {@link GateFault}. */
  listen(): void {
    const hello = this.#next();
    if (hello.kind !== "hello") throw new GateFault("out_of_state");
    this.#hello = hello;
    for (let isLast = false; !isLast;) {
      const message = this.#next();
      if (message.kind !== "snapshot") throw new GateFault("out_of_state");
      this.#took(message, message.revision);
      ({ isLast } = message);
    }
    this.#sentMs = monotonicMs();
    this.#send({ kind: "heartbeat", beat: BEAT });
  }

  /** Blocks until the service has answered for its view. Throws a {@link GateFault}. */
  lease(): Greeted {
    const hello = this.#hello;
    if (hello === undefined) throw new GateFault("out_of_state");
    const terms = agreedTerms(hello);
    for (;;) {
      const message = this.#next();
      if (message.kind === "heartbeat" && message.beat === BEAT) {
        const untilMs = message.live ? this.#sentMs + hello.leaseMs : 0;
        return { terms, facts: this.#facts, untilMs, link: this.#link(hello) };
      }
      if (message.kind !== "delta" || message.from !== this.#revision) throw new GateFault("out_of_state");
      this.#took(message, message.to);
    }
  }

  #link({ leaseMs, heartbeatMs }: ServiceHello): LinkStart {
    return {
      leaseMs,
      heartbeatMs,
      revision: this.#revision,
      lastBeat: BEAT,
      read: this.#read,
      written: this.#written,
    };
  }

  /** WHY confirmed before they are taken: whoever hears them takes them before anything is decided. */
  #took(message: FactsMessage, revision: number): void {
    this.#facts.push(mirrorFacts(message));
    if (!message.isLast) return;
    this.#revision = revision;
    this.#send({ kind: "confirm", revision });
  }

  #next(): ServiceMessage {
    const decoder = new FrameDecoder(FRAME_BYTES_MAX.service);
    const header = this.#bytes(HEADER_BYTES);
    const texts = [...decoder.push(header)];
    texts.push(...decoder.push(this.#bytes(header.readUInt32BE(0))));
    const message = this.#reader.read(texts[0] ?? "");
    this.#read += 1;
    if (message.kind === "close") throw new GateFault("closed", message.message);
    return message;
  }

  #send(message: ChildMessage): void {
    const frame = encodeFrame(this.#writer.write(message), FRAME_BYTES_MAX.child);
    this.#written += 1;
    for (let at = 0; at < frame.length;)
      at += this.#retried(() => writeSync(this.#fd, frame, at, frame.length - at));
  }

  #bytes(length: number): Buffer {
    const bytes = Buffer.alloc(length);
    for (let at = 0; at < length;) {
      const count = this.#retried(() => readSync(this.#fd, bytes, at, length - at, null));
      if (count === 0) throw new GateFault("closed", NOT_OPENED);
      at += count;
    }
    return bytes;
  }

  /** WHY: a descriptor that came from another guarded program does not block, and says so instead. */
  #retried(call: () => number): number {
    for (;;) {
      try {
        return call();
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw new GateFault("closed", NOT_OPENED);
      }
      if (monotonicMs() > this.#endMs) throw new GateFault("closed", NOT_OPENED);
      Atomics.wait(this.#pause, 0, 0, PAUSE_MS);
    }
  }
}
