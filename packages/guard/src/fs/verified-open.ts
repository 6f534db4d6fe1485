/**
 * Opens a file and then looks where the descriptor really leads, so that a link which was put there between the check
 * and the open wins nothing. A file is emptied only after that.
 * Trusts `/proc/self/fd`, which the kernel writes. INVARIANT: a descriptor that leads elsewhere is closed unread.
 */
import { constants } from "node:fs";
import type { Place } from "../access-part.ts";
import { type CallFacts, invalidError } from "../blocked-call.ts";
import { bare, errorCode, freeze } from "../captured.ts";
import type { Ground } from "../ground.ts";
import { asWritten } from "./as-written.ts";
import { declaredPath, isVerified, openDeclared } from "./declared-place.ts";
import { descriptorPath } from "./held-places.ts";
import { nativeFs, requireCleanText } from "./native-fs.ts";
import { reopened } from "./numbers-in-use.ts";
import { type Opening, endingOf, openingOf } from "./open-flags.ts";
import { canPin, pinName } from "./pinned-place.ts";
import { placeOf } from "./place-of.ts";

const { open, openSync, closeSync, ftruncateSync } = nativeFs;
const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;
const ATTEMPTS_MAX = 16;
const noop = freeze((): void => undefined);

export interface OpenCall {
  readonly input: string;
  readonly bits: number;
  readonly mode: number;
  readonly facts: CallFacts;
}

/** How something is opened: as a descriptor, or as a handle. */
export interface Opener<T> {
  open(path: string, bits: number, mode: number, opened: (error: unknown, value: T) => void): void;
  fdOf(value: T): number;
  drop(value: T): void;
}

export const descriptorOpener: Opener<number> = freeze<Opener<number>>(
  bare({
    open: (path, bits, mode, opened) => open(path, bits, mode, opened),
    fdOf: (fd) => fd,
    // WHY at once: for one of Node's threads it would be a number, which may be another file's by then.
    drop: (fd) => closeSync(fd),
  }),
);

export function openNow(ground: Ground, { input, bits, mode, facts }: OpenCall): number {
  const known = bits === O_RDONLY ? openDeclared(ground, input) : undefined;
  if (known !== undefined) return known;
  const { decider } = ground;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const place = placeOf(input, endingOf(bits), facts.syscall) as Place;
    const opening = openingOf(bits, place);
    decider.now(opening.parts, facts);
    requireCleanText();
    let fd: number;
    try {
      fd = openSync(place.path, opening.bits, mode);
    } catch (error) {
      if (opening.isMoved(errorCode(error))) continue;
      throw asWritten(error, place.path, input);
    }
    let isSteady = false;
    try {
      isSteady = isSettled(fd, place.path, opening.empties);
    } finally {
      if (!isSteady) closeSync(fd);
    }
    if (isSteady) return reopened(fd);
  }
  throw unsteady(facts);
}

/** INVARIANT: called back once, after the descriptor was verified or with an error that is not `null`. */
export function openLater<T>(
  ground: Ground,
  call: OpenCall,
  opener: Opener<T>,
  opened: (error: unknown, value: T) => void,
): void {
  const { input, bits, mode, facts } = call;
  const fail = (error: unknown): void => opened(error ?? unsteady(facts), undefined as T);
  const attempt = (left: number): void => {
    if (left === 0) throw unsteady(facts);
    const place = placeOf(input, endingOf(bits), facts.syscall) as Place;
    const opening = openingOf(bits, place);
    ground.decider.later(opening.parts, facts, (blocked) => {
      if (blocked !== undefined) {
        fail(blocked);
        return;
      }
      requireCleanText();
      const way = wayTo(ground, place.path, opening);
      opener.open(way.path, way.bits, mode, (error, value) => {
        way.release();
        let isSteady = false;
        try {
          if (error !== null && error !== undefined) {
            if (!opening.isMoved(errorCode(error))) throw asWritten(error, way.path, input);
          } else {
            isSteady = dropUnless(opener, value, way.leadsTo, opening.empties);
          }
          if (!isSteady) attempt(left - 1);
        } catch (fault) {
          fail(fault);
          return;
        }
        if (!isSteady) return;
        reopened(opener.fdOf(value));
        opened(null, value);
      });
    });
  };
  const path = bits === O_RDONLY ? declaredPath(ground, input) : undefined;
  if (path === undefined) attempt(ATTEMPTS_MAX);
  else
    openDeclaredLater(ground, opener, path, input, mode, opened, () => {
      try {
        attempt(ATTEMPTS_MAX);
      } catch (fault) {
        fail(fault);
      }
    });
}

interface Way {
  readonly path: string;
  readonly bits: number;
  /** What the descriptor must be called; nothing is called by the empty text. */
  readonly leadsTo: string;
  readonly release: () => void;
}

/**
 * INVARIANT: one of Node's threads makes no file anywhere but in the folder that was decided on: what it has made elsewhere
 * would be there however soon it is closed. Where that folder cannot be pinned nothing is made, and the error says why.
 */
function wayTo({ isConfined }: Ground, path: string, { bits, isNew }: Opening): Way {
  if (!isNew || isConfined || !canPin) return bare({ path, bits, leadsTo: path, release: noop });
  const pin = pinName(path);
  if (pin !== undefined) return bare({ path: pin.path, bits, leadsTo: path, release: pin.release });
  return bare({ path, bits: bits & ~(O_CREAT | O_EXCL), leadsTo: "", release: noop });
}

/** The short way; see `declared-place.ts`. Calls `longWay` where something is in doubt. */
function openDeclaredLater<T>(
  ground: Ground,
  opener: Opener<T>,
  path: string,
  input: string,
  mode: number,
  opened: (error: unknown, value: T) => void,
  longWay: () => void,
): void {
  opener.open(path, ground.isConfined ? O_RDONLY : O_NOFOLLOW, mode, (error, value) => {
    if (error !== null && error !== undefined) {
      longWay();
      return;
    }
    if (!isVerified(ground, opener.fdOf(value), path)) {
      opener.drop(value);
      longWay();
      return;
    }
    ground.decider.noteDeclared("read", path, input);
    reopened(opener.fdOf(value));
    opened(null, value);
  });
}

function dropUnless<T>(opener: Opener<T>, value: T, path: string, empties: boolean): boolean {
  let isSteady = false;
  try {
    isSteady = isSettled(opener.fdOf(value), path, empties);
  } finally {
    if (!isSteady) opener.drop(value);
  }
  return isSteady;
}

/** False where the descriptor leads elsewhere. */
function isSettled(fd: number, path: string, empties: boolean): boolean {
  if (descriptorPath(fd) !== path) return false;
  if (empties) empty(fd);
  return true;
}

/** WHY: opened again by its own name, since a descriptor that was opened for reading cannot be emptied itself. */
function empty(fd: number): void {
  try {
    const writing = openSync(`/proc/self/fd/${fd}`, O_WRONLY);
    try {
      ftruncateSync(writing, 0);
    } finally {
      closeSync(writing);
    }
  } catch (error) {
    if (!isNoFile(errorCode(error))) throw error;
  }
}

/** A device or a pipe cannot be emptied, and Node does not mind. */
function isNoFile(code: string | undefined): boolean {
  return code === "EINVAL" || code === "ENXIO";
}

function unsteady({ syscall, path }: CallFacts): Error {
  return invalidError(
    `\`${path}\` changed again and again while it was opened: see what else writes there`,
    bare({ syscall, path }),
  );
}
