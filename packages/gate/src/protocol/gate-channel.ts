/**
 * One end of the gate over a socket: frames in and out, their order, and the bounds in time and memory. Trusts the
 * socket to be the one that was made at spawn; nothing that comes over it.
 * INVARIANT: the first fault ends the connection, and no message is handed on after it.
 */
import type { Duplex } from "node:stream";
import { FRAME_MS } from "./bounds.ts";
import { FrameDecoder, encodeFrame } from "./frame.ts";
import { GateFault } from "./gate-fault.ts";
import { type ChildMessage, type MessageReader, MessageWriter, type ServiceMessage } from "./message.ts";

/** Runs something later; what comes back calls it off. */
export interface GateTimers {
  after(delayMs: number, run: () => void): () => void;
}

export const systemTimers: GateTimers = Object.freeze({
  after: (delayMs: number, run: () => void) => {
    const timer = setTimeout(run, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
});

type Message = ChildMessage | ServiceMessage;

export interface ChannelOptions<In extends Message> {
  readonly socket: Duplex;
  readonly reader: MessageReader<In>;
  readonly inboundBytesMax: number;
  readonly outboundBytesMax: number;
  /** What may wait to be read by the other side. */
  readonly unreadBytesMax: number;
  readonly timers: GateTimers;
  /** How many messages somebody else has sent before; none unless said. */
  readonly written?: number | undefined;
  readonly onMessage: (message: In) => void;
  /** Once. `peer`: the other side has ended it and says nothing more. */
  readonly onClosed: (fault: GateFault, by: "self" | "peer") => void;
  /** After this side closed it with a farewell: the other side has ended it too. */
  readonly onGone?: (() => void) | undefined;
}

export class GateChannel<In extends Message, Out extends Message> {
  readonly #options: ChannelOptions<In>;
  readonly #decoder: FrameDecoder;
  readonly #writer: MessageWriter;
  #frames: Generator<string, void, undefined> | null = null;
  #isPaused = false;
  #isClosed = false;
  #stopFrameTimer: (() => void) | null = null;

  constructor(options: ChannelOptions<In>) {
    this.#options = options;
    this.#writer = new MessageWriter(options.written);
    this.#decoder = new FrameDecoder(options.inboundBytesMax);
    const { socket } = options;
    socket.on("data", (chunk: Uint8Array) => {
      this.#frames = this.#decoder.push(chunk);
      this.#take();
    });
    socket.once("end", () => this.#end(new GateFault("closed"), "peer"));
    socket.once("close", () => this.#end(new GateFault("closed"), "peer"));
    socket.on("error", () => this.#end(new GateFault("closed"), "peer"));
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  send(message: Out): void {
    if (this.#isClosed) return;
    const { socket, outboundBytesMax, unreadBytesMax } = this.#options;
    let frame: Uint8Array;
    try {
      frame = encodeFrame(this.#writer.write(message), outboundBytesMax);
    } catch {
      this.close(new GateFault("unsendable"));
      return;
    }
    // INVARIANT: holds this much and one frame at most.
    if (socket.writableLength > unreadBytesMax) {
      this.close(new GateFault("slow_reader"));
      return;
    }
    socket.write(frame);
  }

  /** Resolves when everything that was sent is on its way, or the connection is over. */
  drained(): Promise<void> {
    const { socket } = this.#options;
    if (this.#isClosed || !socket.writableNeedDrain) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        socket.off("drain", done);
        socket.off("close", done);
        resolve();
      };
      socket.on("drain", done);
      socket.on("close", done);
    });
  }

  /** Stops in front of the next message, wherever in a chunk it is. */
  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#options.socket.pause();
    this.#watchFrame();
  }

  resume(): void {
    if (!this.#isPaused || this.#isClosed) return;
    this.#isPaused = false;
    this.#take();
    if (!this.#isPaused && !this.#isClosed) this.#options.socket.resume();
  }

  close(fault: GateFault, farewell?: Out): void {
    if (this.#isClosed) return;
    const { socket, outboundBytesMax } = this.#options;
    // WHY: a few bytes and only where nothing waits, since the other side may never read them.
    if (farewell !== undefined && socket.writableLength === 0)
      socket.end(encodeFrame(this.#writer.write(farewell), outboundBytesMax));
    this.#end(fault, "self");
  }

  #take(): void {
    try {
      while (!this.#isPaused && !this.#isClosed && this.#frames !== null) {
        const next = this.#frames.next();
        if (next.done === true) {
          this.#frames = null;
          break;
        }
        this.#stopWatch();
        this.#options.onMessage(this.#options.reader.read(next.value));
      }
    } catch (error) {
      this.close(asFault(error));
      return;
    }
    this.#watchFrame();
  }

  /** INVARIANT: counted from the first byte of a frame; more bytes of the same frame give no more time. */
  #watchFrame(): void {
    const isWaiting = this.#decoder.isInside && !this.#isPaused && !this.#isClosed;
    if (!isWaiting) this.#stopWatch();
    else
      this.#stopFrameTimer ??= this.#options.timers.after(FRAME_MS, () =>
        this.close(new GateFault("slow_frame")),
      );
  }

  #stopWatch(): void {
    this.#stopFrameTimer?.();
    this.#stopFrameTimer = null;
  }

  #end(fault: GateFault, by: "self" | "peer"): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#frames = null;
    this.#stopWatch();
    const { socket, onClosed, onGone } = this.#options;
    // WHY: what comes now is thrown away; a socket that is ended is not destroyed before its last bytes have left.
    socket.removeAllListeners("data");
    if (by === "self" && socket.writableEnded) {
      if (onGone !== undefined) socket.once("end", onGone);
      socket.resume();
    } else {
      socket.destroy();
    }
    onClosed(fault, by);
  }
}

function asFault(error: unknown): GateFault {
  return error instanceof GateFault ? error : new GateFault("malformed_frame");
}
