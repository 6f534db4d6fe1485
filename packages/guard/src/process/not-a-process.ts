/**
 * What is no process, judged by Node's own validator, so that its errors stay what they are. Node is shown kinds, numbers
 * and texts that it refuses, beside a program that does not exist; what it does not mind goes its way through the guard.
 */
import { constants } from "node:os";
import { pathText } from "@sallyport/gate";
import { append, bare, charCodeAt, freeze, hasOwn, put } from "../captured.ts";
import { shownValue } from "../network/not-an-endpoint.ts";

type Options = Record<string, unknown>;
type Start = (file: unknown, args: unknown, options: unknown) => unknown;

/** As it was written, every field read once. */
export interface WrittenCall {
  readonly file: unknown;
  readonly args: unknown;
  /** A copy of the own options, or what was handed over in their place. */
  readonly options: unknown;
}

/** A name in `/proc` that nobody can make: what is executed where nothing was found. */
export const NOWHERE = "/proc/sallyport-no-such-program";
const { isArray } = Array;
const { keys } = Object;
const { signals } = constants;
const NativeUrl = URL;
// oxlint-disable-next-line typescript/unbound-method -- called through Reflect.apply
const hrefOf = Object.getOwnPropertyDescriptor(URL.prototype, "href")?.get as () => string;
/** Texts that Node refuses where they hold a NUL, and whatever is none. */
const TEXTS: readonly string[] = freeze(["argv0", "shell"]);
const NUMBERS: readonly string[] = freeze(["maxBuffer", "timeout"]);
/** Options that are judged by their kind alone. */
export const JUDGED: readonly string[] = freeze(["detached", "windowsHide", "windowsVerbatimArguments"]);

/**
 * Throws what Node throws for a call that is none; returns where Node would start it.
 * INVARIANT: nothing starts here: the program is one that Node refuses, or one that does not exist.
 */
export function requireProcess(start: Start, { file, args, options }: WrittenCall): void {
  const isFile = typeof file === "string" && file !== "" && !hasNul(file);
  const isArgs = isArray(args) ? !hasNulIn(args) : args === undefined || args === null;
  const isOptions = options === undefined || (typeof options === "object" && options !== null);
  const shown = isOptions ? oddOptions(options ?? bare({})) : shownValue(options);
  if (isFile && isArgs && shown === undefined) return;
  start(isFile ? NOWHERE : shownValue(file), isArgs ? [] : shownArguments(args), shown);
}

/** Those that Node may refuse; `undefined` where there are none. */
function oddOptions(options: Options): Options | undefined {
  const odd: Options = bare({});
  let hasOdd = false;
  const keep = (key: string, value: unknown): void => {
    hasOdd = true;
    put(odd, key, value);
  };
  const { cwd, env, killSignal } = options;
  if (isGiven(cwd) && cwd !== "" && pathText(cwd) === undefined) keep("cwd", shownPath(cwd));
  for (let index = 0; index < JUDGED.length; index++) {
    const key = JUDGED[index] as string;
    if (isGiven(options[key]) && typeof options[key] !== "boolean") keep(key, shownValue(options[key]));
  }
  for (let index = 0; index < TEXTS.length; index++) {
    const key = TEXTS[index] as string;
    const value = options[key];
    const isText = typeof value === "string" ? !hasNul(value) : key === "shell" && typeof value === "boolean";
    if (isGiven(value) && !isText) keep(key, shownValue(value));
  }
  for (let index = 0; index < NUMBERS.length; index++) {
    const key = NUMBERS[index] as string;
    const value = options[key];
    if (isGiven(value) && !(typeof value === "number" && value >>> 0 === value)) keep(key, shownValue(value));
  }
  if (isGiven(killSignal) && !(typeof killSignal === "string" && hasOwn(signals, killSignal)))
    keep("killSignal", shownValue(killSignal));
  const bad = typeof env === "object" && env !== null ? nulIn(env as Options) : undefined;
  if (bad !== undefined) keep("env", bad);
  return hasOdd ? odd : undefined;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** A genuine URL as another one of the same text, so that Node says what is wrong with it. */
function shownPath(path: unknown): unknown {
  if (typeof path !== "object" || path === null) return shownValue(path);
  try {
    return new NativeUrl(Reflect.apply(hrefOf, path, []));
  } catch {
    return shownValue(path);
  }
}

/** An environment of one pair that Node refuses. */
function nulIn(env: Options): Options | undefined {
  const names = keys(env);
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    const value = env[name];
    if (!hasNul(name) && !(typeof value === "string" && hasNul(value))) continue;
    const shown: Options = bare({});
    put(shown, name, shownValue(value));
    return shown;
  }
  return undefined;
}

function shownArguments(args: unknown): unknown {
  if (!isArray(args)) return typeof args === "object" ? undefined : shownValue(args);
  const shown: unknown[] = [];
  for (let index = 0; index < args.length; index++) append(shown, shownValue(args[index]));
  return shown;
}

function hasNulIn(list: readonly unknown[]): boolean {
  for (let index = 0; index < list.length; index++) {
    const text = list[index];
    if (typeof text === "string" && hasNul(text)) return true;
  }
  return false;
}

export function hasNul(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (charCodeAt(text, index) === 0) return true;
  return false;
}
