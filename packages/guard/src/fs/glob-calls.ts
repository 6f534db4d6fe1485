/**
 * `glob` in its three forms. It looks by `readdir` and `lstat`, which are guarded: Node takes them when it is first used.
 * What they refuse it leaves out without a word, so the folder that it begins in is decided on here, where an error is told.
 */
import type { AnyFunction } from "../any-function.ts";
import { pathText } from "@sallyport/gate";
import { type AccessPart, filePart } from "../access-part.ts";
import { type CallFacts, refusedError } from "../blocked-call.ts";
import { append, apply, bare, charCodeAt, newPromise, put, settled } from "../captured.ts";
import type { Ground } from "../ground.ts";
import { failing } from "./call-drivers.ts";
import { isPlace, placeOf } from "./place-of.ts";

const KNOWN = Object.freeze(["exclude", "followSymlinks", "withFileTypes"]);
const { isArray } = Array;
const SLASH = 0x2f;

interface GlobCall {
  /** The folder that it begins in. */
  readonly parts: readonly AccessPart[];
  readonly facts: CallFacts;
  readonly pattern: unknown;
  readonly options: object;
}

function globOf(pattern: unknown, given: unknown): GlobCall {
  const patterns = isArray(pattern) ? (pattern as readonly unknown[]) : [pattern];
  const own: unknown[] = [];
  for (let index = 0; index < patterns.length; index++) {
    const one = patterns[index];
    append(own, one);
    if (typeof one === "string" && charCodeAt(one, 0) === SLASH) throw rooted(one);
  }
  const options: Record<string, unknown> = bare({});
  const read = (typeof given === "object" && given !== null ? given : bare({})) as Record<string, unknown>;
  for (let index = 0; index < KNOWN.length; index++) {
    const value = read[KNOWN[index] as string];
    if (value !== undefined) put(options, KNOWN[index] as string, value);
  }
  const folder = read["cwd"];
  const place = placeOf(folder ?? ".", "follow", "glob");
  if (folder !== undefined) put(options, "cwd", isPlace(place) ? pathText(place.requested) : place.argument);
  const parts = isPlace(place) ? [filePart("read", place)] : [];
  const facts = bare({ syscall: "glob", path: isPlace(place) ? place.requested : undefined });
  return bare({ parts, facts, pattern: isArray(pattern) ? own : own[0], options });
}

/** WHY: it looks at every folder from the root on, and finds nothing where one of them is not declared. */
function rooted(pattern: string): Error {
  return refusedError(
    `the pattern \`${pattern}\` begins at the root: hand over the folder as \`cwd\` and a relative pattern`,
    bare({ syscall: "glob", path: pattern }),
  );
}

export function globSyncCall({ decider }: Ground, original: AnyFunction): AnyFunction {
  return (given, more) => {
    const { parts, facts, pattern, options } = globOf(given, more);
    decider.now(parts, facts);
    return apply(original, undefined, [pattern, options]);
  };
}

export function globCallbackCall({ decider }: Ground, original: AnyFunction): AnyFunction {
  return (...args) => {
    const callback: unknown = args[args.length - 1];
    if (typeof callback !== "function") return apply(original, undefined, ["", bare({}), callback]);
    const fail = failing(callback as (error: unknown) => void);
    let call: GlobCall;
    try {
      call = globOf(args[0], args.length > 2 ? args[1] : undefined);
    } catch (error) {
      fail(error);
      return undefined;
    }
    const { parts, facts, pattern, options } = call;
    decider.later(parts, facts, (blocked) => {
      if (blocked === undefined) apply(original, undefined, [pattern, options, callback]);
      else fail(blocked);
    });
    return undefined;
  };
}

/** What is returned is read step by step; the first step waits for the decision. */
export function globPromiseCall({ decider }: Ground, original: AnyFunction): AnyFunction {
  return (given, more) => {
    const { parts, facts, pattern, options } = globOf(given, more);
    const found = apply(original, undefined, [pattern, options]) as AsyncGenerator;
    let isDecided = parts.length === 0;
    const next = (): Promise<unknown> =>
      isDecided
        ? found.next()
        : newPromise((resolve, reject) =>
            decider.later(parts, facts, (blocked) => {
              isDecided = blocked === undefined;
              if (blocked === undefined) settled(found.next() as Promise<unknown>, resolve, reject);
              else reject(blocked);
            }),
          );
    return {
      next,
      return: (value: unknown) => found.return(value),
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  };
}
