/**
 * Assembles filter rules into a program for the kernel's packet filter: one block for each call, found by halving the
 * numbers. Calls that always go on cost nothing, because the kernel remembers them; to know them it tries every number when
 * the filter is put on, which is why the way to a block is short.
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
  const blocks = rules
    .flatMap((rule) => blockOf(rule, architecture))
    .toSorted((left, right) => left.number - right.number);
  return Object.freeze([
    load(ARCHITECTURE_AT),
    jump(JUMP_EQUAL, AUDIT_ARCHITECTURE[architecture], 1, 0),
    give(RETURN_KILL),
    load(NUMBER_AT),
    ...(architecture === "x64" ? [jump(JUMP_AT_LEAST, X32_BIT, 0, 1), give(RETURN_ERRNO | ENOSYS)] : []),
    ...halved(blocks),
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

/** What is done with one call, from the comparison of its number on. */
interface Block {
  readonly number: number;
  readonly instructions: readonly Instruction[];
}

const BLOCKS_IN_A_ROW = 3;
/** As far as a comparison itself can jump. */
const JUMP_MAX = 255;

/** INVARIANT: whatever matches no block goes on, and every way down ends in a return. */
function halved(blocks: readonly Block[]): readonly Instruction[] {
  const middle = blocks[blocks.length >> 1];
  if (middle === undefined || blocks.length <= BLOCKS_IN_A_ROW)
    return [...blocks.flatMap(({ instructions }) => instructions), give(RETURN_ALLOW)];
  const lower = halved(blocks.slice(0, blocks.length >> 1));
  const upper = halved(blocks.slice(blocks.length >> 1));
  if (lower.length <= JUMP_MAX)
    return [jump(JUMP_AT_LEAST, middle.number, lower.length, 0), ...lower, ...upper];
  const far: Instruction = { code: JUMP_ALWAYS, jumpTrue: 0, jumpFalse: 0, value: lower.length };
  return [jump(JUMP_AT_LEAST, middle.number, 0, 1), far, ...lower, ...upper];
}

/** INVARIANT: a block that is entered ends in a return, so the number need not be loaded again. */
function blockOf(rule: FilterRule, architecture: Architecture): readonly Block[] {
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
  return [{ number, instructions: [jump(JUMP_EQUAL, number, 0, body.length), ...body] }];
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
  if (jumpTrue > JUMP_MAX || jumpFalse > JUMP_MAX)
    throw new RangeError("a filter rule has too many cases for one block: split it");
  return { code, jumpTrue, jumpFalse, value: value >>> 0 };
}

function give(value: number): Instruction {
  return { code: RETURN, jumpTrue: 0, jumpFalse: 0, value: value >>> 0 };
}
