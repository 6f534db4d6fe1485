/**
 * Watches what a program sends on a websocket (RFC 6455) and says when data frames come. Bytes pass unchanged; only the
 * heads are read. What is no frame ends the connection.
 */
export type FrameFound = "control" | "data" | "broken";

const DATA_OPCODE_MAX = 0x2;
const CONTROL_OPCODES: readonly number[] = [0x8, 0x9, 0xa];
const MASKED = 0x80;

export class FrameWatch {
  /** Of the head that is being read. */
  #head: number[] = [];
  /** Bytes of the payload that are still to come. */
  #left = 0n;

  /** The worst of what these bytes begin. */
  take(bytes: Buffer): FrameFound {
    let found: FrameFound = "control";
    let at = 0;
    while (at < bytes.length) {
      if (this.#left > 0n) {
        const step = this.#left < BigInt(bytes.length - at) ? Number(this.#left) : bytes.length - at;
        this.#left -= BigInt(step);
        at += step;
        continue;
      }
      this.#head.push(bytes[at++] as number);
      const kind = this.#readHead();
      if (kind === "broken") return "broken";
      if (kind === "data") found = "data";
    }
    return found;
  }

  #readHead(): FrameFound | undefined {
    const [first = 0, second = 0] = this.#head;
    const opcode = first & 0x0f;
    const isControl = CONTROL_OPCODES.includes(opcode);
    if (!isControl && opcode > DATA_OPCODE_MAX) return "broken";
    // INVARIANT: a data frame is told by its first byte, before anything of it is passed on.
    if (this.#head.length < 2) return isControl ? undefined : "data";
    const short = second & 0x7f;
    if ((second & MASKED) === 0 || (isControl && short > 125)) return "broken";
    const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
    if (this.#head.length < 2 + lengthBytes + 4) return undefined;
    const long = this.#head.slice(2, 2 + lengthBytes).reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
    this.#left = lengthBytes === 0 ? BigInt(short) : long;
    this.#head = [];
    return undefined;
  }
}
