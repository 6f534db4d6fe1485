/**
 * Calls that name one path and touch it in one way, as SPEC section 1 says: stat and its like read, chmod and its like
 * modify, unlink deletes, symlink and mkdtemp create. Calls that do not follow the last link resolve only the parent.
 */
import { pathText } from "@sallyport/gate";
import { type AccessPart, type Place, filePart } from "../access-part.ts";
import { append, bare, beginsWith, freeze, put, slice, withArgument } from "../captured.ts";
import {
  type Options,
  type Planner,
  deletes,
  forValidator,
  lookedAt,
  oneLook,
  onePath,
  optionsOf,
  planOf,
  reads,
  withOptionsAt,
} from "./call-plan.ts";
import { isCode } from "../ground.ts";
import { foldersBelow } from "./entries-below.ts";
import { listedEntries } from "./listed-folder.ts";
import { isPlace, notAPath, placeAt, placeOf } from "./place-of.ts";

const { isArray } = Array;
const modifies = (place: Place): AccessPart => filePart("modify", place);

/** Every folder that is listed is read. */
const readdir: Planner = (given, { ground, syscall }) => {
  const args = withOptionsAt(given, 1);
  const options = optionsOf(args[1]);
  const isRecursive = options?.["recursive"] !== undefined && options["recursive"] !== false;
  const known = isRecursive ? undefined : lookedAt(ground, args[0]);
  const place = known ?? placeOf(args[0], "follow", syscall);
  if (!isPlace(place)) return forValidator(args, 0, place, bare({ syscall }));
  const parts: AccessPart[] = [];
  if (known === undefined) append(parts, reads(place));
  const result = (value: unknown): unknown => entriesAsWritten(value, place);
  const folders = isRecursive ? foldersBelow(place.path) : undefined;
  const count = folders?.length ?? 0;
  for (let index = 0; index < count; index++) append(parts, reads(placeAt(folders?.[index] as string)));
  const plan = planOf(parts, withArgument(args, 0, place.path), [place], syscall, result);
  if (folders === undefined) return plan;
  return freeze(bare({ ...plan, isWhole: () => areSame(folders, foldersBelow(place.path)) }));
};

function areSame(left: readonly string[], right: readonly string[]): boolean {
  if (left.length !== right.length) return false;
  for (let index = 0; index < left.length; index++) if (left[index] !== right[index]) return false;
  return true;
}

/** Where code is, is looked up for every module that is loaded; that is a part of loading it. */
const realpath: Planner = (given, call) => {
  const plan = onePath(reads, "follow")(withOptionsAt(given, 1), call);
  const place = plan.places[0];
  return place !== undefined && isCode(call.ground, place.path) ? bare({ ...plan, parts: freeze([]) }) : plan;
};

/** `Dirent` objects name their folder. */
function entriesAsWritten(value: unknown, { path, requested }: Place): unknown {
  const entries = isArray(value) ? (value as readonly unknown[]) : listedEntries(value);
  if (path === requested || entries === undefined) return value;
  for (let index = 0; index < entries.length; index++) {
    const entry: unknown = entries[index];
    if (typeof entry !== "object" || entry === null) return value;
    renameFolder(entry, "path", path, requested);
    renameFolder(entry, "parentPath", path, requested);
  }
  return value;
}

function renameFolder(entry: object, key: string, path: string, requested: string): void {
  const folder = (entry as Options)[key];
  if (typeof folder === "string" && beginsWith(folder, path))
    put(entry, key, requested + slice(folder, path.length));
}

const RANDOM = "XXXXXX";

/** What is made has six characters more than was asked for; which, nobody knows before. */
const mkdtemp: Planner = (given, { syscall }) => {
  const args = withOptionsAt(given, 1);
  const prefix = args[0] === "" ? "./" : args[0];
  const isText = typeof prefix === "string";
  const place = placeOf(isText ? prefix + RANDOM : prefix, "keep", syscall);
  if (!isPlace(place)) return forValidator(args, 0, place, bare({ syscall }));
  const written = isText ? prefix : place.requested;
  const real = isText ? slice(place.path, 0, place.path.length - RANDOM.length) : place.path;
  const part = filePart("create", isText ? place : placeAt(place.path + RANDOM));
  const result = (made: unknown): unknown =>
    typeof made === "string" ? written + slice(made, made.length - RANDOM.length) : made;
  return planOf([part], withArgument(args, 0, real), [place], syscall, result);
};

/** The text of the link is kept as written; whoever uses it is asked about where it leads. */
const symlink: Planner = (args, { syscall }) => {
  const place = placeOf(args[1], "keep", syscall);
  const text = pathText(args[0]);
  // WHY: empty text is no path either, and Node minds the other argument first where that is none at all.
  if (text === undefined && (args[0] !== "" || isPlace(place)))
    return forValidator(withArgument(args, 1, ""), 0, notAPath(args[0], syscall), bare({ syscall }));
  if (!isPlace(place)) return forValidator(withArgument(args, 0, ""), 1, place, bare({ syscall }));
  const linked = withArgument(withArgument(args, 0, text), 1, place.path);
  return planOf([filePart("create", place)], linked, [place], syscall);
};

interface PathPlan {
  readonly plan: Planner;
  readonly syscall: string;
  /** Node judges the other arguments first. */
  readonly isJudged?: boolean;
  /** The second argument is an encoding, or options with one. */
  readonly hasEncoding?: boolean;
}

/** By the name without `Sync`. */
export const PATH_PLANS: Readonly<Record<string, PathPlan>> = freeze(
  bare({
    access: { plan: oneLook("follow"), syscall: "access" },
    stat: { plan: oneLook("follow"), syscall: "stat" },
    lstat: { plan: oneLook("keep"), syscall: "lstat" },
    statfs: { plan: oneLook("follow"), syscall: "statfs" },
    readlink: { plan: oneLook("keep"), syscall: "readlink", hasEncoding: true },
    realpath: { plan: realpath, syscall: "realpath", hasEncoding: true },
    readdir: { plan: readdir, syscall: "scandir", hasEncoding: true },
    opendir: { plan: readdir, syscall: "opendir", hasEncoding: true },
    chmod: { plan: onePath(modifies, "follow"), syscall: "chmod", isJudged: true },
    lchmod: { plan: onePath(modifies, "keep"), syscall: "lchmod", isJudged: true },
    chown: { plan: onePath(modifies, "follow"), syscall: "chown", isJudged: true },
    lchown: { plan: onePath(modifies, "keep"), syscall: "lchown", isJudged: true },
    utimes: { plan: onePath(modifies, "follow"), syscall: "utime" },
    lutimes: { plan: onePath(modifies, "keep"), syscall: "lutime" },
    unlink: { plan: onePath(deletes, "keep"), syscall: "unlink" },
    mkdtemp: { plan: mkdtemp, syscall: "mkdtemp", hasEncoding: true },
    symlink: { plan: symlink, syscall: "symlink" },
  }),
);

export const watchPlan: Planner = oneLook("follow");
