/**
 * A path argument as text, read once. What this returns is handed on to Node in place of the argument, so that an object
 * which changes between check and use changes nothing. Safe beside replaced built-ins.
 */
import { types } from "node:util";
import {
  beginsWith,
  charCodeAt,
  decodeComponent,
  fromCharCode,
  holds,
  indexOfCode,
  isWellFormed,
  slice,
} from "./captured.ts";

const { apply, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
const { isUint8Array } = types;
const byteLength = getOwnPropertyDescriptor(getPrototypeOf(Uint8Array.prototype) as object, "length")
  ?.get as () => number;
const hrefOf = getOwnPropertyDescriptor(URL.prototype, "href")?.get as () => string;

const SLASH = 0x2f;
const FILE = "file://";

/** `undefined` for what is no path: NUL, invalid UTF-8, other URLs, hosts, encoded slashes, objects that only look alike. */
export function pathText(input: unknown): string | undefined {
  if (typeof input === "string") return isCleanText(input) ? input : undefined;
  if (typeof input !== "object" || input === null) return undefined;
  const text = isUint8Array(input) ? decodeUtf8(input) : fileUrlPath(input);
  return text !== undefined && isCleanText(text) ? text : undefined;
}

/** Not empty, no NUL, no half of a surrogate pair (Node would write another name). */
function isCleanText(text: string): boolean {
  return text.length > 0 && !holds(text, "\0") && isWellFormed(text);
}

/** The path of a genuine URL object; query and fragment do not count, as in Node. */
function fileUrlPath(input: object): string | undefined {
  let href: unknown;
  try {
    // WHY: the getter reads a private field, so it throws for everything that is no URL, look-alikes included.
    href = apply(hrefOf, input, []);
  } catch {
    return undefined;
  }
  if (typeof href !== "string" || !beginsWith(href, FILE) || charCodeAt(href, FILE.length) !== SLASH)
    return undefined;
  let end = indexOfCode(href, 0x3f, 0);
  const fragment = indexOfCode(href, 0x23, 0);
  if (end < 0 || (fragment >= 0 && fragment < end)) end = fragment;
  const encoded = slice(href, FILE.length, end < 0 ? href.length : end);
  if (hasEncodedSlash(encoded)) return undefined;
  try {
    return decodeComponent(encoded);
  } catch {
    return undefined;
  }
}

function hasEncodedSlash(encoded: string): boolean {
  for (let index = 0; index + 2 < encoded.length; index++) {
    if (charCodeAt(encoded, index) !== 0x25 || charCodeAt(encoded, index + 1) !== 0x32) continue;
    const last = charCodeAt(encoded, index + 2);
    if (last === 0x46 || last === 0x66) return true;
  }
  return false;
}

/** Strict UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF. Each byte is read once. */
function decodeUtf8(bytes: Uint8Array): string | undefined {
  const length = apply(byteLength, bytes, []);
  let text = "";
  for (let index = 0; index < length;) {
    const first = bytes[index++] ?? 0x80;
    if (first < 0x80) {
      text += fromCharCode(first);
      continue;
    }
    const more =
      first >= 0xc2 && first < 0xe0
        ? 1
        : first >= 0xe0 && first < 0xf0
          ? 2
          : first >= 0xf0 && first < 0xf5
            ? 3
            : 0;
    if (more === 0 || index + more > length) return undefined;
    let code = first & (0x3f >> more);
    for (let step = 0; step < more; step++) {
      const next = bytes[index++] ?? 0;
      if ((next & 0xc0) !== 0x80) return undefined;
      code = (code << 6) | (next & 0x3f);
    }
    const least = more === 1 ? 0x80 : more === 2 ? 0x800 : 0x10000;
    if (code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return undefined;
    if (code < 0x10000) text += fromCharCode(code);
    else
      text +=
        fromCharCode(0xd800 + ((code - 0x10000) >> 10)) + fromCharCode(0xdc00 + ((code - 0x10000) & 0x3ff));
  }
  return text;
}
