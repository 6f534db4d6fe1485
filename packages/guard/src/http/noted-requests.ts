/**
 * Notes of requests that were asked for and have not left yet, oldest first, and bounded. What a note is for stands in
 * `request-note.ts`. Holds nothing that foreign code can reach; decides nothing.
 */
import type { Host } from "@sallyport/contract";
import type { Within } from "../within-context.ts";

const NOTES_MAX = 512;
const NOTE_LIFE_MS = 60_000;
const { now } = Date;

/** WHY neither bare nor frozen: one is made for every request, only the guard has it, and nothing of it is ever absent. */
export interface RequestNote {
  readonly host: Host;
  readonly port: number;
  readonly method: string;
  /** As it will stand in the request line. */
  readonly target: string;
  /** What it carries; `unread`: its headers say so, where somebody wants to know. */
  readonly body: "none" | "some" | "unread";
  readonly isWebsocket: boolean;
  /** The client's own object, where it has shown it. */
  readonly request: object | undefined;
  /** Since when it is known that it waits; none until another note is added behind it. */
  sinceMs: number | undefined;
  /** Runs work in the asynchronous context of whoever asked for the request. */
  readonly within: Within;
  next: RequestNote | undefined;
}

let oldest: RequestNote | undefined;
let newest: RequestNote | undefined;
let count = 0;

export function addNote(note: RequestNote): void {
  // WHY only then: a request that leaves before the next one is asked for needs no clock.
  if (oldest !== undefined) dropOld(now());
  if (newest === undefined) oldest = note;
  else newest.next = note;
  newest = note;
  count++;
}

/** WHY: a request that was given up leaves its note behind. */
function dropOld(nowMs: number): void {
  if (newest !== undefined) newest.sinceMs ??= nowMs;
  while (oldest !== undefined) {
    const ageMs = nowMs - (oldest.sinceMs ?? nowMs);
    if (count < NOTES_MAX && ageMs >= 0 && ageMs < NOTE_LIFE_MS) return;
    remove(oldest, undefined);
  }
  newest = undefined;
}

/** The oldest that fits; it is then used up. */
export function takeOldest(fits: (note: RequestNote) => boolean): RequestNote | undefined {
  let before: RequestNote | undefined;
  for (let note = oldest; note !== undefined; note = note.next) {
    if (fits(note)) {
      remove(note, before);
      return note;
    }
    before = note;
  }
  return undefined;
}

/** The request has left: its note is used up. */
export function dropNote(host: Host, port: number, target: string): void {
  let before: RequestNote | undefined;
  for (let note = oldest; note !== undefined; note = note.next) {
    if (note.host === host && note.port === port && note.target === target) {
      remove(note, before);
      return;
    }
    before = note;
  }
}

function remove(note: RequestNote, before: RequestNote | undefined): void {
  if (before === undefined) oldest = note.next;
  else before.next = note.next;
  if (newest === note) newest = before;
  // WHY: whoever keeps a note keeps no others by it.
  note.next = undefined;
  count--;
}
