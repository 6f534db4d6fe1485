/** What rules compile to, as text that can be read; and the rules that cannot be enforced, by their fault. */
import { describe, expect, test } from "vitest";
import type { ExpandedRule } from "@sallyport/contract";
import { SAMPLE_MACHINE } from "../testing/sample-profile.ts";
import { TRAP_SETS, type TrapSet } from "../trap-set.ts";
import { type ProfileInput, compileProfile } from "./compile-profile.ts";
import type { Confinement } from "./confinement.ts";
import type { FileOperation } from "./landlock-right.ts";
import { SYSTEM_DEVICES } from "./system-place.ts";

const on = (target: string, ...operations: readonly FileOperation[]): readonly ExpandedRule[] =>
  operations.map((operation) => ({ resourceType: "filesystem", operation, target }));

const compile = (allow: readonly ExpandedRule[], more: Partial<ProfileInput> = {}) =>
  compileProfile({ ...SAMPLE_MACHINE, ...more, allow });

function confinement(allow: readonly ExpandedRule[], more: Partial<ProfileInput> = {}): Confinement {
  const compiled = compile(allow, more);
  if (!compiled.ok) throw new Error(compiled.faults.map(({ message }) => message).join("\n"));
  return compiled.confinement;
}

const faults = (allow: readonly ExpandedRule[], more: Partial<ProfileInput> = {}): readonly string[] => {
  const compiled = compile(allow, more);
  return compiled.ok ? [] : compiled.faults.map(({ code }) => code);
};

const RIGHTS =
  "execute write read list remove_dir remove_file make_char make_dir make_reg make_sock make_fifo make_block make_sym refer truncate ioctl".split(
    " ",
  );

/** Grants with what Landlock holds of them, rights by name, and places. Devices are left out. */
function golden({ grants, rights, writable, masks, notEnforced }: Confinement): string {
  const isOwn = ({ path }: { readonly path: string }): boolean => !SYSTEM_DEVICES.includes(path);
  const named = (bits: bigint): string =>
    RIGHTS.filter((_, index) => (bits & (1n << BigInt(index))) !== 0n).join(" ");
  return [
    ...grants.filter(isOwn).map(({ path, reach, operations, landlocked }) => {
      const held =
        landlocked.length === operations.length ? "" : ` (landlock: ${landlocked.join(" ") || "nothing"})`;
      return `grant    ${path}${reach === "tree" ? "/" : ""}: ${operations.join(" ")}${held}`;
    }),
    ...rights.filter(isOwn).map(({ path, rights: bits }) => `landlock ${path}: ${named(bits)}`),
    ...writable.map((path) => `writable ${path}`),
    ...masks.map((path) => `mask     ${path}`),
    `missing  ${notEnforced.join(" ")}`,
  ].join("\n");
}

describe("golden profiles", () => {
  test("nothing declared: only what the loader needs", () => {
    expect(golden(confinement([]))).toBe(
      `
grant    /usr/: read
grant    /etc/ld.so.cache: read (landlock: nothing)
landlock /usr: execute read list truncate
mask     /users/ann/.ssh
mask     /var/sallyport
missing  stat interpreter_choice execute_race`.trim(),
    );
  });

  test("a work folder, a single file and a program", () => {
    const allow: readonly ExpandedRule[] = [
      ...on("/data/", "read", "create", "modify", "delete"),
      ...on("/etc/app.conf", "read", "modify"),
      { resourceType: "system_dependency", operation: "execute", target: "git" },
    ];
    expect(golden(confinement(allow))).toBe(
      `
grant    /data/: read create modify delete
grant    /usr/: read
grant    /etc/app.conf: read modify (landlock: nothing)
grant    /usr/bin/git: execute
grant    /etc/ld.so.cache: read (landlock: nothing)
landlock /data: execute write read list remove_dir remove_file make_dir make_reg make_fifo make_sym truncate
landlock /usr: execute read list truncate
landlock /usr/bin/git: execute read
writable /data
mask     /users/ann/.ssh
mask     /var/sallyport
missing  stat interpreter_choice execute_race`.trim(),
    );
  });

  test("create alone, a folder that is not there yet, and a secret that a rule reaches into", () => {
    const allow = [
      ...on("/out/", "create"),
      ...on("/missing/", "modify"),
      ...on("/users/ann/.ssh/config.d/", "read"),
    ];
    expect(golden(confinement(allow, { systemReads: [] }))).toBe(
      `
grant    /out/: create
grant    /missing/: modify (landlock: nothing)
grant    /users/ann/.ssh/config.d/: read (landlock: nothing)
landlock /out: make_dir make_reg make_fifo make_sym
writable /out
mask     /var/sallyport
missing  stat interpreter_choice execute_race`.trim(),
    );
  });

  test("without traps Landlock alone holds a folder, and renames between folders are its own", () => {
    const allow = [...on("/data/", "read", "create", "modify", "delete"), ...on("/etc/app.conf", "read")];
    expect(golden(confinement(allow, { trapSet: "none", systemReads: ["/usr/"] }))).toBe(
      `
grant    /data/: read create modify delete
grant    /usr/: read
grant    /etc/app.conf: read
landlock /data: write read list remove_dir remove_file make_dir make_reg make_fifo make_sym refer truncate
landlock /usr: read list
landlock /etc/app.conf: read list
writable /data
mask     /users/ann/.ssh
mask     /var/sallyport
missing  stat interpreter_choice read_not_asked write_not_asked execute_not_asked destructive_not_recorded`.trim(),
    );
  });
});

