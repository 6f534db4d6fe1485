/**
 * Whose a descriptor is, in a process that runs several subjects. What was opened by one is used by it without another
 * question; used by another one, the file behind it is decided on for that one, since a descriptor is only a small number
 * that anybody can write. Streams use their descriptor as whoever made them, whoever asks them for data.
 * Trusts `/proc`, which the kernel writes. Handles are objects and not numbers: who has one was given it.
 */
import fs from "node:fs";
import type { HostedNames } from "@sallyport/gate";
import { SafeMap } from "@sallyport/gate/captured";
import { type AccessPart, type FileOperation, filePart } from "../access-part.ts";
import { append, apply, bare, beginsWith, freeze } from "../captured.ts";
import type { Ground } from "../ground.ts";
import { replaceExport } from "../replace-export.ts";
import { type Within, withinNow } from "../within-context.ts";
import { descriptorPath } from "./held-places.ts";
import { placeAt } from "./place-of.ts";

/** Standard streams belong to the whole process. */
const STANDARD = 2;
/** Absent: the process itself, or nobody knows. */
const owners = new SafeMap<number, NonNullable<HostedNames>>();

/** It was opened now, by whoever acts. */
export function ownDescriptor({ actor }: Ground, fd: number): number {
  const { hosted } = actor();
  if (hosted !== undefined) owners.set(fd, hosted);
  else if (owners.size > 0) owners.delete(fd);
  return fd;
}

const NOTHING: readonly FileOperation[] = freeze([]);
const READ: readonly FileOperation[] = freeze(["read"]);
const MODIFY: readonly FileOperation[] = freeze(["modify"]);
const BOTH: readonly FileOperation[] = freeze(["read", "modify"]);

/** Those that are not here may do either. The ones of mode, owner and times are decided at every call. */
const USES: Readonly<Record<string, readonly FileOperation[]>> = freeze(
  bare({
    close: NOTHING,
    fdatasync: NOTHING,
    fsync: NOTHING,
    fchmod: NOTHING,
    fchown: NOTHING,
    futimes: NOTHING,
    fstat: READ,
    read: READ,
    readv: READ,
    readFile: READ,
    write: MODIFY,
    writev: MODIFY,
    ftruncate: MODIFY,
    truncate: MODIFY,
    writeFile: MODIFY,
    appendFile: MODIFY,
  }),
);

/** @throws ExternalAccessError where it is another one's, and the file may not be used so */
export function requireOwner({ actor, decider }: Ground, fd: unknown, syscall: string): void {
  const { hosted } = actor();
  if (hosted === undefined && owners.size === 0) return;
  if (typeof fd !== "number" || !(fd > STANDARD) || owners.get(fd) === hosted) return;
  const uses = USES[syscall] ?? BOTH;
  const path = uses.length === 0 ? "" : pathOf(fd);
  if (!beginsWith(path, "/")) return;
  const parts: AccessPart[] = [];
  for (let index = 0; index < uses.length; index++)
    append(parts, filePart(uses[index] as FileOperation, placeAt(path)));
  decider.now(parts, bare({ syscall }));
}

function pathOf(fd: number): string {
  try {
    return descriptorPath(fd);
  } catch {
    return "";
  }
}

/* oxlint-disable typescript/unbound-method -- called through Reflect.apply */
const { get, set } = WeakMap.prototype;
/* oxlint-enable typescript/unbound-method */
const makers = new WeakMap<object, Within>();

/** From here on streams of files belong to whoever makes them. */
export function ownStreams(): void {
  for (const prototype of [fs.ReadStream.prototype, fs.WriteStream.prototype]) {
    replaceExport(
      prototype,
      "_construct",
      (original) =>
        function _construct(this: object, ...args: unknown[]) {
          apply(set, makers, [this, withinNow()]);
          return apply(original, this, args);
        },
    );
    for (const name of ["_read", "_write", "_writev"])
      if (Object.hasOwn(prototype, name)) asMaker(prototype, name);
  }
}

function asMaker(prototype: object, name: string): void {
  replaceExport(
    prototype,
    name,
    (original) =>
      function used(this: object, ...args: unknown[]) {
        const within = apply(get, makers, [this]) as Within | undefined;
        if (within === undefined) apply(original, this, args);
        else within(() => apply(original, this, args));
      },
  );
}
