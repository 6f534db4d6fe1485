/**
 * Arguments beside the path that Node may refuse. Node throws for them when the call is made, not in the callback; so Node
 * judges them first, on a path that names nothing. Decides nothing: what Node does not mind is planned as ever.
 */
import { types } from "node:util";
import { append, apply, beginsWith, errorCode, freeze } from "../captured.ts";
import { shownValue } from "../network/not-an-endpoint.ts";
import { type Options, optionsOf } from "./call-plan.ts";
import { nativeFs } from "./native-fs.ts";

type AnyFunction = (...args: unknown[]) => unknown;

const { isArrayBufferView: isView } = types;
const { openSync, readlinkSync, writeFileSync } = nativeFs;
const noop = freeze((): void => undefined);

/** @param from the first argument that is no path; from there on numbers are expected, or octal text */
export function judgeNumbers(original: AnyFunction, args: readonly unknown[], from: number): void {
  const last = args.length - 1;
  for (let index = from; index < last; index++)
    if (args[index] === undefined || !isPlain(args[index], false)) {
      apply(original, undefined, shown(args, from, undefined));
      return;
    }
}

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
      apply(original, undefined, shown(args, from, optionsAt));
      return;
    }
}

function shown(args: readonly unknown[], from: number, optionsAt: number | undefined): unknown[] {
  const copy: unknown[] = [];
  const last = args.length - 1;
  for (let index = 0; index < last; index++) {
    const options = index === optionsAt ? optionsOf(args[index]) : undefined;
    append(copy, index < from ? "" : (options ?? shownValue(args[index])));
  }
  append(copy, noop);
  return copy;
}

function isData(data: unknown): boolean {
  return typeof data === "string" || isView(data);
}

/** Data that are no text and no bytes are refused when the call is made. */
export function judgeData(original: AnyFunction, args: readonly unknown[]): void {
  if (!isData(args[1])) apply(original, undefined, shown(args, 1, 2));
}

/** The same before a file is opened for them. @param mayFlow things that hand out bytes one by one are data too */
export function judgeDataNow(data: unknown, mayFlow: boolean): void {
  if (isData(data)) return;
  const isObject = typeof data === "object" && data !== null;
  if (mayFlow && isObject && (Symbol.iterator in data || Symbol.asyncIterator in data)) return;
  judgeNow(writeFileSync as AnyFunction, ["", shownValue(data)]);
}

/** A mode that is none is refused before a file is opened. */
export function judgeMode(mode: unknown): void {
  if (mode !== undefined && typeof mode !== "number")
    judgeNow(openSync as AnyFunction, ["", "r", shownValue(mode)]);
}

/** An encoding that is none is refused before anything is touched. @param options or the encoding itself */
export function judgeEncoding(options: unknown): void {
  const isObject = typeof options === "object" && options !== null;
  const encoding = isObject ? (options as Options)["encoding"] : options;
  if (typeof encoding === "string" && encoding !== "utf8" && encoding !== "utf-8" && encoding !== "buffer")
    judgeNow(readlinkSync as AnyFunction, ["", encoding]);
}

/** Empty text is no path to the kernel, so what is not refused for its arguments fails and does nothing. */
function judgeNow(original: AnyFunction, args: unknown[]): void {
  try {
    apply(original, undefined, args);
  } catch (error) {
    if (beginsWith(errorCode(error) ?? "", "ERR_")) throw error;
  }
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
