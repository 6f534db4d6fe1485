/**
 * `cp`. Node walks the tree, and asks a filter of ours about every entry before it touches it. The two ends are decided
 * as the call is; entries below them at once, since Node awaits a filter through promises that foreign code can answer.
 */
import { type AccessPart, type Ending, type Place, createOrModify, filePart } from "../access-part.ts";
import { append, bare, freeze, hasOwn, put, withArgument } from "../captured.ts";
import { type Options, type Planner, blanked, forValidator, optionsOf, planOf } from "./call-plan.ts";
import { addMissingAbove } from "./composite-plans.ts";
import { openTrip } from "./copy-tree-steps.ts";
import { isFolder } from "./entries-below.ts";
import { type NotAPath, isPlace, placeOf } from "./place-of.ts";

type Filter = (source: string, target: string) => unknown;

const { isArray } = Array;
/** What `cp` knows. */
const SWITCHES = freeze([
  "dereference",
  "errorOnExist",
  "filter",
  "force",
  "mode",
  "preserveTimestamps",
  "recursive",
  "verbatimSymlinks",
]);

export const copyTree: Planner = (args, { ground, syscall }) => {
  const facts = bare({ syscall });
  const options = copyOptions(args[2]);
  const given = options?.["filter"];
  // WHY: Node minds the options first, and says so before it looks at a path.
  if (isOdd(args[2]) || (given !== undefined && typeof given !== "function"))
    return freeze(bare({ parts: freeze([]), args: blanked(args, 2), facts, places: freeze([]) }));
  const ending = isTrue(options, "dereference") ? "follow" : "keep";
  const source = placeOf(args[0], ending, syscall);
  if (!isPlace(source)) return forValidator(withArgument(args, 1, ""), 0, source, facts);
  const target = writtenAt(args[1], source, ending, syscall);
  if (!isPlace(target)) return forValidator(withArgument(args, 0, ""), 1, target, facts);
  const trip = openTrip();
  const decide: Filter = (from, to) => {
    const left = placeOf(from, ending, syscall) as Place;
    const right = writtenAt(to, left, ending, syscall) as Place;
    const isRoot = from === source.path && to === target.path;
    // WHY again: the program's own filter ran since the two ends were decided on, and they may lead elsewhere.
    if (!isRoot || left.path !== source.path || right.path !== target.path || right.exists !== target.exists)
      ground.decider.now(partsOf(left, right), bare({ syscall, path: from, dest: to }));
    trip.allow(left, right);
    return true;
  };
  // INVARIANT: the program's filter is asked first; between the decision and what Node does nothing of the program runs.
  const filter: Filter =
    given === undefined
      ? decide
      : (from, to) => {
          const isWanted = (given as Filter)(from, to);
          if (isWanted) decide(from, to);
          return isWanted;
        };
  const own = bare({ ...options });
  put(own, "filter", filter);
  const copied = [source.path, target.path, own];
  const parts = partsOf(source, target);
  addMissingAbove(parts, target.path);
  return freeze(bare({ ...planOf(parts, copied, [source, target], syscall), over: trip.over }));
};

/**
 * A link at the target is replaced by what is no folder, and a folder is copied into the one that it leads to. With
 * `dereference` Node takes a link that leads nowhere for nothing, and writes where it leads.
 */
function writtenAt(input: unknown, source: Place, ending: Ending, syscall: string): Place | NotAPath {
  const behind = placeOf(input, "follow", syscall);
  if (!isPlace(behind) || isFolder(source.path) || (ending === "follow" && !behind.exists)) return behind;
  return placeOf(behind.requested, "keep", syscall);
}

function partsOf(source: Place, target: Place): AccessPart[] {
  const parts: AccessPart[] = [];
  append(parts, filePart("read", source));
  append(parts, createOrModify(target));
  return parts;
}

function isOdd(given: unknown): boolean {
  return given !== undefined && (typeof given !== "object" || given === null || isArray(given));
}

/** WHY: of the options of `cp` Node also minds those that are there and `undefined`, and takes none from a prototype. */
function copyOptions(given: unknown): Options | undefined {
  const copy = optionsOf(given);
  if (copy === undefined) return undefined;
  const own = bare({});
  for (let index = 0; index < SWITCHES.length; index++) {
    const key = SWITCHES[index] as string;
    if (hasOwn(given as object, key)) put(own, key, copy[key]);
  }
  return own;
}

function isTrue(options: Options | undefined, key: string): boolean {
  return options?.[key] === true;
}
