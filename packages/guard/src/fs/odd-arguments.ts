/**
 * Arguments beside the path that Node may refuse. Node throws for them when the call is made, not in the callback; so Node
 * judges them first, on a path that names nothing. Decides nothing: what Node does not mind is planned as ever.
 */
import { types } from "node:util";
import { append, apply, freeze } from "../captured.ts";
import { type Options, optionsOf } from "./call-plan.ts";

type AnyFunction = (...args: unknown[]) => unknown;

const { isArrayBufferView: isView } = types;
const noop = freeze((): void => undefined);

/**
 * @param from the first argument that is no path; those before it are not shown to Node
 * @param optionsAt where an object with options may stand; nowhere unless said
 */
export function judgeOdd(
  original: AnyFunction,
  args: readonly unknown[],
  from: number,
  optionsAt?: number,
): void {
  const last = args.length - 1;
  for (let index = from; index < last; index++)
    if (!isPlain(args[index], index === optionsAt)) {
      apply(original, undefined, shown(args, from));
      return;
    }
}

function shown(args: readonly unknown[], from: number): unknown[] {
  const copy: unknown[] = [];
  const last = args.length - 1;
  for (let index = 0; index < last; index++)
    append(copy, index < from ? "" : (optionsOf(args[index]) ?? args[index]));
  append(copy, noop);
  return copy;
}

/** Data that are no text and no bytes are refused when the call is made. */
export function judgeData(original: AnyFunction, args: readonly unknown[]): void {
  if (typeof args[1] !== "string" && !isView(args[1])) apply(original, undefined, shown(args, 1));
}

/** What Node takes without a word, told at a glance. */
function isPlain(value: unknown, mayHoldOptions: boolean): boolean {
  if (value === undefined) return true;
  if (typeof value === "number") return value >>> 0 === value;
  if (typeof value === "string") return value === "utf8" || value === "utf-8" || value === "buffer";
  return mayHoldOptions && typeof value === "object" && value !== null && isPlainOptions(value as Options);
}

function isPlainOptions({ encoding, signal }: Options): boolean {
  return (encoding === undefined || encoding === "utf8" || encoding === "utf-8") && signal === undefined;
}
