/**
 * Credential-like values hidden wherever a target is shown, logged, audited or sent. A value becomes `***` and a short
 * keyed hash: equal values stay equal to look at, and nobody without the key can try values out.
 * Never throws, is idempotent, and walks its text a bounded number of times. Changes what is shown, never what is
 * compared: decisions are made on the unmasked target.
 */
import { createHmac } from "node:crypto";
import type { ResourceType } from "@sallyport/contract";
import { decoded, isCredentialName, isCredentialWord } from "./credential-name.ts";
import { isKnownToken, isRandomText, pemStart } from "./credential-shape.ts";

/** Secret; the same on every node whose masked values shall be comparable. */
export type MaskingKey = Uint8Array;

const HASH_LENGTH = 10;
const MASKED = /^(?:\*\*\*[0-9a-f]{10})+$/;
/** What targets may be long; masked ones are no longer. */
const ADDRESS_LENGTH_MAX = 8192;
const PATH_LENGTH_MAX = 16_384;
const DECODING_ROUNDS_MAX = 3;

export interface MaskTally {
  /** Characters that were looked at. */
  characters: number;
  /** Values that were hidden. */
  values: number;
}

/** A target in normalized or requested form. Text of an unknown resource type is treated like a message. */
export function maskTarget(
  resourceType: ResourceType | (string & {}),
  target: string,
  key: MaskingKey,
  tally?: MaskTally,
): string {
  const mask = new Mask(key, tally);
  if (resourceType === "filesystem") return mask.path(target);
  return resourceType === "network" ? mask.address(target) : mask.message(target);
}

/** A target as it was written: that of a program is what would be started, with its arguments. */
export function maskRequested(
  resourceType: ResourceType | (string & {}),
  operation: string,
  requested: string,
  key: MaskingKey,
): string {
  return operation === "execute" ? maskMessage(requested, key) : maskTarget(resourceType, requested, key);
}

/** Words for a person or a log, in which targets and tokens may stand. */
export function maskMessage(text: string, key: MaskingKey, tally?: MaskTally): string {
  return new Mask(key, tally).message(text);
}

type Suspicion = (value: string) => boolean;
const trusting: Suspicion = () => false;

class Mask {
  readonly #key: MaskingKey;
  readonly #tally: MaskTally;

  constructor(key: MaskingKey, tally: MaskTally = { characters: 0, values: 0 }) {
    this.#key = key;
    this.#tally = tally;
  }

  /** A path holds names that look random without being secret: only `name=value` is looked at. */
  path(path: string): string {
    const shown = this.#segments(path, trusting);
    return shown.length <= PATH_LENGTH_MAX ? shown : `/${this.#hidden(path.slice(1))}`;
  }

  /** A URL, `host:port` or `unix:/path`, well formed or not. */
  address(text: string): string {
    if (text.startsWith("unix:")) return `unix:${this.path(text.slice("unix:".length))}`;
    const authorityStart = SCHEME.exec(text)?.[0].length ?? 0;
    const pathStart = endOf(text, authorityStart, "/?#\\");
    const queryStart = endOf(text, pathStart, "?#");
    const authority = this.#authority(text.slice(authorityStart, pathStart));
    const origin = `${text.slice(0, authorityStart)}${authority}`;
    const path = this.#segments(text.slice(pathStart, queryStart), this.#isSecret);
    const query = this.#query(text.slice(queryStart));
    const shown = `${origin}${path}${query}`;
    if (shown.length <= ADDRESS_LENGTH_MAX) return shown;
    // WHY: many short values grow when they are hidden, and a target has a greatest length.
    return `${origin}${text.slice(pathStart, pathStart + 1)}${this.#hidden(text.slice(pathStart + 1))}`;
  }

