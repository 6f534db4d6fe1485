/** What the flags of an open mean, and that what is opened is what was checked. */
import { constants } from "node:fs";
import { describe, expect, it } from "vitest";
import { endingOf, flagBits, openingOf } from "./open-flags.ts";

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_RDWR, O_TRUNC, O_WRONLY } = constants;
const place = (exists: boolean) => ({ path: "/a", requested: "/a", exists });
const operations = (flags: string | number, exists: boolean): readonly string[] =>
  openingOf(flagBits(flags) as number, place(exists)).parts.map(({ operation }) => operation);

it.each<[string | number, readonly string[], readonly string[]]>([
  ["r", ["read"], ["read"]],
  ["rs", ["read"], ["read"]],
  ["r+", ["read", "modify"], ["read", "modify"]],
  ["w", ["modify"], ["create"]],
  ["wx", ["create"], ["create"]],
  ["w+", ["read", "modify"], ["read", "create"]],
  ["wx+", ["read", "create"], ["read", "create"]],
  ["a", ["modify"], ["create"]],
  ["a+", ["read", "modify"], ["read", "create"]],
  ["ax", ["create"], ["create"]],
  [O_RDONLY | O_TRUNC, ["read", "modify"], ["read", "modify"]],
  [O_RDONLY | O_CREAT, ["read"], ["read", "create"]],
  [O_WRONLY, ["modify"], ["modify"]],
])("`%s` means %j of what is there, and %j of what is not", (flags, there, missing) => {
  expect([operations(flags, true), operations(flags, false)]).toEqual([there, missing]);
});

describe("what is opened", () => {
  it("is new where it was checked as new, and there where it was checked as there", () => {
    const bits = O_CREAT | O_TRUNC | O_RDWR | O_APPEND;
    expect(openingOf(bits, place(false)).bits).toBe(O_CREAT | O_EXCL | O_RDWR | O_APPEND | O_NOFOLLOW);
    expect(openingOf(bits, place(true)).bits).toBe(O_RDWR | O_APPEND | O_NOFOLLOW);
  });

  it("is emptied only afterwards, and only where it was there", () => {
    const bits = O_CREAT | O_TRUNC | O_WRONLY;
    expect([openingOf(bits, place(true)).empties, openingOf(bits, place(false)).empties]).toEqual([
      true,
      false,
    ]);
    expect(openingOf(bits, place(true)).bits & O_TRUNC).toBe(0);
  });

  it("is looked at again where the place has changed, unless the caller asked for the error", () => {
    expect(openingOf(O_CREAT | O_WRONLY, place(false)).isMoved("EEXIST")).toBe(true);
    expect(openingOf(O_CREAT | O_EXCL | O_WRONLY, place(false)).isMoved("EEXIST")).toBe(false);
    expect(openingOf(O_RDONLY, place(true)).isMoved("ELOOP")).toBe(true);
    expect(openingOf(O_RDONLY | O_NOFOLLOW, place(true)).isMoved("ELOOP")).toBe(false);
    expect(openingOf(O_RDONLY, place(true)).isMoved("ENOENT")).toBe(false);
  });
});

it("an exclusive open, and one that follows no links, look at the name itself", () => {
  expect([endingOf(O_CREAT | O_EXCL), endingOf(O_NOFOLLOW), endingOf(O_CREAT), endingOf(O_EXCL)]).toEqual([
    "keep",
    "keep",
    "follow",
    "follow",
  ]);
});

it.each(["", "rw", "constructor", "__proto__", 1.5, Number.NaN, {}, 0o20200000, 0o10000000])(
  "`%s` opens nothing that can be checked",
  (flags) => {
    expect(flagBits(flags)).toBeUndefined();
  },
);
