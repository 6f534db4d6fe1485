/**
 * A message port as a stream of bytes, for the gate of a worker thread. One chunk is under way at a time, so that what
 * waits is bounded by what the other side has taken.
 */
import { Duplex } from "node:stream";
import type { MessagePort } from "node:worker_threads";

const TAKEN = 0;
const END = 1;

export class PortDuplex extends Duplex {
  readonly #port: MessagePort;
  #sent: (() => void) | undefined;
  #isOwed = false;

  constructor(port: MessagePort) {
    super();
    this.#port = port;
    port.on("message", (message: unknown) => this.#hear(message));
    port.once("close", () => this.destroy());
  }

  ref(): void {
    this.#port.ref();
  }

  unref(): void {
    this.#port.unref();
  }

  override _read(): void {
    if (!this.#isOwed) return;
    this.#isOwed = false;
    this.#port.postMessage(TAKEN);
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: () => void): void {
    this.#sent = done;
    this.#port.postMessage(Uint8Array.from(chunk));
  }

  override _final(done: () => void): void {
    this.#port.postMessage(END);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#port.close();
    done(error);
  }

  #hear(message: unknown): void {
    if (message === TAKEN) {
      const sent = this.#sent;
      this.#sent = undefined;
      sent?.();
    } else if (message === END) {
      this.push(null);
    } else if (message instanceof Uint8Array && !this.#isOwed) {
      this.#isOwed = true;
      if (this.push(message)) this._read();
    } else {
      this.destroy(new Error("the other side of the gate sent what is no chunk"));
    }
  }
}
