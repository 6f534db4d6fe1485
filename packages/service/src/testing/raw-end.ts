/** One end of the gate that says whatever a test makes it say, frame by frame. */
import { once } from "node:events";
import type { Duplex } from "node:stream";
import { gateBounds as bounds } from "@sallyport/gate";

export interface Heard {
  readonly kind: string;
  readonly [field: string]: unknown;
}

export class RawEnd {
  readonly socket: Duplex;
  readonly heard: Heard[] = [];
  #received = Buffer.alloc(0);
  #n = 0;

  constructor(socket: Duplex) {
    this.socket = socket;
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
  }

  bytes(bytes: Uint8Array): void {
    this.socket.write(bytes);
  }

  /** A whole frame, with the next number unless the fields say otherwise. */
  say(fields: object): void {
    this.bytes(frameOf({ n: ++this.#n, ...fields }));
  }

  hello(): void {
    this.say({ kind: "hello", protocol: bounds.PROTOCOL_VERSION });
  }

  /** As a child: hello, every part of the snapshot, its confirmation, the first heartbeat. */
  async greet(): Promise<readonly Heard[]> {
    this.hello();
    const parts: Heard[] = [];
    do parts.push(await this.next("snapshot"));
    while (parts.at(-1)?.["is_last"] !== true);
    this.confirms(parts.at(-1) as Heard);
    this.beats(1);
    await this.next("heartbeat");
    return parts;
  }

  /** Confirms a snapshot or a delta. */
  confirms({ revision, to = revision }: Heard): void {
    this.say({ kind: "confirm", revision: to });
  }

  beats(beat: number): void {
    this.say({ kind: "heartbeat", beat });
  }

  /** The first message of this kind that was not asked for yet. */
  async next(kind: string): Promise<Heard> {
    for (;;) {
      const index = this.heard.findIndex((message) => message.kind === kind);
      if (index >= 0) return this.heard.splice(index, 1)[0] as Heard;
      await this.#more(kind);
    }
  }

  async #more(kind: string): Promise<void> {
    if (this.socket.destroyed) throw new Error(`the other side closed before \`${kind}\` came`);
    const waiting = new AbortController();
    const { signal } = waiting;
    await Promise.race([once(this.socket, "data", { signal }), once(this.socket, "close", { signal })]);
    waiting.abort();
  }

  #take(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    while (this.#received.length >= 4) {
      const end = 4 + this.#received.readUInt32BE(0);
      if (this.#received.length < end) return;
      this.heard.push(JSON.parse(this.#received.toString("utf8", 4, end)) as Heard);
      this.#received = this.#received.subarray(end);
    }
  }
}

export function frameOf(value: unknown): Buffer {
  const body = Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
  const header = Buffer.alloc(4);
  header.writeUInt32BE(body.length);
  return Buffer.concat([header, body]);
}
