/**
 * The body of a call: JSON only, bounded, valid UTF-8, read once. Trusts no header: the bytes are counted as they come.
 */
import { malformed, Problem } from "./problem.ts";

/** A resume context of 16 KiB as escaped text, three targets, and room. */
export const BODY_BYTES_MAX = 262_144;

/** What the head of a call says about its body. Throws where it is not the body of any call here. */
export function checkedBodyHead(
  headers: { get(name: string): string | null },
  bytesMax: number = BODY_BYTES_MAX,
): void {
  const type = headers.get("content-type") ?? "";
  if (type !== "application/json" && !JSON_TYPE.test(type))
    throw malformed("the body must be `application/json`", 415);
  if (headers.get("content-encoding") !== null)
    throw malformed("the body must not be compressed: leave `content-encoding` out", 415);
  const declared = Number(headers.get("content-length") ?? 0);
  if (declared > bytesMax) throw tooLarge(bytesMax);
}

const JSON_TYPE = /^application\/json(?:\s*;\s*charset=utf-8)?$/i;

/** The bytes of a body as they come. */
export class BodyBytes {
  readonly #bytesMax: number;
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** What is wrong with the body by now; `null`: nothing. */
  add(chunk: Uint8Array): Problem | null {
    this.#length += chunk.byteLength;
    if (this.#length > this.#bytesMax) return tooLarge(this.#bytesMax);
    this.#chunks.push(chunk);
    return null;
  }

  whole(): Uint8Array {
    const [first] = this.#chunks;
    return this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks);
  }
}

export async function readBody(body: Request["body"], bytesMax: number): Promise<Uint8Array> {
  if (body === null) return new Uint8Array();
  const bytes = new BodyBytes(bytesMax);
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      throw malformed("the body did not arrive in full: send it again", 408);
    });
    if (done) return bytes.whole();
    const fault = bytes.add(value);
    if (fault === null) continue;
    await reader.cancel().catch(() => undefined);
    throw fault;
  }
}

const tooLarge = (bytesMax: number): Problem => malformed(`the body is larger than ${bytesMax} bytes`, 413);

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** By a wire type of the contract; every fault is pointed at. */
export function parseBody<Value>(body: Uint8Array, wire: BodyWire<Value>): Value {
  let json: unknown;
  try {
    json = JSON.parse(UTF8.decode(body));
  } catch {
    throw malformed("the body is not JSON in UTF-8");
  }
  const parsed = wire.parse(json);
  if (parsed.ok) return parsed.value;
  throw new Problem({
    code: "invalid_request",
    detail: "the body does not have the form that this call takes: correct what `faults` points at",
    faults: parsed.faults,
  });
}

/**
 * By a wire type, for what is stored. WHY: PostgreSQL cannot keep a NUL, and text that one store keeps and another does
 * not must be refused where it comes in.
 */
export function parseStoredBody<Value>(body: Uint8Array, wire: BodyWire<Value>): Value {
  const value = parseBody(body, wire);
  if (hasNul(value)) throw malformed("the body holds a NUL character: leave it out");
  return value;
}

function hasNul(value: unknown): boolean {
  if (typeof value === "string") return value.includes("\0");
  return typeof value === "object" && value !== null && Object.values(value).some(hasNul);
}

interface BodyWire<Value> {
  readonly parse: (
    value: unknown,
  ) =>
    | { readonly ok: true; readonly value: Value }
    | { readonly ok: false; readonly faults: NonNullable<Problem["words"]["faults"]> };
}
