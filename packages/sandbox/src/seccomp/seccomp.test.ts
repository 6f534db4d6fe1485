/** The filter does with every call what its rules say, on both architectures; the numbers are the kernel's. */
import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { runFilter } from "../testing/filter-machine.ts";
import { TRAP_SETS } from "../trap-set.ts";
import {
  RETURN_ALLOW,
  RETURN_ERRNO,
  RETURN_KILL,
  RETURN_NOTIFY,
  assembleFilter,
  filterBytes,
} from "./assemble-filter.ts";
import { type FilterRule, filterRules } from "./filter-rule.ts";
import {
  ARCHITECTURES,
  AUDIT_ARCHITECTURE,
  LAST_NUMBER,
  SYSTEM_CALLS,
  type SystemCall,
  systemCallNumber,
} from "./syscall-number.ts";

const INSTRUCTIONS_MAX = 4096;
const EPERM = 1;
const EACCES = 13;
const ENOSYS = 38;

/** Calls that Debian 12's headers do not know yet. */
const NEWER: readonly SystemCall[] = [
  "fchmodat2",
  "setxattrat",
  "removexattrat",
  "file_setattr",
  "open_tree_attr",
];

function headerNumbers(header: string): ReadonlyMap<string, number> {
  const text = execFileSync(
    "cc",
    [
      "-E",
      "-dM",
      "-D__ARCH_WANT_RENAMEAT",
      "-D__ARCH_WANT_SYS_CLONE3",
      "-include",
      header,
      "-x",
      "c",
      "/dev/null",
    ],
    {
      encoding: "utf8",
    },
  );
  const lines = text.matchAll(/^#define __NR(?:3264)?_(\w+) (\d+)$/gm);
  return new Map([...lines].map(([, name = "", number]) => [name, Number(number)]));
}

test.each([
  ["x64", "asm/unistd_64.h"],
  ["arm64", "asm-generic/unistd.h"],
] as const)("the numbers of %s are those of the kernel's headers", (architecture, header) => {
  if (architecture === "x64" && process.arch !== "x64") return;
  const known = headerNumbers(header);
  expect(known.size).toBeGreaterThan(200);
  for (const call of SYSTEM_CALLS) {
    if (NEWER.includes(call) && !known.has(call)) continue;
    expect([call, systemCallNumber(call, architecture)]).toEqual([call, known.get(call)]);
  }
});

/** Of a call whose arguments are all 0. */
function plainResult(rule: FilterRule | undefined): number {
  const held = rule?.cases.find(({ when }) => when.test === "equals" && when.value === 0);
  const action = held?.action ?? rule?.otherwise ?? { kind: "allow" };
  if (action.kind === "errno") return RETURN_ERRNO | action.errno;
  return action.kind === "notify" ? RETURN_NOTIFY : RETURN_ALLOW;
}

describe.each(ARCHITECTURES)("on %s", (architecture) => {
  const result = (
    trapSet: (typeof TRAP_SETS)[number],
    call: SystemCall | number,
    args: readonly bigint[] = [],
  ) => {
    const number = typeof call === "number" ? call : systemCallNumber(call, architecture);
    if (number === undefined) return undefined;
    const filter = assembleFilter(filterRules(trapSet), architecture);
    return runFilter(filter, { number, architecture: AUDIT_ARCHITECTURE[architecture], args });
  };

  test.each(TRAP_SETS)(
    "the filter of the set `%s` fits, names each call once and ends every path",
    (trapSet) => {
      const rules = filterRules(trapSet);
      const filter = assembleFilter(rules, architecture);
      expect(filter.length).toBeLessThan(INSTRUCTIONS_MAX);
      expect(filterBytes(filter)).toHaveLength(filter.length * 8);
      expect(new Set(rules.map(({ call }) => call)).size).toBe(rules.length);
      for (let number = 0; number < 600; number++) expect(result(trapSet, number)).toBeTypeOf("number");
    },
  );

  test.each(TRAP_SETS)(
    "in the set `%s` every number gets what its rule says, any other goes on, and one that is newer than the list is not there",
    (trapSet) => {
      const rules = filterRules(trapSet);
      const filter = assembleFilter(rules, architecture);
      const numbers = Array.from({ length: 600 }, (_, number) => number);
      const given = numbers.map((number) =>
        runFilter(filter, { number, architecture: AUDIT_ARCHITECTURE[architecture] }),
      );
      const said = numbers.map((number) =>
        number > LAST_NUMBER
          ? RETURN_ERRNO | ENOSYS
          : plainResult(rules.find(({ call }) => systemCallNumber(call, architecture) === number)),
      );
      expect(given).toEqual(said);
    },
  );

  test.each(TRAP_SETS)("in the set `%s` the ways around the wall are closed", (trapSet) => {
    for (const call of ["io_uring_setup", "clone3", "openat2"] as const)
      expect([call, result(trapSet, call)]).toEqual([call, RETURN_ERRNO | ENOSYS]);
    const refused = [
      "ptrace",
      "keyctl",
      "bpf",
      "userfaultfd",
      "mount",
      "unshare",
      "setns",
      "open_by_handle_at",
    ] as const;
    for (const call of refused) expect([call, result(trapSet, call)]).toEqual([call, RETURN_ERRNO | EPERM]);
    for (const flag of [0x10000000n, 0x00020000n, 0x40000000n, 0x20000000n])
      expect(result(trapSet, "clone", [flag | 17n])).toBe(RETURN_ERRNO | EPERM);
    expect(result(trapSet, "clone", [0x01200011n])).toBe(RETURN_ALLOW);
    for (const high of [0n, 1n << 32n, 0xffffffffn << 32n]) {
      expect(result(trapSet, "ioctl", [0n, high | 0x5412n])).toBe(RETURN_ERRNO | EPERM);
      expect(result(trapSet, "ioctl", [0n, high | 0x541cn])).toBe(RETURN_ERRNO | EPERM);
      expect(result(trapSet, "socket", [high | 1n, 1n, 0n])).toBe(RETURN_ERRNO | EACCES);
    }
    for (const type of [2n, 3n, 10n, 0o2000000n | 2n, (1n << 32n) | 2n])
      expect(result(trapSet, "socketpair", [1n, type])).toBe(RETURN_ERRNO | EACCES);
    for (const type of [1n, 5n, 0o2004000n | 1n])
      expect(result(trapSet, "socketpair", [1n, type])).toBe(RETURN_ALLOW);
    expect(result(trapSet, "socketpair", [30n, 5n])).toBe(RETURN_ERRNO | 97);
    expect(result(trapSet, "ioctl", [0n, 0x5401n])).toBe(RETURN_ALLOW);
    expect(result(trapSet, "socket", [2n, 1n, 0n])).toBe(RETURN_ALLOW);
    for (const family of [16n, 17n, 40n, 38n, 0n, 44n])
      expect(result(trapSet, "socket", [family, 3n, 0n])).toBe(RETURN_ERRNO | 97);
    expect(result(trapSet, "socket", [2n, 1n, 262n])).toBe(RETURN_ERRNO | 93);
  });

  test("reads stop in `all` only, writes in `writes` too, nothing in `none`", () => {
    const reading = [0n, 0n, 0o2000000n];
    for (const flags of [0o1n, 0o2n, 0o100n, 0o1000n, 0o2000101n]) {
      expect(result("all", "openat", [0n, 0n, flags])).toBe(RETURN_NOTIFY);
      expect(result("writes", "openat", [0n, 0n, flags])).toBe(RETURN_NOTIFY);
      expect(result("none", "openat", [0n, 0n, flags])).toBe(RETURN_ALLOW);
    }
    expect(result("all", "openat", reading)).toBe(RETURN_NOTIFY);
    expect(result("writes", "openat", reading)).toBe(RETURN_ALLOW);
    for (const call of ["unlinkat", "renameat2", "fchmod", "execve", "setxattr", "truncate"] as const) {
      expect([call, result("all", call)]).toEqual([call, RETURN_NOTIFY]);
      expect([call, result("writes", call)]).toEqual([call, RETURN_NOTIFY]);
      expect([call, result("none", call)]).toEqual([call, RETURN_ALLOW]);
    }
  });

  test("attack: calls of another architecture end the program", () => {
    const filter = assembleFilter(filterRules("all"), architecture);
    for (const other of [
      0x40000003,
      0x40000028,
      0,
      ...ARCHITECTURES.filter((name) => name !== architecture).map((name) => AUDIT_ARCHITECTURE[name]),
    ])
      expect(runFilter(filter, { number: 0, architecture: other })).toBe(RETURN_KILL);
  });
});

test("attack: calls of the x32 interface are not there", () => {
  const filter = assembleFilter(filterRules("none"), "x64");
  for (const number of [0x40000000, 0x40000002, 0x40000200, 0xffffffff])
    expect(runFilter(filter, { number, architecture: AUDIT_ARCHITECTURE.x64 })).toBe(RETURN_ERRNO | ENOSYS);
});

test("a filter that is longer than a comparison can jump does what its rules say", () => {
  const rules = SYSTEM_CALLS.map((call, index): FilterRule => ({
    call,
    cases: [1, 2, 3].map((value) => ({
      when: { test: "equals", argument: 0, value },
      action: { kind: "errno", errno: value * 1000 + index },
    })),
    otherwise: index % 2 === 0 ? { kind: "notify" } : { kind: "errno", errno: EPERM },
  }));
  const filter = assembleFilter(rules, "x64");
  expect(filter.length).toBeGreaterThan(2 * 255);
  for (const { jumpTrue, jumpFalse } of filter) expect(Math.max(jumpTrue, jumpFalse)).toBeLessThan(256);
  for (const [index, { call, otherwise }] of rules.entries()) {
    const number = systemCallNumber(call, "x64");
    if (number === undefined) continue;
    const given = [0n, 1n, 2n, 3n].map((value) =>
      runFilter(filter, { number, architecture: AUDIT_ARCHITECTURE.x64, args: [value] }),
    );
    const last = otherwise.kind === "notify" ? RETURN_NOTIFY : RETURN_ERRNO | EPERM;
    const said = [1, 2, 3].map((value) => RETURN_ERRNO | (value * 1000 + index));
    expect([call, ...given]).toEqual([call, last, ...said]);
  }
  expect(runFilter(filter, { number: LAST_NUMBER - 1, architecture: AUDIT_ARCHITECTURE.x64 })).toBe(
    RETURN_ALLOW,
  );
});
