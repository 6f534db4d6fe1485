/**
 * Where a path argument leads. The argument is read once, and what is found here is handed to Node in its place.
 * What is no path at all goes to Node's own validator, so that its errors stay what they are; what could be read another
 * way by Node than by the guard goes nowhere.
 */
import { types } from "node:util";
import { pathText, realPath } from "@sallyport/gate";
import type { Ending, Place } from "../access-part.ts";
import { type CallFacts, invalidError } from "../blocked-call.ts";
import {
  apply,
  bare,
  beginsWith,
  charCodeAt,
  freeze,
  getOwnPropertyDescriptor,
  workingFolder,
} from "../captured.ts";
import { impossiblePlace, isImpossible } from "./impossible-place.ts";
import { nativeFs, requireCleanText, requireCleanValues } from "./native-fs.ts";

const { lstatSync } = nativeFs;
const QUIET = freeze(bare({ throwIfNoEntry: false }));
const SLASH = 0x2f;
const MEMORY = "/mem";
const { isArray } = Array;

/** For Node's validator: this argument, which is no path and names nothing. */
export interface NotAPath {
  readonly argument: unknown;
}

/** @throws ExternalAccessError where the path leads nowhere that can be told */
export function placeOf(input: unknown, ending: Ending, syscall: string): Place | NotAPath {
  requireCleanText();
  const text = pathText(input);
  if (text === undefined) return notAPath(input, syscall);
  return walked(text, ending, bare({ syscall, path: text }));
}

export function isPlace(found: Place | NotAPath): found is Place {
  return "path" in found;
}

/** A path that the guard itself has found: real, but for its last name. */
export function placeAt(path: string): Place {
  return freeze(bare({ path, requested: path, ending: "keep" as const, exists: isThere(path) }));
}

export function isThere(path: string): boolean {
  try {
    return lstatSync(path, QUIET) !== undefined;
  } catch (error) {
    if (isImpossible(error)) return false;
    throw error;
  }
}

function leadsTo(absolute: string, ending: Ending): string | undefined {
  return realPath(absolute, ending) ?? impossiblePlace(absolute);
}

/** Whether the place is where it was when it was decided on: no name of its path has become a link. */
export function isSteady({ path, ending = "follow" }: Place): boolean {
  return leadsTo(path, ending) === path;
}

function walked(text: string, ending: Ending, facts: CallFacts): Place {
  const absolute = charCodeAt(text, 0) === SLASH ? text : `${workingFolder()}/${text}`;
  const path = leadsTo(absolute, ending);
  if (path === undefined)
    throw invalidError(
      `\`${text}\` cannot be walked: a link loops, or \`..\` follows what is no folder; hand over another path`,
      facts,
    );
  if (isMemory(path))
    throw invalidError(`\`${text}\` is the memory of a process: it is never handed out`, facts);
  return freeze(bare({ path, requested: text, ending, exists: isThere(path) }));
}

/**
 * INVARIANT: objects of the program never reach Node: their properties could be another path the next time they are read.
 * For what is no path by its kind Node gets another thing of that kind, so that it says of it what it always says.
 */
export function notAPath(input: unknown, syscall: string): NotAPath {
  requireCleanValues();
  const isValue = typeof input !== "object" || input === null;
  if (isValue && !isLostText(input)) return bare({ argument: typeof input === "function" ? noop : input });
  const standIn = isValue ? undefined : standInFor(input);
  if (standIn !== undefined) return bare({ argument: standIn });
  throw invalidError(
    "a path must be text, UTF-8 bytes or a `file:` URL without a host: hand over one of these",
    bare({ syscall }),
  );
}

/** WHY constants: Node is shown what is wrong with the URL, and nothing that it could open. */
const OTHER_SCHEME = new URL("https://example.com/");
const WITH_HOST = new URL("file://host/");
const ENCODED_SLASH = new URL("file:///%2F");
const ENCODED_NUL = new URL("file:///%00");
const hrefOf = getOwnPropertyDescriptor(URL.prototype, "href")?.get as () => string;
const { isUint8Array } = types;
const noop = freeze((): void => undefined);

/** `undefined` for bytes that are no text. */
function standInFor(input: object): unknown {
  if (isUint8Array(input)) return undefined;
  if (isArray(input)) return [];
  let href: string;
  try {
    href = apply(hrefOf, input, []);
  } catch {
    return {};
  }
  if (!beginsWith(href, "file:")) return OTHER_SCHEME;
  if (!beginsWith(href, "file:///")) return WITH_HOST;
  return hasEncodedSlash(href) ? ENCODED_SLASH : ENCODED_NUL;
}

function hasEncodedSlash(href: string): boolean {
  for (let index = 0; index + 2 < href.length; index++)
    if (
      charCodeAt(href, index) === 0x25 &&
      charCodeAt(href, index + 1) === 0x32 &&
      (charCodeAt(href, index + 2) | 0x20) === 0x66
    )
      return true;
  return false;
}

/** Text in which Node would write another character than the one that is there. */
function isLostText(input: unknown): boolean {
  if (typeof input !== "string" || input === "") return false;
  for (let index = 0; index < input.length; index++) if (charCodeAt(input, index) === 0) return false;
  return true;
}

/** `/proc/PID/mem`: whoever writes there decides for itself. */
function isMemory(path: string): boolean {
  if (!beginsWith(path, "/proc/")) return false;
  let at = path.length - MEMORY.length;
  for (let index = 0; index < MEMORY.length; index++, at++)
    if (at < 0 || charCodeAt(path, at) !== charCodeAt(MEMORY, index)) return false;
  return true;
}
