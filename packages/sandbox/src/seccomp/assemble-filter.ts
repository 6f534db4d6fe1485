/**
 * Assembles filter rules into a program for the kernel's packet filter. Straight down, one block for each call and no
 * long jumps, so that it can be read; calls that always go on cost nothing, because the kernel remembers them.
 */
import type { ArgumentTest, FilterAction, FilterRule } from "./filter-rule.ts";
import { type Architecture, AUDIT_ARCHITECTURE, X32_BIT, systemCallNumber } from "./syscall-number.ts";

export interface Instruction {
  readonly code: number;
  readonly jumpTrue: number;
  readonly jumpFalse: number;
  readonly value: number;
}

export const LOAD_WORD = 0x20;
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
  return Object.freeze([
    load(ARCHITECTURE_AT),
    jump(JUMP_EQUAL, AUDIT_ARCHITECTURE[architecture], 1, 0),
    give(RETURN_KILL),
    load(NUMBER_AT),
    ...(architecture === "x64" ? [jump(JUMP_AT_LEAST, X32_BIT, 0, 1), give(RETURN_ERRNO | ENOSYS)] : []),
    ...rules.flatMap((rule) => block(rule, architecture)),
    give(RETURN_ALLOW),
  ]);
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

/** INVARIANT: a block that is entered ends in a return, so the number need not be loaded again. */
function block(rule: FilterRule, architecture: Architecture): readonly Instruction[] {
  const number = systemCallNumber(rule.call, architecture);
  if (number === undefined) return [];
  const body = [
    ...rule.cases.flatMap(({ when, action }) => [
      load(ARGUMENTS_AT + when.argument * 8),
      test(when),
      give(returnOf(action)),
    ]),
    give(returnOf(rule.otherwise)),
  ];
  return [jump(JUMP_EQUAL, number, 0, body.length), ...body];
}

function test(when: ArgumentTest): Instruction {
  switch (when.test) {
    case "equals":
      return jump(JUMP_EQUAL, when.value, 0, 1);
    case "any_bit":
      return jump(JUMP_ANY_BIT, when.mask, 0, 1);
  }
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

function load(offset: number): Instruction {
  return { code: LOAD_WORD, jumpTrue: 0, jumpFalse: 0, value: offset };
}

function jump(code: number, value: number, jumpTrue: number, jumpFalse: number): Instruction {
  if (jumpTrue > 255 || jumpFalse > 255)
    throw new RangeError("a filter rule has too many cases for one block: split it");
  return { code, jumpTrue, jumpFalse, value: value >>> 0 };
}

function give(value: number): Instruction {
  return { code: RETURN, jumpTrue: 0, jumpFalse: 0, value: value >>> 0 };
}
