/** The few forms of DER (X.690) that a certificate is made of. Writes only. */
export function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, ...parts);
}

export function setOf(...parts: readonly Buffer[]): Buffer {
  return tagged(0x31, ...parts);
}

export function tagged(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag]), lengthOf(body.length), body]);
}

/** A number that is not negative, from its bytes. */
export function integer(bytes: Buffer): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  const shortest = bytes.subarray(start);
  return tagged(
    0x02,
    ((shortest[0] ?? 0) & 0x80) === 0 ? shortest : Buffer.concat([Buffer.from([0]), shortest]),
  );
}

export function truth(): Buffer {
  return tagged(0x01, Buffer.from([0xff]));
}

export function octets(bytes: Buffer): Buffer {
  return tagged(0x04, bytes);
}

/** `unused`: how many of the last bits do not count. */
export function bits(bytes: Buffer, unused = 0): Buffer {
  return tagged(0x03, Buffer.from([unused]), bytes);
}

export function utf8(text: string): Buffer {
  return tagged(0x0c, Buffer.from(text, "utf8"));
}

/** Such as `2.5.29.17`. */
export function identifier(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** To the second; with two digits of the year until 2049, as the standard wants it. */
export function time(date: Date): Buffer {
  const text = `${date.toISOString().replace(/[-:T]/g, "").slice(0, 14)}Z`;
  return date.getUTCFullYear() < 2050
    ? tagged(0x17, Buffer.from(text.slice(2), "latin1"))
    : tagged(0x18, Buffer.from(text, "latin1"));
}

function base128(value: number): readonly number[] {
  const groups = [value & 0x7f];
  for (let left = value >>> 7; left > 0; left >>>= 7) groups.unshift((left & 0x7f) | 0x80);
  return groups;
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const bytes: number[] = [];
  for (let left = length; left > 0; left >>>= 8) bytes.unshift(left & 0xff);
  return Buffer.from([0x80 | bytes.length, ...bytes]);
}
