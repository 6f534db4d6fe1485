/**
 * Calls that touch several things: rename, link, copy, mkdir, rm and rmdir. Each part is checked by itself, and all of
 * them must pass. A name decides what may be done with a file, so another name could give what the old one did not: what
 * passes at the new name is needed at the old one too.
 */
import { constants } from "node:fs";
import {
  type AccessPart,
  type Ending,
  type FileOperation,
  type Place,
  createOrModify,
  filePart,
} from "../access-part.ts";
import { append, bare, freeze, parentOf, slice, withArgument } from "../captured.ts";
import type { Decider } from "../decide-call.ts";
import {
  type CallPlan,
  type PlannedCall,
  type Planner,
  deletes,
  forValidator,
  optionsOf,
  planOf,
  withOptionsAt,
} from "./call-plan.ts";
import { type Entry, entriesBelow } from "./entries-below.ts";
import { letGo } from "./held-places.ts";
import { type NotAPath, isPlace, isThere, placeAt, placeOf } from "./place-of.ts";

const { COPYFILE_EXCL } = constants;
/** A rename may not make readable or executable, a hard link not modifiable either. */
const GAINED_BY_RENAME = freeze(["read", "execute"] as const);
const GAINED_BY_LINK = freeze(["execute", "modify"] as const);

type Two = (source: Place, target: Place, args: readonly unknown[], call: PlannedCall) => CallPlan;

function twoPaths(ending: Ending, plan: Two): Planner {
  return (given, call) => {
    const args = withOptionsAt(given, 2);
    const facts = bare({ syscall: call.syscall });
    const source = placeOf(args[0], ending, call.syscall);
    const target = placeOf(args[1], ending, call.syscall);
    // WHY: empty text is no path either, and Node minds the other argument first where that is none at all.
    if (!isPlace(source) && (isPlace(target) || source.argument !== ""))
      return forValidator(withArgument(args, 1, ""), 0, source, facts);
    if (!isPlace(source) || !isPlace(target))
      return forValidator(withArgument(args, 0, ""), 1, target as NotAPath, facts);
    return plan(source, target, withArgument(withArgument(args, 0, source.path), 1, target.path), call);
  };
}

const rename = twoPaths("keep", (source, target, args, { ground, syscall }) => {
  const parts: AccessPart[] = [];
  append(parts, deletes(source));
  append(parts, createOrModify(target));
  letGo(target.path);
  if (ground.decider.wouldPass(parts[0] as AccessPart))
    addGained(parts, GAINED_BY_RENAME, source, target, ground.decider);
  const plan = planOf(parts, args, [source, target], syscall);
  // WHY: what is there by now would be replaced without a word.
  return target.exists ? plan : freeze(bare({ ...plan, isWhole: () => !isThere(target.path) }));
});

const link = twoPaths("keep", (source, target, args, { ground, syscall }) => {
  const parts: AccessPart[] = [];
  append(parts, filePart("read", source));
  append(parts, filePart("create", target));
  addGained(parts, GAINED_BY_LINK, source, target, ground.decider);
  return planOf(parts, args, [source, target], syscall);
});

/** INVARIANT: what was checked as new is not written over. */
const copyFile = twoPaths("follow", (source, target, args, { syscall }) => {
  const parts: AccessPart[] = [];
  append(parts, filePart("read", source));
  append(parts, createOrModify(target));
  const given = args[2];
  const mode = typeof given === "number" ? given : given === undefined || given === null ? 0 : undefined;
  const exact = mode === undefined ? args : exclusive(args, target.exists ? mode : mode | COPYFILE_EXCL);
  return planOf(parts, exact, [source, target], syscall);
});

function exclusive(args: readonly unknown[], mode: number): readonly unknown[] {
  const copy: unknown[] = [];
  append(copy, args[0]);
  append(copy, args[1]);
  append(copy, mode);
  return copy;
}

/** The rights that are needed at the source because of where it goes, entry by entry for a folder. */
function addGained(
  parts: AccessPart[],
  operations: readonly FileOperation[],
  source: Place,
  target: Place,
  decider: Decider,
): void {
  const entries = entriesBelow(source.path);
  for (let at = -1; at < entries.length; at++) {
    const rest = at < 0 ? "" : slice((entries[at] as Entry).path, source.path.length);
    const from = rest === "" ? source : placeAt(source.path + rest);
    const to = rest === "" ? target : placeAt(target.path + rest);
    for (let index = 0; index < operations.length; index++) {
      const operation = operations[index] as FileOperation;
      if (decider.wouldPass(filePart(operation, to))) append(parts, filePart(operation, from));
    }
  }
}

/** Every folder that does not exist yet is made, and asked for, by itself. */
const mkdir: Planner = (given, { syscall }) => {
  const args = withOptionsAt(given, 1);
  const recursive = isOn(args[1], "recursive");
  const place = placeOf(args[0], recursive ? "follow" : "keep", syscall);
  if (!isPlace(place)) return forValidator(args, 0, place, bare({ syscall }));
  const parts: AccessPart[] = [];
  if (recursive) addMissingAbove(parts, place.path);
  append(parts, filePart("create", place));
  return planOf(parts, withArgument(args, 0, place.path), [place], syscall);
};

/** From the outermost in. */
export function addMissingAbove(parts: AccessPart[], path: string): void {
  const above = parentOf(path);
  if (above === "/" || above === path) return;
  const place = placeAt(above);
  if (place.exists) return;
  addMissingAbove(parts, above);
  append(parts, filePart("create", place));
}

/** The root and every entry below it. */
export const removal: Planner = (given, { ground, syscall }) => {
  const args = withOptionsAt(given, 1);
  const place = placeOf(args[0], "keep", syscall);
  if (!isPlace(place)) return forValidator(args, 0, place, bare({ syscall }));
  const parts: AccessPart[] = [];
  append(parts, deletes(place));
  // WHY: who may not remove the folder is not told what it holds.
  if (isOn(args[1], "recursive") && ground.decider.wouldPass(parts[0] as AccessPart)) {
    const entries = entriesBelow(place.path);
    for (let index = 0; index < entries.length; index++)
      append(parts, deletes(placeAt((entries[index] as Entry).path)));
  }
  return planOf(parts, withArgument(args, 0, place.path), [place], syscall);
};

export function isOn(options: unknown, key: string): boolean {
  const value = optionsOf(options)?.[key];
  return value !== undefined && value !== false;
}

export const COMPOSITE_PLANS: Readonly<
  Record<string, { readonly plan: Planner; readonly syscall: string; readonly paths?: number }>
> = freeze(
  bare({
    rename: { plan: rename, syscall: "rename", paths: 2 },
    link: { plan: link, syscall: "link", paths: 2 },
    copyFile: { plan: copyFile, syscall: "copyfile", paths: 2 },
    mkdir: { plan: mkdir, syscall: "mkdir" },
  }),
);