  message(text: string): string {
    const end = startOfPemWord(text);
    const shown: string[] = [];
    let start = 0;
    let before = "";
    for (let index = 0; index <= end; index++) {
      if (index < end && !isGap(text.charCodeAt(index))) continue;
      const word = text.slice(start, index);
      const isValue = announcesSecret(before) && !isAnnouncement(word);
      shown.push(
        isValue ? this.#hidden(word) : this.#word(word),
        text.slice(index, Math.min(index + 1, end)),
      );
      // WHY: in `"password": "x"` the name, the colon and the value are three words.
      if (word !== "") before = isSign(word) ? before + word : word;
      start = index + 1;
    }
    shown.push(this.#hidden(text.slice(end)));
    return shown.join("");
  }

  /** INVARIANT: each part of a word is judged by itself, so that what is hidden in one changes no other. */
  #word(word: string): string {
    this.#count(word);
    if (/^[a-z][a-z0-9+.-]*:\/\//i.test(word)) return this.address(word);
    return this.#list(word, (part) => {
      const at = part.includes("=") ? -1 : part.indexOf(":");
      const isNamed = at > 0 && isCredentialWord(part.slice(0, at));
      if (isNamed) return part.slice(0, at + 1) + this.#hidden(part.slice(at + 1));
      return this.#pair(part, this.#holdsSecret);
    });
  }

  /** INVARIANT: a host is never hidden, whatever it looks like: an approver decides by it. */
  #authority(authority: string): string {
    const at = authority.lastIndexOf("@");
    if (at >= 0) return this.#hidden(authority.slice(0, at)) + authority.slice(at);
    return this.#each(authority, "&", (part) => this.#pair(part, trusting));
  }

  #segments(path: string, isSecret: Suspicion): string {
    return this.#each(path, "/", (segment) => this.#each(segment, ";", (part) => this.#pair(part, isSecret)));
  }

  /** With the `?` or `#` in front; a fragment may follow, and is read alike. */
  #query(query: string): string {
    return this.#list(query, (part) => this.#pair(part, this.#isSecret));
  }

  #list(text: string, shown: (part: string) => string): string {
    return this.#each(text, "#", (section) =>
      this.#each(section, "?", (list) => this.#each(list, "&", (pairs) => this.#each(pairs, ";", shown))),
    );
  }

  /** `name=value`, or a value alone. */
  #pair(part: string, isSecret: Suspicion): string {
    this.#count(part);
    const at = part.indexOf("=");
    if (at < 0) return isSecret(part) ? this.#hidden(part) : part;
    const name = part.slice(0, at);
    const value = part.slice(at + 1);
    const shownName = isSecret(name) ? this.#hidden(name) : name;
    return `${shownName}=${isCredentialName(name) || isSecret(value) ? this.#hidden(value) : value}`;
  }

  readonly #isSecret: Suspicion = (value) =>
    this.#holdsSecret(value) || (!MASKED.test(value) && isRandomText(this.#decoded(value)));

  /** A known token, or text that holds a credential: an address inside an address. */
  readonly #holdsSecret: Suspicion = (value) =>
    !MASKED.test(value) &&
    this.#decoded(value)
      .split(/[/?#&;\s]/)
      .some(isSecretPart);

  #decoded(value: string): string {
    let plain = value;
    for (let round = 0; round < DECODING_ROUNDS_MAX && plain.includes("%"); round++) {
      this.#count(plain);
      plain = decoded(plain);
    }
    this.#count(plain);
    return plain;
  }

  #each(text: string, separator: string, shown: (part: string) => string): string {
    this.#count(text);
    return text.includes(separator) ? text.split(separator).map(shown).join(separator) : shown(text);
  }

  #hidden(value: string): string {
    // WHY: what is hidden already stays, so that masking twice is masking once.
    if (value === "" || MASKED.test(value)) return value;
    this.#tally.values++;
    this.#count(value);
    return `***${createHmac("sha256", this.#key).update(value, "utf8").digest("hex").slice(0, HASH_LENGTH)}`;
  }

  #count(text: string): void {
    this.#tally.characters += text.length;
  }
}

const SCHEME = /^(?: *(?:https?|wss?|ftp|file):[/\\]*|[a-z][a-z0-9+.-]*:\/\/)/i;

function isSecretPart(part: string): boolean {
  const at = part.indexOf("=");
  const value = part.slice(at + 1);
  if (value === "" || MASKED.test(value)) return false;
  const colon = part.indexOf(":");
  const hasUserinfo = colon >= 0 && part.indexOf("@") > colon;
  return hasUserinfo || (at > 0 && isCredentialName(part.slice(0, at))) || isKnownToken(value);
}

/** `Bearer`, `password:`, `Authorization:` or `--password`, with the value in the next word. */
function announcesSecret(word: string): boolean {
  if (isAnnouncement(word)) return true;
  return /[:=]$|^--[a-z][^=]*$/i.test(word) && isCredentialWord(word.replace(/[:=]$/, ""));
}

function isAnnouncement(word: string): boolean {
  return /^(?:bearer|basic)$/i.test(word) || isSign(word);
}

function isSign(word: string): boolean {
  return word === ":" || word === "=";
}

/** Where the word begins in which a key in PEM form begins; the end of the text where none does. */
function startOfPemWord(text: string): number {
  let start = pemStart(text);
  if (start < 0) return text.length;
  while (start > 0 && !isGap(text.charCodeAt(start - 1))) start--;
  return start;
}

function endOf(text: string, from: number, stops: string): number {
  let index = from;
  while (index < text.length && !stops.includes(text.charAt(index))) index++;
  return index;
}

/** What stands between words: blanks, control characters, quotes, brackets, commas. */
function isGap(code: number): boolean {
  return code <= 0x20 || (code < 0x80 && "\"'`<>(){}|,".includes(String.fromCharCode(code)));
}
