/**
 * A `CallerContext` as the keeper holds it: a frozen copy, changed only by making another copy. Trusts the host for the
 * values and nobody for the objects they come in. Must never fill in what the host left out.
 */
import type { CallerContext, CallerFrame } from "@sallyport/contract";
import { bare, freeze, hasOwn, ownKeys, put } from "./captured.ts";
import { frozenCopy } from "./frozen-copy.ts";

/** As many as a subject chain may have on the wire. */
const FRAMES_MAX = 64;

/** What the host says of a call beside its frames. */
export type HostFacts = Omit<CallerContext, "frames">;

/** A table, so that a new field of the context does not compile until it is carried. */
const FIELDS = freeze(
  bare<Record<keyof HostFacts, true>>({
    user: true,
    organizationId: true,
    sessionKey: true,
    taskId: true,
    interactive: true,
    mode: true,
    modeExpiresAtMs: true,
    observe: true,
    confined: true,
    sandboxProfile: true,
    credential: true,
  }),
);
const FIELD_NAMES = freeze(ownKeys(FIELDS)) as readonly (keyof HostFacts)[];

export function copyCaller(caller: CallerContext): CallerContext {
  const copy = bare({});
  for (let index = 0; index < FIELD_NAMES.length; index++) {
    const field = FIELD_NAMES[index] as keyof HostFacts;
    put(copy, field, frozenCopy(own(caller, field), field));
  }
  const frames = frozenCopy(own(caller, "frames"), "frames");
  requireRoom(frames.length);
  put(copy, "frames", frames);
  return freeze(copy) as CallerContext;
}

export function withFacts(caller: CallerContext, facts: Partial<HostFacts>): CallerContext {
  const names = ownKeys(facts);
  const copy = shallow(caller);
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as keyof HostFacts;
    if (!hasOwn(FIELDS, name)) {
      throw new TypeError(`\`${toName(name)}\` is no fact of the host: frames are entered, facts are given`);
    }
    put(copy, name, frozenCopy(facts[name], name));
  }
  return freeze(copy);
}

export function withFrame(caller: CallerContext, frame: CallerFrame): CallerContext {
  requireRoom(caller.frames.length + 1);
  return withFrames(caller, appended(caller.frames, frozenCopy(frame, "frame")));
}

/** The active frame with one more contract, for a single call. The active subject stays. */
export function withContract(caller: CallerContext, contract: string): CallerContext {
  const last = caller.frames.length - 1;
  if (last < 0) throw new TypeError("no subject is active: enter a frame first");
  const active = caller.frames[last] as CallerFrame;
  const wider = shallow(active);
  put(wider, "contracts", appended(active.contracts, frozenCopy(contract, "contract")));
  const frames: CallerFrame[] = [];
  for (let index = 0; index < last; index++) put(frames, index, caller.frames[index]);
  put(frames, last, freeze(wider));
  return withFrames(caller, freeze(frames));
}

function withFrames(caller: CallerContext, frames: readonly CallerFrame[]): CallerContext {
  const copy = shallow(caller);
  put(copy, "frames", frames);
  return freeze(copy);
}

function own<K extends keyof CallerContext>(caller: CallerContext, field: K): CallerContext[K] {
  if (hasOwn(caller, field)) return caller[field];
  throw new TypeError(`\`${field}\` is missing in the context: give every field of it, \`null\` for nothing`);
}

/** INVARIANT: what was frozen before is shared, never changed. */
function shallow<T extends object>(value: T): T {
  const copy = bare({}) as T;
  const keys = ownKeys(value);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as keyof T;
    put(copy, key, value[key]);
  }
  return copy;
}

function appended<T>(list: readonly T[], entry: T): readonly T[] {
  const copy: T[] = [];
  for (let index = 0; index < list.length; index++) put(copy, index, list[index]);
  put(copy, list.length, entry);
  return freeze(copy);
}

function requireRoom(length: number): void {
  if (length <= FRAMES_MAX) return;
  throw new RangeError(
    `the subject chain would have \`${length}\` frames: at most ${FRAMES_MAX} may be nested, so end the recursion`,
  );
}

function toName(key: PropertyKey): string {
  return typeof key === "symbol" ? "symbol" : `${key}`;
}
