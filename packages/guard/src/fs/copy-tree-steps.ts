/**
 * What Node does on behalf of `cp`, entry by entry: its walk takes these steps in place of `node:fs`. Code of the program runs
 * in the middle of that walk (its filter, methods of `Stats` that it replaced, whatever runs while Node awaits), so each step
 * looks where its path leads now, and is made at once, only where a copy that is under way has decided on that very place.
 */
import type { AnyFunction } from "../any-function.ts";
import fs, { constants } from "node:fs";
import { realPath } from "@sallyport/gate";
import { SafeMap } from "@sallyport/gate/captured";
import type { Ending, Place } from "../access-part.ts";
import { invalidError, refusedError } from "../blocked-call.ts";
import {
  apply,
  bare,
  defineProperty,
  freeze,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  newPromise,
  parentOf,
  put,
} from "../captured.ts";
import { type Act, atOnce } from "./at-once.ts";
import { copyFileAct } from "./copy-file.ts";
import { nativeFs } from "./native-fs.ts";
import { isThere } from "./place-of.ts";

const { COPYFILE_EXCL, S_IFMT } = constants;

/** What a copy may do at a place. A new one may become an existing one by the copy itself, never by somebody else. */
type Right = "source" | "new" | "existing" | "above";
const RIGHTS: readonly Right[] = freeze(["source", "new", "existing", "above"]);
const TARGET: readonly Right[] = freeze(["new", "existing"]);
const EITHER: readonly Right[] = freeze(["source", "new", "existing"]);

/** How many copies that are under way have decided on a place, by its real path. */
type Book = SafeMap<string, number>;
const books: Readonly<Record<Right, Book>> = freeze(
  bare({
    source: new SafeMap<string, number>(),
    new: new SafeMap<string, number>(),
    existing: new SafeMap<string, number>(),
    above: new SafeMap<string, number>(),
  }),
);

/** The places of one copy. */
export interface CopyTrip {
  /** These two were decided on. */
  allow(source: Place, target: Place): void;
  /** The copy is over, and nothing more is done on its behalf. */
  readonly over: () => void;
}

export function openTrip(): CopyTrip {
  const own = bare({
    source: new SafeMap<string, true>(),
    new: new SafeMap<string, true>(),
    existing: new SafeMap<string, true>(),
    above: new SafeMap<string, true>(),
  });
  const note = (right: Right, path: string): void => {
    if (own[right].get(path) === true) return;
    own[right].set(path, true);
    books[right].set(path, (books[right].get(path) ?? 0) + 1);
  };
  return freeze<CopyTrip>(
    bare({
      allow: (source, target) => {
        note("source", source.path);
        note(target.exists ? "existing" : "new", target.path);
        note("above", parentOf(target.path));
      },
      over: () => {
        for (let index = 0; index < RIGHTS.length; index++) {
          const right = RIGHTS[index] as Right;
          own[right].each((_, path) => forget(books[right], path));
        }
      },
    }),
  );
}

function forget(book: Book, path: string): void {
  const left = (book.get(path) ?? 1) - 1;
  if (left > 0) book.set(path, left);
  else book.delete(path);
}

/** @throws ExternalAccessError where no copy has decided on what the path leads to now; the real path */
function requireDecided(path: unknown, ending: Ending, rights: readonly Right[]): string {
  const real = typeof path === "string" ? realPath(path, ending) : undefined;
  for (let index = 0; index < rights.length; index++)
    if (real !== undefined && books[rights[index] as Right].get(real) !== undefined) return real;
  throw invalidError(
    `\`${String(path)}\` leads elsewhere than when \`cp\` decided on it: call it again`,
    bare({ syscall: "cp" }),
  );
}

interface Step {
  /** Which arguments are paths, and what was decided on for them. */
  readonly paths: readonly {
    readonly at: number;
    readonly ending: Ending;
    readonly rights: readonly Right[];
  }[];
  /** The arguments for Node, where they differ. */
  readonly exact?: (args: readonly unknown[]) => readonly unknown[];
}

const onePath = (ending: Ending, rights: readonly Right[], at = 0): Step =>
  freeze(bare({ paths: freeze([freeze(bare({ at, ending, rights }))]) }));

const SOURCE: readonly Right[] = freeze(["source"]);

