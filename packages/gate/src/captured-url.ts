/**
 * The WHATWG parser of Node, captured when this file is first imported and not reachable by what runs later.
 * Trusts only Node's native parser. Must be imported before foreign code; never throws, never calls foreign code.
 */
/* oxlint-disable typescript/unbound-method -- built-ins are taken as they are and called through Reflect.apply */
import type { UrlParser } from "@sallyport/contract";
import { charCodeAt, slice } from "./captured.ts";

const { apply } = Reflect;
const encode = encodeURIComponent;
const { exec } = RegExp.prototype;
const NON_ASCII = /[^\u0000-\u007f]/;
const NodeUrl = URL;
const { canParse } = URL;
const href = Reflect.getOwnPropertyDescriptor(URL.prototype, "href");
const setHref = href?.set;
const getHref = href?.get;

/**
 * WHY: one object for all texts. On Node 24 the constructor writes to a record that inherits from `Object.prototype`, so
 * an accessor put there sees and changes every href; the record of an object made earlier owns its fields already.
 */
const scratch = new NodeUrl("http://localhost/");

export const capturedUrl: UrlParser = (text) => {
  try {
    if (setHref === undefined || getHref === undefined || typeof text !== "string") return undefined;
    const ascii = apply(exec, NON_ASCII, [text]) === null ? text : toAscii(text);
    // WHY: asked first, since the error of a refused text runs setters of `Object.prototype` and can end the process.
    if (!apply(canParse, NodeUrl, [ascii])) return undefined;
    apply(setHref, scratch, [ascii]);
    const parsed: unknown = apply(getHref, scratch, []);
    return typeof parsed === "string" ? parsed : undefined;
  } catch {
    return undefined;
  }
};

/**
 * The same URL with every other character as its UTF-8 escape; the standard reads both alike.
 * WHY: on Node 20 and 22 `canParse`, once optimized, takes the bytes of a Latin-1 text for UTF-8 and answers wrongly.
 */
function toAscii(text: string): string {
  let ascii = "";
  for (let index = 0; index < text.length; index++) {
    const code = charCodeAt(text, index);
    if (code < 0x80) {
      ascii += slice(text, index, index + 1);
      continue;
    }
    const next = index + 1 < text.length ? charCodeAt(text, index + 1) : 0;
    const isPair = code >= 0xd800 && code < 0xdc00 && next >= 0xdc00 && next < 0xe000;
    // WHY: half a pair is U+FFFD to the standard.
    if (!isPair && code >= 0xd800 && code < 0xe000) ascii += "%EF%BF%BD";
    else ascii += encode(isPair ? slice(text, index, ++index + 1) : slice(text, index, index + 1));
  }
  return ascii;
}
