/**
 * The body of a call: JSON only, bounded, valid UTF-8, read once. Trusts no header: the bytes are counted as they come.
 */
import { malformed, Problem } from "./problem.ts";

/** A resume context of 16 KiB as escaped text, three targets, and room. */
export const BODY_BYTES_MAX = 262_144;

export async function readBody(request: Request, bytesMax: number = BODY_BYTES_MAX): Promise<Uint8Array> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/json(?:\s*;\s*charset=utf-8)?$/i.test(type))
    throw malformed("the body must be `application/json`", 415);
  if (request.headers.get("content-encoding") !== null)
    throw malformed("the body must not be compressed: leave `content-encoding` out", 415);
  const declared = Number(request.headers.get("content-length") ?? 0);
  if (declared > bytesMax) throw tooLarge(bytesMax);
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = request.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      throw malformed("the body did not arrive in full: send it again", 408);
    });
    if (done) return Buffer.concat(chunks);
    length += value.byteLength;
    if (length > bytesMax) {
      await reader.cancel().catch(() => undefined);
      throw tooLarge(bytesMax);
    }
    chunks.push(value);
  }
}

const tooLarge = (bytesMax: number): Problem => malformed(`the body is larger than ${bytesMax} bytes`, 413);

/** By a wire type of the contract; every fault is pointed at. */
export function parseBody<Value>(body: Uint8Array, wire: BodyWire<Value>): Value {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body));
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
