/**
 * What the flags of an open mean: which parts are checked, and which bits open exactly what was checked.
 * INVARIANT: what was checked as new is opened exclusively, what was checked as existing is never made, and a link that
 * took the place of the file meanwhile is not followed.
 */
import { constants } from "node:fs";
import { type Part, type Place, createOrModify } from "./parts.ts";

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_RDWR, O_TRUNC, O_WRONLY } = constants;

export const OPEN_FLAGS = ["r", "r+", "w", "w+", "wx", "wx+", "a", "a+", "ax", "ax+"] as const;
export type OpenFlag = (typeof OPEN_FLAGS)[number];

export interface Opening {
  readonly parts: readonly Part[];
  readonly bits: number;
}

export function requireFlag(flag: OpenFlag): OpenFlag {
  if (OPEN_FLAGS.includes(flag)) return flag;
  throw new TypeError(`\`${flag}\` is no flag: use one of ${OPEN_FLAGS.join(", ")}`);
}

export function openingOf(given: OpenFlag, place: Place): Opening {
  const flag = requireFlag(given);
  const reads: Part = { operation: "read", place };
  if (flag === "r") return { parts: [reads], bits: O_RDONLY | O_NOFOLLOW };
  if (flag === "r+") return { parts: [reads, { operation: "modify", place }], bits: O_RDWR | O_NOFOLLOW };
  const isReading = flag.endsWith("+");
  const isNew = flag.includes("x") || !place.exists;
  const writes: Part = flag.includes("x") ? { operation: "create", place } : createOrModify(place);
  const direction = isReading ? O_RDWR : O_WRONLY;
  const writing = flag.startsWith("a") ? O_APPEND : O_TRUNC;
  const making = isNew ? O_CREAT | O_EXCL : 0;
  return {
    parts: isReading ? [reads, writes] : [writes],
    bits: direction | writing | making | O_NOFOLLOW,
  };
}