test("the right to truncate goes along with reads only where all that is writable may be modified, and where calls stop", () => {
  const TRUNCATE = 1n << 14n;
  const given = (allow: readonly ExpandedRule[], trapSet: TrapSet): boolean => {
    const { rights } = confinement([...on("/docs/", "read"), ...allow], { trapSet });
    return ((rights.find(({ path }) => path === "/docs")?.rights ?? 0n) & TRUNCATE) !== 0n;
  };
  const readable = (...allow: readonly ExpandedRule[]): boolean => given(allow, "all");
  expect(TRAP_SETS.map((trapSet) => [trapSet, given([], trapSet)])).toEqual([
    ["all", true],
    ["writes", true],
    ["none", false],
  ]);
  expect(readable(...on("/data/", "read", "create", "modify", "delete"))).toBe(true);
  for (const operation of ["create", "delete"] as const)
    expect([operation, readable(...on("/data/", "read", "modify"), ...on("/out/", operation))]).toEqual([
      operation,
      false,
    ]);
});

test("what is withheld inside an allowed folder leaves no grant that covers it", () => {
  const withheld = on("/data/secret/", "read");
  const { grants, rights } = confinement(on("/data/", "read", "modify"), { withheld, systemReads: [] });
  expect(grants.find(({ path }) => path === "/data")?.operations).toEqual(["modify"]);
  expect(rights.find(({ path }) => path === "/data")?.rights).toBe((1n << 1n) | (1n << 14n));
});

test("what is withheld altogether leaves nothing, for the system's own places as well", () => {
  const { grants } = confinement(on("/data/file.txt", "read"), { withheld: on("/", "read") });
  expect(grants.filter(({ path }) => !SYSTEM_DEVICES.includes(path))).toEqual([]);
});

test("`/data/app` is not `/data/application`", () => {
  const { grants } = confinement(on("/data/app/", "read"), { withheld: on("/data/application/", "read") });
  expect(grants.some(({ path }) => path === "/data/app")).toBe(true);
});

test("a gateway is written down, with the loopback ports that rules name", () => {
  const network = [
    "http://localhost:3000/x",
    "127.0.0.1:5432",
    "[::1]:5432",
    "http://localhost",
    "other.test:1",
  ];
  const allow = network.map((target): ExpandedRule => ({
    resourceType: "network",
    operation: "receive",
    target,
  }));
  const { forwardedPorts, enforcedBy, ...rest } = confinement(allow, { network: "gateway" });
  expect(forwardedPorts).toEqual([3000, 5432, 80]);
  expect(enforcedBy).toEqual(["landlock", "seccomp", "namespaces", "gateway"]);
  expect(rest.network).toBe("gateway");
  expect(confinement([])).toMatchObject({ network: "none", forwardedPorts: [] });
});

