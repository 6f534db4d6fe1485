/**
 * Assembles filter rules into a program for the kernel's packet filter: calls in a row that are treated alike are one stretch
 * of numbers, found by halving. Calls that always go on cost nothing, because the kernel remembers them; to know them it tries
 * every number when the filter is put on, and it translates every instruction: so the way is short, and the returns are shared.
 */
import type { FilterAction, FilterRule } from "./filter-rule.ts";
import {
  type Architecture,
  AUDIT_ARCHITECTURE,
  LAST_NUMBER,
  X32_BIT,
  systemCallNumber,
} from "./syscall-number.ts";

export interface Instruction {
  readonly code: number;
  readonly jumpTrue: number;
  readonly jumpFalse: number;
  readonly value: number;
}

export const LOAD_WORD = 0x20;
export const JUMP_ALWAYS = 0x05;
export const JUMP_EQUAL = 0x15;
export const JUMP_AT_LEAST = 0x35;
export const JUMP_ANY_BIT = 0x45;
export const RETURN = 0x06;

export const RETURN_ALLOW = 0x7fff0000;
export const RETURN_NOTIFY = 0x7fc00000;
export const RETURN_ERRNO = 0x00050000;
export const RETURN_KILL = 0x80000000;

/** Places in what the kernel shows a filter: the number, the architecture, six arguments of eight bytes. */
const NUMBER_AT = 0;
const ARCHITECTURE_AT = 4;
const ARGUMENTS_AT = 16;
const ENOSYS = 38;

export function assembleFilter(
  rules: readonly FilterRule[],
  architecture: Architecture,
): readonly Instruction[] {
  const program = new BackwardProgram();
  const first = halved(program, stretchesOf(rules, architecture));
  const known =
    architecture === "x64"
      ? program.test(JUMP_AT_LEAST, X32_BIT, program.give(RETURN_ERRNO | ENOSYS), first)
      : first;
  const loaded = program.load(NUMBER_AT, known);
  const kill = program.give(RETURN_KILL);
  const own = program.test(JUMP_EQUAL, AUDIT_ARCHITECTURE[architecture], loaded, kill);
  program.load(ARCHITECTURE_AT, own);
  return program.instructions();
}

/** As the kernel takes it: eight bytes an instruction, little-endian. */
export function filterBytes(instructions: readonly Instruction[]): Uint8Array {
  const bytes = new Uint8Array(instructions.length * 8);
  const view = new DataView(bytes.buffer);
  for (const [index, { code, jumpTrue, jumpFalse, value }] of instructions.entries()) {
    view.setUint16(index * 8, code, true);
    view.setUint8(index * 8 + 2, jumpTrue);
    view.setUint8(index * 8 + 3, jumpFalse);
    view.setUint32(index * 8 + 4, value, true);
  }
  return bytes;
}

/** The calls from a number on, up to the next stretch. */
interface Stretch {
  readonly from: number;
  readonly treatment: Treatment;
}

type Treatment = Pick<FilterRule, "cases" | "otherwise">;

const GOES_ON: Treatment = { cases: [], otherwise: { kind: "allow" } };

/** WHY not there: what a newer kernel can do by it was never looked at, and callers know kernels without it. */
const UNHEARD_OF: Treatment = { cases: [], otherwise: { kind: "errno", errno: ENOSYS } };

/** INVARIANT: they cover all numbers, in their order; what no rule names goes on up to the last number that was looked at. */
function stretchesOf(rules: readonly FilterRule[], architecture: Architecture): readonly Stretch[] {
  const treatments = new Map<number, Treatment>();
  for (const rule of rules) {
    const number = systemCallNumber(rule.call, architecture);
    if (number !== undefined) treatments.set(number, rule);
  }
  const stretches: Stretch[] = [{ from: 0, treatment: GOES_ON }];
  for (let from = 0; from <= LAST_NUMBER + 1; from++) {
    const treatment = from > LAST_NUMBER ? UNHEARD_OF : (treatments.get(from) ?? GOES_ON);
    if (!isAlike(treatment, stretches.at(-1)?.treatment)) stretches.push({ from, treatment });
  }
  return stretches;
}

