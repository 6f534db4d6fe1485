/**
 * What a child inherits as its streams, read once. Descriptors of the guard are handed on to nobody.
 */
import { types } from "node:util";
import { append, bare, freeze, getOwnPropertyDescriptor, ownKeys, put } from "../captured.ts";
import type { Ground } from "../ground.ts";
import { requireForeign } from "../fs/descriptor-calls.ts";
import { judgedOwner, refused } from "../network/handle-standing.ts";

const { isArrayBufferView: isView } = types;

type Entry = string | number | object | null | undefined;

const STANDARD = 3;
const SYSCALL = "spawn";

/** The list that Node gets: of every object its descriptor, or a stand-in whose handle is the one that was looked at. */
export function ownStdio(ground: Ground, given: unknown): Entry[] {
  const list: Entry[] = [];
  if (typeof given === "object" && given !== null && isList(given)) {
    const { length } = given;
    for (let index = 0; index < length; index++) append(list, ownEntry(ground, given[index], index));
  } else {
    for (let index = 0; index < STANDARD; index++) append(list, ownEntry(ground, given ?? "pipe", index));
  }
  while (list.length < STANDARD) append(list, "pipe");
  return list;
}

function isList(value: object): value is readonly unknown[] {
  return Array.isArray(value);
}

function ownEntry(ground: Ground, entry: unknown, index: number): Entry {
  if (entry === "inherit") requireForeign(ground, index, SYSCALL);
  if (typeof entry === "number") requireForeign(ground, entry, SYSCALL);
  if (typeof entry !== "object" || entry === null) return entry as Entry;
  // WHY: what a synchronous child is given to read.
  if (isView(entry)) return entry;
  const { fd } = entry as { readonly fd?: unknown };
  if (typeof fd === "number") {
    requireForeign(ground, fd, SYSCALL);
    return fd;
  }
  return standIn(ground, entry);
}

/** Node asks a stream for its handle more than once, and stops its reading. */
function standIn(ground: Ground, stream: object): object {
  const { _handle: handle } = stream as { readonly _handle?: unknown };
  requireOwnHandle(ground, handle);
  const stand = bare({});
  put(stand, "_handle", handle);
  put(stand, "_readableState", bare({}));
  put(stand, "pause", () => {
    const { pause } = stream as { readonly pause?: unknown };
    if (typeof pause === "function") Reflect.apply(pause, stream, []);
  });
  return stand;
}

/** @throws where a child would write to what only decided things leave by, or to what is the guard's */
function requireOwnHandle(ground: Ground, handle: unknown): void {
  if (typeof handle !== "object" || handle === null) return;
  if (judgedOwner(handle) !== undefined) throw refused();
  requireForeign(ground, (handle as { readonly fd?: unknown }).fd, SYSCALL);
}

/** The list with the gate of the child as its last descriptor, and the number that it has there. */
export function withGate(
  list: readonly Entry[],
  fd: number,
): { readonly list: Entry[]; readonly at: number } {
  const copy: Entry[] = [];
  for (let index = 0; index < list.length; index++) append(copy, list[index]);
  append(copy, fd);
  return freeze(bare({ list: copy, at: list.length }));
}

/** What Node made of the list, read once and made anew: no descriptor of the guard, but for the child's own gate. */
export function checkedStreams(ground: Ground, given: unknown, gateFd: number | undefined): object[] {
  const streams: object[] = [];
  if (!Array.isArray(given)) return streams;
  const { length } = given;
  for (let index = 0; index < length; index++) {
    const stream = copyOf(given[index]);
    const fd: unknown = getOwnPropertyDescriptor(stream, "fd")?.value;
    const handle: unknown = getOwnPropertyDescriptor(stream, "handle")?.value;
    const isGate = index === length - 1 && gateFd !== undefined && fd === gateFd;
    if (!isGate) requireForeign(ground, fd, SYSCALL);
    requireOwnHandle(ground, handle);
    append(streams, stream);
  }
  return streams;
}

function copyOf(stream: unknown): object {
  const copy = bare({});
  if (typeof stream !== "object" || stream === null) return copy;
  const keys = ownKeys(stream);
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string;
    put(copy, key, (stream as Record<string, unknown>)[key]);
  }
  return copy;
}