test("a lesser trap set is written down", () => {
  const missing = (trapSet: TrapSet) => confinement([], { trapSet, systemReads: ["/usr/"] }).notEnforced;
  expect(missing("all")).not.toContain("read_not_asked");
  expect(missing("writes")).toContain("read_not_asked");
  expect([...missing("all"), ...missing("writes")]).not.toContain("destructive_not_recorded");
  expect(missing("none")).toContain("destructive_not_recorded");
  expect(missing("none")).toEqual(expect.arrayContaining(["read_not_asked", "write_not_asked"]));
  for (const trapSet of ["all", "writes", "none"] as const)
    expect(missing(trapSet)).toEqual(expect.arrayContaining(["stat", "interpreter_choice"]));
});

test("a start that may not be read is written down", () => {
  const program: readonly ExpandedRule[] = on("/opt/bin/tool", "execute");
  expect(confinement(program, { trapSet: "writes" }).notEnforced).toContain("execute_implies_read");
  expect(confinement(program, { trapSet: "all" }).notEnforced).toContain("execute_implies_read");
  expect(confinement([]).notEnforced).not.toContain("execute_implies_read");
});

describe("a rule that cannot be enforced here is a fault", () => {
  test("network, while there is no gateway", () => {
    const rule: ExpandedRule = {
      resourceType: "network",
      operation: "receive",
      target: "https://example.com",
    };
    expect(faults([rule])).toEqual(["network_without_gateway"]);
    expect(faults([rule], { network: "gateway" })).toEqual([]);
    const wall = { ...SAMPLE_MACHINE.wall, hasCapture: false };
    expect(faults([], { network: "gateway", wall })).toEqual(["network_without_gateway"]);
    expect(faults([], { wall })).toEqual([]);
  });
  test("the local host without a port, because the program has a loopback of its own", () => {
    const rule: ExpandedRule = { resourceType: "network", operation: "connect", target: "localhost" };
    expect(faults([rule], { network: "gateway" })).toEqual(["loopback_without_port"]);
    expect(faults([{ ...rule, target: "exa mple.com" }], { network: "gateway" })).toEqual(["bad_rule"]);
  });
  test("create without modify, where nothing stops at the supervisor", () => {
    expect(faults(on("/out/", "create"), { trapSet: "none" })).toEqual(["create_without_modify"]);
    expect(faults(on("/out/", "create"), { trapSet: "writes" })).toEqual([]);
  });
  test("one path that is not a file, or not there, or may be made", () => {
    expect(faults(on("/folder", "read"), { trapSet: "writes" })).toEqual(["single_path_without_traps"]);
    expect(faults(on("/missing.txt", "read"), { trapSet: "none" })).toEqual(["single_path_without_traps"]);
    expect(faults(on("/some.txt", "create"), { trapSet: "none" })).toEqual(["single_path_without_traps"]);
    expect(faults(on("/some.txt", "read"), { trapSet: "none" })).toEqual([]);
  });
  test("a folder that is not there yet, where its use does not stop", () => {
    expect(faults(on("/missing/", "read"), { trapSet: "writes" })).toEqual(["missing_without_traps"]);
    expect(faults(on("/missing/", "modify"), { trapSet: "writes" })).toEqual([]);
  });
  test("an exception inside a folder, where its use does not stop", () => {
    const withheld = on("/data/secret", "read");
    expect(faults(on("/data/", "read"), { trapSet: "writes", withheld })).toEqual([
      "exception_without_traps",
    ]);
    expect(faults(on("/data/", "read"), { trapSet: "all", withheld })).toEqual([]);
  });
  test("a start of what may not be read, in every trap set", () => {
    const withheld = on("/data/secret/", "read");
    for (const trapSet of ["all", "writes", "none"] as const)
      expect(faults(on("/data/", "execute"), { trapSet, withheld })).toContain("execute_without_read");
    expect(faults(on("/other/", "execute"), { withheld })).toEqual([]);
  });
  test("a wall with a layer missing", () => {
    const wall = { landlockVersion: 0, hasNamespaces: false, hasNotification: false, hasCapture: false };
    expect(faults([], { wall })).toEqual(["no_landlock", "no_namespaces", "no_notification"]);
    expect(faults([], { wall: { ...SAMPLE_MACHINE.wall, landlockVersion: 2 } })).toEqual([
      "landlock_too_old",
    ]);
  });
  test("a target that is no path", () => {
    expect(faults(on("data/../x", "read"))).toEqual(["bad_rule"]);
  });
});