/** By the name of the function that Node's walk calls. */
const STEPS: Readonly<Record<string, Step>> = freeze(
  bare({
    chmod: onePath("follow", TARGET),
    utimes: onePath("follow", TARGET),
    opendir: onePath("follow", SOURCE),
    readlink: onePath("keep", EITHER),
    symlink: onePath("keep", TARGET, 1),
    unlink: onePath("keep", freeze<Right[]>(["existing"])),
    mkdir: onePath("keep", freeze<Right[]>(["new", "existing", "above"])),
    copyFile: freeze<Step>(
      bare({
        paths: freeze([
          freeze(bare({ at: 0, ending: "follow" as const, rights: SOURCE })),
          freeze(bare({ at: 1, ending: "follow" as const, rights: TARGET })),
        ]),
        exact: exactCopy,
      }),
    ),
  }),
);

/** INVARIANT: what was decided on as new is not written over. */
function exactCopy(args: readonly unknown[]): readonly unknown[] {
  const target = args[1] as string;
  const mode = typeof args[2] === "number" ? args[2] : 0;
  const isOld = isThere(target) && books.existing.get(target) !== undefined;
  return [args[0], target, isOld ? mode : mode | COPYFILE_EXCL];
}

/** The arguments with the real paths that were decided on. */
function decided({ paths, exact }: Step, args: readonly unknown[]): readonly unknown[] {
  const own: unknown[] = [];
  for (let index = 0; index < args.length; index++) put(own, index, args[index]);
  for (let index = 0; index < paths.length; index++) {
    const { at, ending, rights } = paths[index] as Step["paths"][number];
    put(own, at, requireDecided(args[at], ending, rights));
  }
  return exact === undefined ? own : exact(own);
}

function laterStep(step: Step, act: Act): AnyFunction {
  return (...args) =>
    newPromise((resolve, reject) =>
      act(decided(step, args), (error, value) => {
        if (error === null || error === undefined) resolve(value);
        else reject(error);
      }),
    );
}

/**
 * `lstat` and `stat` of the synchronous walk, which goes on natively in places: whoever replaced a method of their answer, or
 * hears what is written into it, would run between the decision and the act.
 */
function ownStats(original: AnyFunction): AnyFunction {
  return (...args) => {
    requireOwnFields();
    const stats = apply(original, undefined, args) as { readonly mode: number | bigint } | undefined;
    if (stats === undefined) return undefined;
    const kind = numberOf(stats.mode) & S_IFMT;
    for (let index = 0; index < KINDS.length; index++) {
      const row = KINDS[index] as (typeof KINDS)[number];
      const is = kind === row[1];
      put(stats, row[0], () => is, false);
    }
    return stats;
  };
}

const KINDS = freeze([
  freeze(["isDirectory", constants.S_IFDIR] as const),
  freeze(["isFile", constants.S_IFREG] as const),
  freeze(["isCharacterDevice", constants.S_IFCHR] as const),
  freeze(["isBlockDevice", constants.S_IFBLK] as const),
  freeze(["isSymbolicLink", constants.S_IFLNK] as const),
]);

const numberOf = Number;
const PROTOTYPES = freeze(
  [false, true].map((bigint) => getPrototypeOf(nativeFs.statSync("/", { bigint })) as object),
);
/** What Node writes into its answers by assignment. */
const FIELDS = freeze([false, true].map((bigint) => freeze(Object.keys(nativeFs.statSync("/", { bigint })))));

function requireOwnFields(): void {
  for (let each = 0; each < PROTOTYPES.length; each++) {
    const fields = FIELDS[each] as readonly string[];
    for (let index = 0; index < fields.length; index++)
      if ((fields[index] as string) in (PROTOTYPES[each] as object))
        throw refusedError(
          `a prototype of \`fs.Stats\` has \`${fields[index]}\`: remove it`,
          bare({ syscall: "cp" }),
        );
  }
}

/** Loads Node's walk with these steps in it. Before anything else is replaced. @param load makes Node load it */
export function installCopySteps(load: () => void): void {
  const kept: (() => void)[] = [];
  const stand = (holder: object, name: string, value: unknown): void => {
    const property = getOwnPropertyDescriptor(holder, name);
    if (property === undefined) return;
    kept.push(() => defineProperty(holder, name, property));
    defineProperty(holder, name, { ...property, value });
  };
  for (const [name, step] of Object.entries(STEPS)) {
    const now = nativeFs[`${name}Sync` as "chmodSync"] as AnyFunction;
    const act = name === "copyFile" ? copyFileAct : atOnce(now);
    stand(fs, `${name}Sync`, (...args: unknown[]) => apply(now, undefined, decided(step, args) as unknown[]));
    stand(fs.promises, name, laterStep(step, act));
  }
  for (const name of ["stat", "lstat"] as const)
    stand(fs, `${name}Sync`, ownStats(nativeFs[`${name}Sync`] as AnyFunction));
  try {
    load();
  } finally {
    for (const giveBack of kept) giveBack();
  }
}
