/**
 * A scan of JSON text for what `JSON.parse` does not tell: repeated keys, depth, and where the text is no JSON.
 * Linear in the length of the text, without recursion. Accepts exactly what `JSON.parse` accepts, within its bounds.
 */
import { JSON_DEPTH_MAX } from "../wire/json-value.ts";
import type { PointerPath } from "../wire/json-pointer.ts";

export const JSON_KEY_LENGTH_MAX = 256;
const DUPLICATES_MAX = 1000;

export type JsonScan =
  /** `duplicates`: where a key stands for the second time or more, a bounded number of them. */
  | { readonly ok: true; readonly duplicates: readonly PointerPath[] }
  | {
      readonly ok: false;
      readonly reason: "syntax" | "depth" | "key_length";
      readonly line: number;
      readonly column: number;
    };

interface Frame {
  /** The keys so far; `undefined` in an array. */
  readonly keys: Set<string> | undefined;
  step: string | number;
}

type Expected = "value" | "first_value" | "key" | "first_key" | "next";

interface Scan {
  readonly text: string;
  readonly frames: Frame[];
  readonly duplicates: PointerPath[];
  at: number;
  expected: Expected;
}

export function scanJson(text: string): JsonScan {
  const scan: Scan = { text, frames: [], duplicates: [], at: 0, expected: "value" };
  skipSpace(scan);
  while (scan.expected !== "next" || scan.frames.length > 0) {
    const problem = STEPS[scan.expected](scan);
    if (problem !== undefined) return { ok: false, reason: problem, ...placeOf(scan) };
    skipSpace(scan);
  }
  if (scan.at < text.length) return { ok: false, reason: "syntax", ...placeOf(scan) };
  return { ok: true, duplicates: scan.duplicates };
}

type Problem = "syntax" | "depth" | "key_length" | undefined;

const STEPS: Readonly<Record<Expected, (scan: Scan) => Problem>> = {
  first_value: (scan) => (closes(scan, "]") ? undefined : readValue(scan)),
  value: readValue,
  first_key: (scan) => (closes(scan, "}") ? undefined : readKey(scan)),
  key: readKey,
  next: readNext,
};

function readValue(scan: Scan): Problem {
  const { text, at } = scan;
  const first = text[at];
  if (first === "{" || first === "[") {
    if (scan.frames.length >= JSON_DEPTH_MAX) return "depth";
    scan.frames.push(first === "{" ? { keys: new Set(), step: "" } : { keys: undefined, step: 0 });
    scan.at++;
    scan.expected = first === "{" ? "first_key" : "first_value";
    return undefined;
  }
  const end = first === '"' ? stringEnd(text, at) : literalEnd(text, at);
  if (end < 0) return "syntax";
  scan.at = end;
  scan.expected = "next";
  return undefined;
}

function readKey(scan: Scan): Problem {
  const { text, at } = scan;
  const end = text[at] === '"' ? stringEnd(text, at) : -1;
  if (end < 0) return "syntax";
  const key = JSON.parse(text.slice(at, end)) as string;
  if (key.length > JSON_KEY_LENGTH_MAX) return "key_length";
  const frame = scan.frames.at(-1);
  if (frame?.keys === undefined) return "syntax";
  frame.step = key;
  if (frame.keys.has(key) && scan.duplicates.length < DUPLICATES_MAX) {
    scan.duplicates.push(scan.frames.map(({ step }) => step));
  }
  frame.keys.add(key);
  scan.at = end;
  skipSpace(scan);
  if (text[scan.at] !== ":") return "syntax";
  scan.at++;
  scan.expected = "value";
  return undefined;
}

function readNext(scan: Scan): Problem {
  const frame = scan.frames.at(-1);
  if (frame === undefined) return "syntax";
  if (closes(scan, frame.keys === undefined ? "]" : "}")) return undefined;
  if (scan.text[scan.at] !== ",") return "syntax";
  scan.at++;
  if (typeof frame.step === "number") frame.step++;
  scan.expected = frame.keys === undefined ? "value" : "key";
  return undefined;
}

function closes(scan: Scan, bracket: "]" | "}"): boolean {
  if (scan.text[scan.at] !== bracket) return false;
  scan.frames.pop();
  scan.at++;
  scan.expected = "next";
  return true;
}

function skipSpace(scan: Scan): void {
  const { text } = scan;
  for (;;) {
    const code = text.charCodeAt(scan.at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
    scan.at++;
  }
}

/** Behind the closing quote, or -1. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at + 1;
    if (code < 0x20) return -1;
    if (code !== 0x5c) continue;
    at++;
    const escape = text[at];
    if (escape === "u") {
      if (!/^[0-9a-fA-F]{4}$/.test(text.slice(at + 1, at + 5))) return -1;
      at += 4;
    } else if (escape === undefined || !'"\\/bfnrt'.includes(escape)) return -1;
  }
  return -1;
}

/** Behind a number, `true`, `false` or `null`, or -1. */
function literalEnd(text: string, start: number): number {
  const literal = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y;
  literal.lastIndex = start;
  return literal.test(text) ? literal.lastIndex : -1;
}

function placeOf(scan: Scan): { readonly line: number; readonly column: number } {
  const before = scan.text.slice(0, scan.at);
  const lineStart = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: scan.at - lineStart + 1 };
}