/** Of calls whose arguments are looked at, each is by itself. */
function isAlike(one: Treatment, other: Treatment | undefined): boolean {
  if (other === undefined || one.cases.length > 0 || other.cases.length > 0) return one === other;
  return returnOf(one.otherwise) === returnOf(other.otherwise);
}

/** INVARIANT: every way down ends in a return. The place where it begins. */
function halved(program: BackwardProgram, stretches: readonly Stretch[]): Place {
  const middle = stretches[stretches.length >> 1];
  if (middle === undefined) return program.give(RETURN_KILL);
  if (stretches.length === 1) return body(program, middle.treatment);
  const upper = halved(program, stretches.slice(stretches.length >> 1));
  const lower = halved(program, stretches.slice(0, stretches.length >> 1));
  return program.test(JUMP_AT_LEAST, middle.from, upper, lower);
}

/** What is done with a call whose number was found. INVARIANT: it ends in a return, so the number need not be loaded again. */
function body(program: BackwardProgram, { cases, otherwise }: Treatment): Place {
  let next = program.give(returnOf(otherwise));
  for (const [index, { when, action }] of [...cases.entries()].toReversed()) {
    const [code, value] = when.test === "equals" ? [JUMP_EQUAL, when.value] : [JUMP_ANY_BIT, when.mask];
    const tested = program.test(code, value, program.give(returnOf(action)), next);
    const isLoaded = cases[index - 1]?.when.argument === when.argument;
    next = isLoaded ? tested : program.load(ARGUMENTS_AT + when.argument * 8, tested);
  }
  return next;
}

function returnOf(action: FilterAction): number {
  switch (action.kind) {
    case "allow":
      return RETURN_ALLOW;
    case "notify":
      return RETURN_NOTIFY;
    case "errno":
      return RETURN_ERRNO | action.errno;
  }
}

/** How many instructions there are from here to the end. */
type Place = number;

/** As far as a comparison itself can jump. */
const JUMP_MAX = 255;

/** A program that is written from its end on, since jumps only lead forward: what is jumped to is there already. */
class BackwardProgram {
  readonly #backward: Instruction[] = [];
  readonly #returns = new Map<number, Place>();

  instructions(): readonly Instruction[] {
    return Object.freeze(this.#backward.toReversed());
  }

  /** One return serves all who can reach it. */
  give(value: number): Place {
    const known = this.#returns.get(value);
    if (known !== undefined && this.#isNear(known)) return known;
    const place = this.#put({ code: RETURN, jumpTrue: 0, jumpFalse: 0, value: value >>> 0 });
    this.#returns.set(value, place);
    return place;
  }

  load(offset: number, next: Place): Place {
    this.#follow(next);
    return this.#put({ code: LOAD_WORD, jumpTrue: 0, jumpFalse: 0, value: offset });
  }

  test(code: number, value: number, ifTrue: Place, ifFalse: Place): Place {
    const [whenTrue, whenFalse] = [this.#near(ifTrue), this.#near(ifFalse)];
    const [jumpTrue, jumpFalse] = [this.#backward.length - whenTrue, this.#backward.length - whenFalse];
    return this.#put({ code, jumpTrue, jumpFalse, value: value >>> 0 });
  }

  /** WHY less than all of the way: until the jump is written, one more instruction may come between. */
  #isNear(place: Place): boolean {
    return this.#backward.length - place < JUMP_MAX;
  }

  #near(place: Place): Place {
    return this.#isNear(place) ? place : this.#jump(place);
  }

  #follow(place: Place): void {
    if (place !== this.#backward.length) this.#jump(place);
  }

  #jump(place: Place): Place {
    return this.#put({ code: JUMP_ALWAYS, jumpTrue: 0, jumpFalse: 0, value: this.#backward.length - place });
  }

  #put(instruction: Instruction): Place {
    return this.#backward.push(instruction);
  }
}
