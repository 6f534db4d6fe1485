/**
 * Fields as bytes for hashes, signatures and associated data: every field has a kind and a length, a record begins
 * with its domain, so that no two different records have the same bytes and no delimiter can be smuggled in.
 * INVARIANT: `21`, `"21"`, `null` and a list of one are four different fields.
 */

export type Field = string | number | Uint8Array | null | readonly Field[];

const KIND = { none: 0, text: 1, brokenText: 2, integer: 3, bytes: 4, list: 5 } as const;
const HEAD_BYTES = 5;
const START_BYTES = 4096;

/** Bytes of one record. The domain says what the record is for and in which version. */
export function framed(domain: string, fields: readonly Field[]): Buffer {
  const writer = new FieldWriter();
  writer.begin(domain);
  for (const field of fields) writer.field(field);
  return writer.bytes();
}

/** Writes records one after the other into one piece of memory. */
export class FieldWriter {
  #buffer = Buffer.allocUnsafeSlow(START_BYTES);
  #end = 0;

  /** Forgets the record before. */
  begin(domain: string): void {
    this.#end = 0;
    this.text(domain);
  }

  /** What was written since `begin`; valid until the next one. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#end);
  }

  field(field: Field): void {
    if (field === null) this.#head(KIND.none, 0);
    else if (typeof field === "string") this.text(field);
    else if (typeof field === "number") this.integer(field);
    else if (field instanceof Uint8Array) this.#blob(field);
    else {
      this.#head(KIND.list, field.length);
      for (const member of field) this.field(member);
    }
  }

  text(text: string): void {
    // WHY: UTF-8 gives every lone surrogate the same bytes, and two texts would be one.
    const isWellFormed = (text as string & { isWellFormed(): boolean }).isWellFormed();
    const start = this.#head(isWellFormed ? KIND.text : KIND.brokenText, 0);
    this.#reserve(text.length * 3);
    const length = this.#buffer.write(text, start, isWellFormed ? "utf8" : "utf16le");
    this.#buffer.writeUInt32BE(length, start - 4);
    this.#end = start + length;
  }

  integer(value: number): void {
    if (!Number.isSafeInteger(value)) {
      throw new RangeError(`\`${value}\` is not a safe integer: give it as text`);
    }
    const start = this.#head(KIND.integer, 8);
    this.#reserve(8);
    this.#buffer.writeInt32BE(Math.floor(value / 2 ** 32), start);
    this.#buffer.writeUInt32BE(value >>> 0, start + 4);
    this.#end = start + 8;
  }

  #blob(bytes: Uint8Array): void {
    const start = this.#head(KIND.bytes, bytes.length);
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, start);
    this.#end = start + bytes.length;
  }

  /** Where the content begins. */
  #head(kind: number, length: number): number {
    this.#reserve(HEAD_BYTES);
    this.#buffer[this.#end] = kind;
    this.#buffer.writeUInt32BE(length, this.#end + 1);
    this.#end += HEAD_BYTES;
    return this.#end;
  }

  #reserve(length: number): void {
    const needed = this.#end + length;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    larger.set(this.#buffer.subarray(0, this.#end));
    this.#buffer = larger;
  }
}
