/**
 * Every call under every set of rights, as root and as an unprivileged user: a call goes through where all operations
 * that it means are allowed, and gets EACCES where one is not. What is true afterwards is looked at as well.
 */
import {
  chmodSync,
  chownSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { FileOperation } from "./profile/landlock-right.ts";
import { buildProgram } from "./testing/build-program.ts";
import { IDENTITIES, type Identity, type Workshop, openWorkshop, rules } from "./testing/sandbox-fixture.ts";

const OPERATIONS: readonly FileOperation[] = ["read", "create", "modify", "delete", "execute"];

/** What each call means, by the specification. stat, access and readlink cannot be enforced. */
const MEANING: Readonly<Record<string, readonly FileOperation[]>> = {
  stat: [],
  access: [],
  readlink: [],
  open_read: ["read"],
  open_read_through_link: ["read"],
  open_read_folder: ["read"],
  openat_place_read: ["read"],
  open_write: ["modify"],
  open_write_through_link: ["modify"],
  open_append: ["modify"],
  open_truncate: ["modify"],
  open_read_truncate: ["read", "modify"],
  open_read_write: ["read", "modify"],
  open_create_existing: ["modify"],
  open_create_new: ["create"],
  open_create_exclusive: ["create"],
  open_create_append_new: ["create"],
  open_create_truncate_new: ["create"],
  open_create_read_write_new: ["create", "read"],
  open_create_behind_link: ["create"],
  truncate: ["modify"],
  ftruncate: ["modify"],
  unlinkat: ["delete"],
  unlinkat_link: ["delete"],
  unlinkat_folder: ["delete"],
  mkdirat: ["create"],
  mknodat_file: ["create"],
  mknodat_fifo: ["create"],
  symlinkat: ["create"],
  renameat_new: ["delete", "create"],
  renameat_over: ["delete", "modify"],
  renameat_folder: ["delete", "create"],
  renameat2_no_replace: ["delete", "create"],
  renameat2_exchange: ["delete", "modify"],
  rename_into_folder: ["delete", "create"],
  linkat: ["read", "create"],
  linkat_into_folder: ["read", "create"],
  fchmodat: ["modify"],
  fchmodat2: ["modify"],
  fchmod: ["read", "modify"],
  fchownat: ["modify"],
  fchownat_link: ["modify"],
  fchown: ["read", "modify"],
  utimensat: ["modify"],
  utimensat_link: ["modify"],
  futimens: ["read", "modify"],
  setxattr: ["modify"],
  lsetxattr: ["modify"],
  fsetxattr: ["read", "modify"],
  removexattr: ["modify"],
  execve: ["execute"],
  execveat: ["execute"],
  execve_link: ["execute"],
  ...(process.arch === "x64"
    ? ({
        open: ["read"],
        creat_new: ["create"],
        creat_existing: ["modify"],
        unlink: ["delete"],
        rmdir: ["delete"],
        mkdir: ["create"],
        mknod: ["create"],
        symlink: ["create"],
        link: ["read", "create"],
        rename_new: ["delete", "create"],
        rename_over: ["delete", "modify"],
        chmod: ["modify"],
        chown: ["modify"],
        lchown: ["modify"],
        utime: ["modify"],
        utimes: ["modify"],
      } as const)
    : {}),
};

const SUBSETS: readonly (readonly FileOperation[])[] = Array.from(
  { length: 1 << OPERATIONS.length },
  (_, bits) => OPERATIONS.filter((_operation, index) => (bits & (1 << index)) !== 0),
);

const EACCES = 13;
let programs: string;
let callProgram: string;

beforeAll(() => {
  programs = mkdtempSync(join(tmpdir(), "sp-matrix-"));
  chmodSync(programs, 0o755);
  callProgram = buildProgram("call-program.c", programs);
});
afterAll(() => rmSync(programs, { recursive: true, force: true }));

/** The files of every call, in a fresh folder. */
function furnish(shop: Workshop, { identity }: Identity, name: string): string {
  const root = shop.make(name);
  const own = (path: string): void => {
    if (identity !== undefined) chownSync(path, identity.uid, identity.gid);
  };
  for (const call of Object.keys(MEANING)) {
    const place = shop.make(`${name}/${call}`);
    for (const file of ["f", "g"]) writeFileSync(join(place, file), "content");
    mkdirSync(join(place, "d"));
    symlinkSync("f", join(place, "s"));
    symlinkSync("n", join(place, "h"));
    if (call.startsWith("execve")) copyFileSync("/bin/true", join(place, "x"));
    for (const file of ["f", "g", "d"]) own(join(place, file));
  }
  symlinkSync("execve_link/x", join(root, "execve_link_target"));
  return root;
}

/** Calls that leave no trace where they are allowed. */
const TRACELESS: ReadonlySet<string> = new Set(
  Object.keys(MEANING).filter((call) =>
    (MEANING[call] ?? []).every((operation) => operation === "read" || operation === "execute"),
  ),
);

/** What stands in the folder of a call, with whatever a change would change. */
function traces(root: string, call: string): readonly string[] {
  const place = join(root, call);
  return ["", ...readdirSync(place, { recursive: true, encoding: "utf8" })].toSorted().map((name) => {
    const path = join(place, name);
    const { ino, mode, uid, gid, size, nlink, mtimeNs, ctimeNs } = lstatSync(path, { bigint: true });
    const isLink = (Number(mode) & 0o170_000) === 0o120_000;
    const held = isLink ? readlinkSync(path) : (Number(mode) & 0o170_000) === 0o100_000 ? textOf(path) : "";
    return [name, ino, mode, uid, gid, size, nlink, mtimeNs, ctimeNs, held].join(" ");
  });
}

/** A program is as good as its size. */
const textOf = (path: string): string => (path.endsWith("/x") ? "" : readFileSync(path, "latin1"));

describe.each(IDENTITIES)("as $name", (who) => {
  let shop: Workshop;
  let lines: readonly (readonly string[])[];
  let changed: readonly ReadonlySet<string>[];
  /** WHY one process: each set of rights has a folder of its own, and one program makes every call in every folder. */
  beforeAll(async () => {
    shop = await openWorkshop(who);
    const roots = SUBSETS.map((held) => furnish(shop, who, held.join("-") || "nothing"));
    const allow = [
      ...roots.flatMap((root, index) => rules(`${root}/`, ...(SUBSETS[index] ?? []))),
      ...rules(callProgram, "execute"),
    ];
    const calls = Object.keys(MEANING);
    const before = roots.map((root) => calls.map((call) => traces(root, call)));
    const { stdout, stderr, code } = await shop.run(callProgram, roots, { allow });
    expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
    changed = roots.map(
      (root, at) =>
        new Set(
          calls.filter((call, index) => traces(root, call).join("\n") !== before[at]?.[index]?.join("\n")),
        ),
    );
    lines = stdout
      .trim()
      .split("\n")
      .map((line) => line.split(" "));
  });
  afterAll(() => shop.close());

  test.each(SUBSETS.map((held, index) => ({ held, index, name: held.join(" and ") || "nothing" })))(
    "with $name each call does exactly what is allowed",
    ({ held, index }) => {
      const found = Object.fromEntries(
        lines.filter(([root]) => Number(root) === index).map(([, call = "", error]) => [call, Number(error)]),
      );
      const expected = Object.fromEntries(
        Object.entries(MEANING).map(([call, meaning]) => [
          call,
          meaning.every((operation) => held.includes(operation)) ? 0 : EACCES,
        ]),
      );
      expect(found).toEqual(expected);
      const left = Object.keys(MEANING).filter((call) => expected[call] === 0 && !TRACELESS.has(call));
      expect([...(changed[index] ?? [])].toSorted()).toEqual(left.toSorted());
    },
  );
});
