/** Runs a filter as the kernel would, and says what it returns and how many steps it took. */
import {
  type Instruction,
  JUMP_ALWAYS,
  JUMP_ANY_BIT,
  JUMP_AT_LEAST,
  JUMP_EQUAL,
  LOAD_WORD,
  RETURN,
} from "../seccomp/assemble-filter.ts";

export interface ShownCall {
  readonly number: number;
  readonly architecture: number;
  /** Six of them; missing ones are 0. */
  readonly args?: readonly bigint[];
}

export function runFilter(
  filter: readonly Instruction[],
  { number, architecture, args = [] }: ShownCall,
): number {
  const shown = new DataView(new ArrayBuffer(64));
  shown.setUint32(0, number, true);
  shown.setUint32(4, architecture, true);
  for (const [index, value] of args.entries()) shown.setBigUint64(16 + index * 8, value, true);
  let accumulator = 0;
  for (let at = 0; at < filter.length; at++) {
    const { code, jumpTrue, jumpFalse, value } = filter[at] as Instruction;
    switch (code) {
      case LOAD_WORD:
        accumulator = shown.getUint32(value, true);
        break;
      case JUMP_ALWAYS:
        at += value;
        break;
      case JUMP_EQUAL:
        at += accumulator === value ? jumpTrue : jumpFalse;
        break;
      case JUMP_AT_LEAST:
        at += accumulator >= value ? jumpTrue : jumpFalse;
        break;
      case JUMP_ANY_BIT:
        at += (accumulator & value) !== 0 ? jumpTrue : jumpFalse;
        break;
      case RETURN:
        return value;
      default:
        throw new Error(`the filter holds the code ${code}, which the kernel is never given`);
    }
  }
  throw new Error("the filter ran over its end");
}
