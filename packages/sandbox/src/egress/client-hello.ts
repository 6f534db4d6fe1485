/**
 * Reads the first bytes of a connection as the ClientHello of TLS (RFC 8446), for the name it says and for names that
 * it hides. Reads hostile bytes; what is malformed is `broken`, never a hello without a name.
 */
export type ClientHello =
  /** More bytes are needed. */
  | { readonly kind: "short" }
  | { readonly kind: "other" }
  | { readonly kind: "broken" }
  | { readonly kind: "hello"; readonly serverName: string | undefined; readonly hidesName: boolean };

const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const RECORD_MAX = 16_384;
const HELLO_MAX = 65_536;
const SERVER_NAME = 0;
/** encrypted_client_hello */
const HIDDEN_HELLO = 0xfe0d;

const SHORT: ClientHello = { kind: "short" };
const BROKEN: ClientHello = { kind: "broken" };

export function readClientHello(bytes: Buffer): ClientHello {
  if (bytes.length > 0 && bytes[0] !== HANDSHAKE) return { kind: "other" };
  if (bytes.length > 1 && bytes[1] !== 3) return { kind: "other" };
  const hello = handshake(bytes);
  if (hello === undefined) return SHORT;
  return hello === "broken" ? BROKEN : readHello(hello);
}

/** The message out of its records. */
function handshake(bytes: Buffer): Buffer | "broken" | undefined {
  const parts: Buffer[] = [];
  let [at, size] = [0, 0];
  for (;;) {
    if (at + 5 > bytes.length) return undefined;
    const length = bytes.readUInt16BE(at + 3);
    if (bytes[at] !== HANDSHAKE || length === 0 || length > RECORD_MAX) return "broken";
    parts.push(bytes.subarray(at + 5, at + 5 + length));
    size += Math.min(length, bytes.length - at - 5);
    at += 5 + length;
    if (size < 4) continue;
    const whole = Buffer.concat(parts);
    const wanted = whole.readUIntBE(1, 3);
    if (whole[0] !== CLIENT_HELLO || wanted > HELLO_MAX) return "broken";
    if (whole.length >= 4 + wanted) return whole.subarray(4, 4 + wanted);
    if (at > bytes.length) return undefined;
  }
}

function readHello(hello: Buffer): ClientHello {
  const reader = new Reader(hello);
  reader.skip(2 + 32);
  reader.skip(reader.number(1));
  reader.skip(reader.number(2));
  reader.skip(reader.number(1));
  if (reader.isAtEnd) return { kind: "hello", serverName: undefined, hidesName: false };
  const extensions = reader.part(reader.number(2));
  if (!reader.isAtEnd) return BROKEN;
  let serverName: string | undefined;
  let hidesName = false;
  const seen = new Set<number>();
  while (!extensions.isAtEnd) {
    const kind = extensions.number(2);
    const body = extensions.part(extensions.number(2));
    if (extensions.isBroken || seen.has(kind)) return BROKEN;
    seen.add(kind);
    if (kind === HIDDEN_HELLO) hidesName = true;
    if (kind !== SERVER_NAME) continue;
    serverName = oneName(body);
    if (serverName === undefined) return BROKEN;
  }
  return reader.isBroken || extensions.isBroken ? BROKEN : { kind: "hello", serverName, hidesName };
}

/** Exactly one name, of the only kind there is. */
function oneName(body: Reader): string | undefined {
  const list = body.part(body.number(2));
  const kind = list.number(1);
  const name = list.text(list.number(2));
  const isWhole = list.isAtEnd && body.isAtEnd && !list.isBroken && !body.isBroken;
  return isWhole && kind === 0 && name !== "" ? name : undefined;
}

/** Reads past the end are remembered and give nothing. */
class Reader {
  readonly #bytes: Buffer;
  #at = 0;
  isBroken = false;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.isBroken || this.#at === this.#bytes.length;
  }

  number(size: number): number {
    const bytes = this.#take(size);
    return bytes.length === 0 ? 0 : bytes.readUIntBE(0, size);
  }

  skip(size: number): void {
    this.#take(size);
  }

  part(size: number): Reader {
    const part = new Reader(this.#take(size));
    part.isBroken = this.isBroken;
    return part;
  }

  text(size: number): string {
    return this.#take(size).toString("latin1");
  }

  #take(size: number): Buffer {
    if (this.#at + size > this.#bytes.length) {
      this.isBroken = true;
      return Buffer.alloc(0);
    }
    this.#at += size;
    return this.#bytes.subarray(this.#at - size, this.#at);
  }
}
