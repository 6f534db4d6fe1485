/** The lesser trap sets on the real kernel, where Landlock decides silently; and real programs in all of them. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TRAP_SETS } from "./trap-set.ts";
import { IDENTITIES, type Workshop, openWorkshop, rules } from "./testing/sandbox-fixture.ts";

const ALL = ["read", "create", "modify", "delete"] as const;

describe.each(IDENTITIES)("as $name", (who) => {
  let shop: Workshop;
  beforeAll(async () => {
    shop = await openWorkshop(who);
  });
  afterAll(() => shop.close());

  test("in `writes` a read outside is refused by Landlock without a question, and a write is asked", async () => {
    const outside = shop.make("writes-outside");
    writeFileSync(join(outside, "file"), "secret");
    const { stdout, asked } = await shop.shell(`cat ${outside}/file; echo x > ${outside}/new`, {
      rules: { trapSet: "writes" },
      ruling: "allow",
    });
    expect(stdout).toBe("");
    expect(asked.flatMap(({ parts }) => parts)).toEqual([
      { operation: "create", target: join(outside, "new"), exists: false },
    ]);
    expect(readFileSync(join(outside, "new"), "utf8")).toBe("x\n");
  });

  test("in `none` nothing is asked: Landlock and the read-only view hold alone", async () => {
    const inside = shop.make("none-inside");
    const outside = shop.make("none-outside");
    const file = join(outside, "file");
    writeFileSync(file, "secret");
    const script = `cat ${file}; echo x > ${file}; echo x > ${outside}/new; rm ${file}; chmod 777 ${file}; touch ${file}; echo y > ${inside}/new; mkdir ${inside}/d; mv ${inside}/new ${inside}/d/; cat ${inside}/d/new`;
    const { stdout, asked, stderr } = await shop.shell(script, {
      allow: rules(`${inside}/`, ...ALL),
      rules: { trapSet: "none" },
      ruling: "allow",
    });
    expect({ stdout, asked }).toEqual({ stdout: "y\n", asked: [] });
    expect(stderr).toContain("Read-only file system");
    expect(readFileSync(file, "utf8")).toBe("secret");
    expect(existsSync(join(outside, "new"))).toBe(false);
  });

  describe.each(TRAP_SETS)("in `%s`", (trapSet) => {
    test("attack: what may only be read is emptied by calls that ask for no right to write", async () => {
      const folder = shop.make(`emptied-${trapSet}`);
      const work = shop.make(`emptied-${trapSet}-work`);
      const file = join(folder, "file");
      writeFileSync(file, "kept", { mode: 0o666 });
      // O_RDONLY | O_TRUNC, and truncate by name.
      const script = `import os
for empty in (lambda: os.open("${file}", 512), lambda: os.truncate("${file}", 0)):
  try: print(empty())
  except OSError as error: print(error.strerror)`;
      const { stdout } = await shop.run("/usr/bin/python3", ["-c", script], {
        allow: [...rules(`${folder}/`, "read"), ...rules(`${work}/`, ...ALL)],
        rules: { trapSet },
      });
      expect(stdout).toMatch(/^(?:(?:Permission denied|Read-only file system)\n){2}$/);
      expect(readFileSync(file, "utf8")).toBe("kept");
    });

    test("git makes a repository and a commit within its folder", async () => {
      const folder = shop.make(`git-${trapSet}`);
      const script = `git init -q . && echo text > file && git add file && git -c user.name=a -c user.email=a@b commit -qm first && git log --format=%s && git status --short`;
      const { stdout, stderr, code, asked } = await shop.shell(script, {
        allow: rules(`${folder}/`, ...ALL),
        rules: { trapSet, codeRoots: [] },
        cwd: folder,
        env: { HOME: folder, GIT_CONFIG_NOSYSTEM: "1" },
      });
      expect({ stdout, stderr, code }).toEqual({ stdout: "first\n", stderr: "", code: 0 });
      expect(asked).toEqual([]);
    });

    test("a C program is compiled, and started where that is allowed", async () => {
      const folder = shop.make(`cc-${trapSet}`);
      writeFileSync(
        join(folder, "hello.c"),
        `#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n`,
      );
      const { stdout, stderr } = await shop.shell(`cc -o hello hello.c && ./hello`, {
        allow: rules(`${folder}/`, ...ALL, "execute"),
        rules: { trapSet },
        cwd: folder,
        env: { TMPDIR: folder },
      });
      expect({ stdout, stderr }).toEqual({ stdout: "hello\n", stderr: "" });
      const { stdout: blocked } = await shop.shell(`./hello || echo refused`, {
        allow: rules(`${folder}/`, ...ALL),
        rules: { trapSet },
        cwd: folder,
      });
      expect(blocked).toBe("refused\n");
    });
  });
});
