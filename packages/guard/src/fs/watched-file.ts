/**
 * What a watched file is told by. Node asks the kernel about its path over and over, from another thread, so what it found may
 * be of another file that the program has put in the way. It counts as a hint: told is what this thread sees at the place that
 * was decided on, and what it saw before.
 */
import type { AnyFunction } from "../any-function.ts";
import { apply, bare, defineProperty } from "../captured.ts";
import { nativeFs } from "./native-fs.ts";
import { isSteady } from "./place-of.ts";

const { statSync } = nativeFs;
const HOW = Object.freeze(bare({ bigint: true as const, throwIfNoEntry: false as const }));
const ABSENT = -2;
const BILLION = 1_000_000_000n;
const numberOf = Number;
/** As Node writes them: ten numbers of the file, then seconds and nanoseconds of four times. */
const FIELDS = Object.freeze("dev mode nlink uid gid rdev blksize ino size blocks".split(" "));
const TIMES = Object.freeze("atimeNs mtimeNs ctimeNs birthtimeNs".split(" "));
const COUNT = FIELDS.length + 2 * TIMES.length;
const ACCESSED = FIELDS.length;

type Seen = Readonly<Record<string, bigint>>;
type Numbers = bigint[];
/** Node's own memory: what is, and what was. */
type Told = Record<number, bigint | number>;

/** From now on the native watcher tells nothing else. @param handle that is about to be started for this path */
export function tellWhatIsSeen(handle: object, path: string): void {
  const told = (handle as { readonly onchange?: unknown }).onchange as AnyFunction;
  let last = numbersAt(path);
  let isFirst = true;
  const onchange = function onchange(this: object, _: unknown, stats: Told): void {
    if (!isSteady(bare({ path, requested: path, exists: true }))) return;
    const now = numbersAt(path);
    const isSame = areSame(last, now);
    if (isSame && !(isFirst && now === undefined)) return;
    write(stats, 0, now);
    write(stats, COUNT, last);
    last = now;
    isFirst = false;
    apply(told, this, [now === undefined ? ABSENT : 0, stats]);
  };
  defineProperty(handle, "onchange", bare({ value: onchange, writable: false, configurable: false }));
}

function numbersAt(path: string): Numbers | undefined {
  let seen: Seen | undefined;
  try {
    seen = statSync(path, HOW) as unknown as Seen | undefined;
  } catch {
    return undefined;
  }
  if (seen === undefined) return undefined;
  const numbers: Numbers = [];
  const set = (at: number, value: bigint): void =>
    void defineProperty(numbers, at, bare({ value, enumerable: true, configurable: true, writable: true }));
  for (let index = 0; index < FIELDS.length; index++) set(index, seen[FIELDS[index] as string] as bigint);
  for (let index = 0; index < TIMES.length; index++) {
    const ns = seen[TIMES[index] as string] as bigint;
    set(FIELDS.length + 2 * index, ns / BILLION);
    set(FIELDS.length + 2 * index + 1, ns % BILLION);
  }
  return numbers;
}

/** Reading a file is no change of it. */
function areSame(left: Numbers | undefined, right: Numbers | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  for (let index = 0; index < COUNT; index++)
    if (index !== ACCESSED && index !== ACCESSED + 1 && left[index] !== right[index]) return false;
  return true;
}

function write(stats: Told, from: number, numbers: Numbers | undefined): void {
  const isBig = typeof stats[0] === "bigint";
  for (let index = 0; index < COUNT; index++) {
    const value = numbers?.[index] ?? 0n;
    stats[from + index] = isBig ? value : numberOf(value);
  }
}
