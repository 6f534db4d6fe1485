/**
 * `cp`. Node walks the tree, and asks a filter of ours about every entry before it touches it. The two ends are decided
 * as the call is; entries below them at once, since Node awaits a filter through promises that foreign code can answer.
 */
import { type AccessPart, type Place, createOrModify, filePart } from "../access-part.ts";
import { append, bare, put, withArgument } from "../captured.ts";
import { type Options, type Planner, forValidator, optionsOf, planOf } from "./call-plan.ts";
import { addMissingAbove } from "./composite-plans.ts";
import { isPlace, placeOf } from "./place-of.ts";

type Filter = (source: string, target: string) => unknown;

export const copyTree: Planner = (args, { ground, syscall }) => {
  const facts = bare({ syscall });
  const options = optionsOf(args[2]);
  const ending = isTrue(options, "dereference") ? "follow" : "keep";
  const source = placeOf(args[0], ending, syscall);
  if (!isPlace(source)) return forValidator(withArgument(args, 1, ""), 0, source, facts);
  const target = placeOf(args[1], "follow", syscall);
  if (!isPlace(target)) return forValidator(withArgument(args, 0, ""), 1, target, facts);
  const given = options?.["filter"];
  const filter: Filter = (from, to) => {
    if (from !== source.path || to !== target.path) {
      const [left, right] = [placeOf(from, ending, syscall), placeOf(to, "follow", syscall)];
      ground.decider.now(partsOf(left as Place, right as Place), bare({ syscall, path: from, dest: to }));
    }
    return typeof given === "function" ? (given as Filter)(from, to) : true;
  };
  const own = bare({ ...options });
  put(own, "filter", filter);
  const copied = [source.path, target.path, own];
  const parts = partsOf(source, target);
  addMissingAbove(parts, target.path);
  return planOf(parts, copied, [source, target], syscall);
};

function partsOf(source: Place, target: Place): AccessPart[] {
  const parts: AccessPart[] = [];
  append(parts, filePart("read", source));
  append(parts, createOrModify(target));
  return parts;
}

function isTrue(options: Options | undefined, key: string): boolean {
  return options?.[key] === true;
}
