/**
 * Every command of a shell under every set of rights, as root and as an unprivileged user: it succeeds exactly where all
 * operations that its own calls mean are allowed. The calls one by one are in `operation-matrix.test.ts`.
 */
import { chownSync, copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { FileOperation } from "./profile/landlock-right.ts";
import { IDENTITIES, type Identity, type Workshop, openWorkshop, rules } from "./testing/sandbox-fixture.ts";

const OPERATIONS: readonly FileOperation[] = ["read", "create", "modify", "delete", "execute"];

/** In each folder: f and g (files), d (a folder with a file), s (a link to f), x (a program). Nothing is called n. */
const MEANING: Readonly<Record<string, readonly FileOperation[]>> = {
  "stat f": [],
  "test -f f": [],
  "readlink s": [],
  "cat f": ["read"],
  "cat s": ["read"],
  "head -c 1 f": ["read"],
  "grep -q content f": ["read"],
  "cmp f g": ["read"],
  "ls d": ["read"],
  "find d -name nothing": ["read"],
  "sha256sum f": ["read"],
  "mkdir n": ["create"],
  "mkdir -p n/m": ["create"],
  "mkfifo n": ["create"],
  "ln -s f n": ["create"],
  "echo x > n": ["create"],
  "echo x >> n": ["create"],
  "echo x | tee n": ["create"],
  "echo x > f": ["modify"],
  "echo x >> f": ["modify"],
  "echo x >> s": ["modify"],
  "truncate -s 1 f": ["modify"],
  "chmod 600 f": ["modify"],
  "touch f": ["modify"],
  "rm -f f": ["delete"],
  "unlink s": ["delete"],
  "rmdir d/e": ["delete"],
  "./x": ["execute"],
  "cp f n": ["read", "create"],
  "cp f g": ["read", "modify"],
  "ln f n": ["read", "create"],
  "dd if=f of=n": ["read", "create"],
  "mktemp n.XXXXXX": ["read", "create"],
  "touch n": ["create", "modify"],
  "mv f n": ["create", "delete"],
  "mv -f f g": ["modify", "delete"],
  "rm -r d": ["read", "delete"],
  "tar -cf n f": ["read", "create"],
  "sed -i s/c/d/ f": ["read", "create", "modify", "delete"],
};
const COMMANDS = Object.keys(MEANING);

const SUBSETS: readonly (readonly FileOperation[])[] = Array.from(
  { length: 1 << OPERATIONS.length },
  (_, bits) => OPERATIONS.filter((_operation, index) => (bits & (1 << index)) !== 0),
);

function furnish(shop: Workshop, { identity }: Identity, name: string): string {
  for (const index of COMMANDS.keys()) {
    const place = shop.make(`${name}/${index}`);
    for (const file of ["f", "g"]) writeFileSync(join(place, file), "content");
    mkdirSync(join(place, "d"));
    mkdirSync(join(place, "d/e"));
    symlinkSync("f", join(place, "s"));
    copyFileSync("/bin/true", join(place, "x"));
    if (identity !== undefined)
      for (const file of ["f", "g", "d", "d/e"]) chownSync(join(place, file), identity.uid, identity.gid);
  }
  return shop.make(name);
}

describe.each(IDENTITIES)("as $name", (who) => {
  let shop: Workshop;
  let lines: readonly string[];
  beforeAll(async () => {
    shop = await openWorkshop(who);
    const roots = SUBSETS.map((held) => furnish(shop, who, held.join("-") || "nothing"));
    const allow = roots.flatMap((root, index) => rules(`${root}/`, ...(SUBSETS[index] ?? [])));
    const each = COMMANDS.map(
      (command, index) =>
        `(cd $1/${index} && { ${command}; }) > /dev/null 2>&1 && echo $2 ${index} || echo $2 ${index} no`,
    );
    const script = `all() {\n${each.join("\n")}\n}\n${roots.map((root, index) => `all ${root} ${index}`).join("\n")}`;
    const { stdout, stderr, code } = await shop.shell(script, { allow });
    expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
    lines = stdout.trim().split("\n");
  });
  afterAll(() => shop.close());

  test.each(SUBSETS.map((held, index) => ({ held, index, name: held.join(" and ") || "nothing" })))(
    "with $name each command succeeds exactly where all it does is allowed",
    ({ held, index }) => {
      const succeeded = COMMANDS.filter((_, at) => lines.includes(`${index} ${at}`));
      const expected = COMMANDS.filter((command) =>
        (MEANING[command] ?? []).every((operation) => held.includes(operation)),
      );
      expect(succeeded).toEqual(expected);
    },
  );
});
