/** Ways around the rules through files: links, names, descriptors, /proc, and what changes while a person decides. */
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { spawnConfined } from "./spawn-confined.ts";
import { IDENTITIES, PROGRAMS, type Workshop, openWorkshop, rules } from "./testing/sandbox-fixture.ts";
import { TRAP_SETS } from "./trap-set.ts";
import type { TrappedCall } from "./trapped-call.ts";

const CHANGES = ["read", "create", "modify", "delete"] as const;

/** Operations and targets that were asked about. */
function partsOf(calls: readonly TrappedCall[]): readonly (readonly [string, string])[] {
  return calls.flatMap(({ parts }) => parts.map(({ operation, target }) => [operation, target] as const));
}

describe.each(IDENTITIES)("as $name", (who) => {
  let shop: Workshop;
  let inside: string;
  let outside: string;
  let round = 0;

  beforeAll(async () => {
    shop = await openWorkshop(who);
  });
  afterAll(() => shop.close());

  const furnish = (): void => {
    round++;
    inside = shop.make(`${round}/inside`);
    outside = shop.make(`${round}/outside`);
    for (const folder of [inside, outside])
      put(join(folder, "file"), folder === outside ? "secret" : "harmless");
  };
  const put = (path: string, content: string): void => {
    writeFileSync(path, content);
    if (who.identity !== undefined) chownSync(path, who.identity.uid, who.identity.gid);
  };
  const within = () => rules(`${inside}/`, ...CHANGES);

  test("attack: a link in a writable folder that leads out is judged where it leads", async () => {
    furnish();
    symlinkSync(join(outside, "file"), join(inside, "link"));
    const { asked, stderr } = await shop.shell(`echo x > ${inside}/link; cat ${inside}/link`, {
      allow: within(),
    });
    expect(partsOf(asked)).toEqual([
      ["modify", join(outside, "file")],
      ["read", join(outside, "file")],
    ]);
    expect(stderr).toContain("Permission denied");
    expect(readFileSync(join(outside, "file"), "utf8")).toBe("secret");
  });

  test("a link that the program puts where it has just opened a file is asked about, and not refused unasked", async () => {
    furnish();
    const script = `import os
for round in range(40):
  name = "${inside}/" + str(round)
  with open(name, "w") as file: file.write("own")
  for again in range(3): os.close(os.open(name, os.O_RDONLY))
  os.unlink(name)
  os.symlink("${outside}/file", name)
  try: os.open(name, os.O_RDONLY)
  except PermissionError: pass`;
    const { asked, code } = await shop.run("/usr/bin/python3", ["-c", script], { allow: within() });
    expect(code).toBe(0);
    expect(partsOf(asked)).toEqual(Array.from({ length: 40 }, () => ["read", join(outside, "file")]));
  });

  test("attack: a path that is swapped for a link while a person decides is not written", async () => {
    furnish();
    const folder = join(outside, "asked");
    mkdirSync(folder);
    put(join(folder, "file"), "asked about");
    const { stderr } = await shop.shell(`echo x > ${folder}/file`, {
      ruling: async () => {
        renameSync(folder, `${folder}.old`);
        symlinkSync(inside, folder);
        return "allow";
      },
    });
    expect(stderr).toContain("Permission denied");
    expect(readFileSync(join(inside, "file"), "utf8")).toBe("harmless");
    expect(readFileSync(`${folder}.old/file`, "utf8")).toBe("asked about");
  });

  test("attack: a file that is replaced while a person decides is not opened", async () => {
    furnish();
    const path = join(outside, "file");
    const { stdout, stderr } = await shop.shell(`cat ${path}`, {
      ruling: async () => {
        put(`${path}.other`, "another secret");
        renameSync(`${path}.other`, path);
        return "allow";
      },
    });
    expect(stdout).toBe("");
    expect(stderr).toContain("Permission denied");
  });

  test("attack: a file that appears while its creation is decided is not overwritten", async () => {
    furnish();
    const path = join(outside, "new");
    await shop.shell(`echo x > ${path}`, {
      ruling: async () => {
        put(path, "somebody else's");
        return "allow";
      },
    });
    expect(readFileSync(path, "utf8")).toBe("somebody else's");
  });

  test("attack: a rename that was approved as a creation replaces nothing", async () => {
    furnish();
    const path = join(outside, "new");
    await shop.shell(`mv ${inside}/file ${path}`, {
      allow: within(),
      ruling: async ({ parts }) => {
        if (!existsSync(path)) put(path, "somebody else's");
        return parts.some(({ operation }) => operation === "modify") ? "deny" : "allow";
      },
    });
    expect(readFileSync(path, "utf8")).toBe("somebody else's");
  });

  test("attack: a hard link to a file outside needs the right to read it, and to modify it where the new name gives that", async () => {
    furnish();
    const { asked } = await shop.shell(`ln ${outside}/file ${inside}/stolen`, { allow: within() });
    expect(partsOf(asked)).toEqual([
      ["read", join(outside, "file")],
      ["modify", join(outside, "file")],
    ]);
    expect(existsSync(join(inside, "stolen"))).toBe(false);
  });

  test("attack: a rename into a readable folder needs the right to read at the old name", async () => {
    furnish();
    const allow = [...rules(`${outside}/`, "delete"), ...rules(`${inside}/`, "read", "create")];
    const { asked } = await shop.shell(`mv ${outside}/file ${inside}/stolen`, { allow });
    expect(partsOf(asked)).toContainEqual(["read", join(outside, "file")]);
    expect(readFileSync(join(outside, "file"), "utf8")).toBe("secret");
  });

  test("attack: a whole folder moved into a readable one needs the right to read all of it", async () => {
    furnish();
    const allow = [
      ...rules(`${shop.folder}/${round}/outside/`, "delete"),
      ...rules(`${inside}/`, "read", "create"),
    ];
    mkdirSync(join(outside, "folder"));
    const { asked } = await shop.shell(`mv ${outside}/folder ${inside}/stolen`, { allow });
    expect(partsOf(asked)).toContainEqual(["read", join(outside, "folder")]);
    expect(existsSync(join(outside, "folder"))).toBe(true);
  });

  test("attack: a folder above a protected file is not renamed away", async () => {
    furnish();
    const { asked } = await shop.shell(`mv ${outside} ${outside}.moved`, { allow: within() });
    expect(partsOf(asked)).toContainEqual(["delete", outside]);
    expect(existsSync(join(outside, "file"))).toBe(true);
  });

  test("attack: `..` behind a link goes where the kernel goes", async () => {
    furnish();
    mkdirSync(join(outside, "deep"));
    symlinkSync(join(outside, "deep"), join(inside, "link"));
    const { asked, stdout } = await shop.shell(`cat ${inside}/link/../file; cat ${inside}/../outside/file`, {
      allow: within(),
    });
    expect(partsOf(asked)).toEqual([
      ["read", join(outside, "file")],
      ["read", join(outside, "file")],
    ]);
    expect(stdout).toBe("");
  });

  test("attack: ways through /proc lead to nothing that is not allowed", async () => {
    furnish();
    const paths = [
      `/proc/self/root${outside}/file`,
      `/proc/self/cwd/${round}/outside/file`,
      `/proc/thread-self/root${outside}/file`,
      `/proc/1/root${outside}/file`,
      `/proc/1/environ`,
      `/proc/1/mem`,
      `/proc/1/fd/0`,
    ];
    for (const path of paths) {
      const { stdout, code } = await shop.shell(`cat ${path}`, { allow: within() });
      expect({ path, stdout, code }).toEqual({ path, stdout: "", code: 1 });
    }
    const script = `echo x > /proc/self/root${outside}/file; echo x > /proc/sys/kernel/core_pattern`;
    await shop.shell(script, { allow: within() });
    expect(readFileSync(join(outside, "file"), "utf8")).toBe("secret");
  });

  test("attack: no way up from the root, nor through pid 1, leads to the tree that the view covers", async () => {
    // WHY a link: below the view none is followed.
    const ups = ["", "/..", "/../..", "/usr/../..", "/proc/self/root/..", "/proc/1/root", "/proc/1/cwd"];
    const followed = ups.map((up) => `test -x ${up}/proc/self/exe && echo followed at ${up}/`);
    const { stdout } = await shop.shell(
      `awk '$5 == "/"' /proc/self/mountinfo | wc -l; ${followed.join("; ")}`,
    );
    expect(stdout.trim().split("\n")).toEqual(["1", ...ups.slice(0, 5).map((up) => `followed at ${up}/`)]);
  });

  test("attack: processes outside are neither seen nor signalled", async () => {
    const { stdout } = await shop.shell(`kill -0 ${process.pid} && echo reached; ls -d /proc/${process.pid}`);
    expect(stdout).toBe("");
  });

  test("attack: a descriptor that the launcher inherited does not reach the program", async () => {
    furnish();
    const wrapper = join(shop.make(`${round}/wrapper`), "launcher");
    const { launcher = "" } = shop.sandbox.facts;
    writeFileSync(wrapper, `#!/bin/sh\nexec 9<${outside}/file\nexec ${launcher} "$@"\n`);
    chmodSync(wrapper, 0o755);
    const { child } = spawnConfined(wrapper, "/bin/sh", ["-c", "cat <&9; ls /proc/self/fd"], {
      confinement: shop.confine(PROGRAMS),
      decide: async () => "deny",
      cwd: inside,
      identity: who.identity,
    });
    let output = "";
    child.stdout?.on("data", (text: Buffer) => (output += text.toString()));
    await new Promise((resolve) => child.once("close", resolve));
    expect(output.trim().split("\n")).toEqual(["0", "1", "2", "3"]);
  });

  test("attack: Sallyport's own folder is not seen, read or filled, whatever the rules say", async () => {
    furnish();
    const script = `ls -A ${outside}; cat ${outside}/file; echo x > ${outside}/new; echo x > ${outside}/file`;
    const { stdout } = await shop.shell(script, {
      allow: rules(`${shop.folder}/`, ...CHANGES),
      rules: { ownPlaces: [outside] },
      ruling: "allow",
    });
    expect(stdout).toBe("");
    expect(readdirSync(outside)).toEqual(["file"]);
    expect(readFileSync(join(outside, "file"), "utf8")).toBe("secret");
  });

  test.each(["a rule of its own", "an approval"])(
    "attack: a folder that is opened by %s leads to nothing that is hidden",
    async (by) => {
      furnish();
      const own = shop.make(`${round}/inside/own`);
      put(join(own, "key"), "secret");
      // WHY O_PATH: such an open uses nothing and goes on; of the next one, through /proc, Landlock alone decides.
      const script = `import os
listed = os.open("${outside}", os.O_RDONLY)
print("listed", os.listdir(listed))
for way in "../inside/own/key", "../../../../proc/${process.pid}/cmdline":
  for flags in os.O_RDONLY, os.O_WRONLY | os.O_TRUNC:
    try: print(os.open("/proc/self/fd/%d" % os.open(way, os.O_PATH, dir_fd=listed), flags))
    except OSError as error: print(error.strerror)
os.fchdir(listed)
print(os.access("../inside/file", os.R_OK), os.access("../inside/own/key", os.F_OK))`;
      const { stdout, stderr } = await shop.run("/usr/bin/python3", ["-c", script], {
        allow: [...within(), ...(by === "an approval" ? [] : rules(outside, "read"))],
        rules: { ownPlaces: [own] },
        ruling: by === "an approval" ? "allow" : "deny",
      });
      expect(stderr).toBe("");
      const [denied, missing] = ["Permission denied", "No such file or directory"];
      const lines = ["listed ['file']", denied, denied, missing, missing, "True False"];
      expect(stdout.trim().split("\n")).toEqual(lines);
      expect(readFileSync(join(own, "key"), "utf8")).toBe("secret");
    },
  );

  test.each(TRAP_SETS)(
    "attack: a file that came as a stream and may only be read is not truncated (%s)",
    async (trapSet) => {
      furnish();
      const stream = openSync(join(outside, "file"), "r");
      const script = `import os
for flags in os.O_RDONLY, os.O_WRONLY, os.O_RDWR, 3:
  try: print(os.open("/proc/self/fd/0", flags | os.O_TRUNC))
  except OSError as error: print(error.strerror)
try: os.truncate("/proc/self/fd/0", 0)
except OSError as error: print(error.strerror)`;
      const { stdout } = await shop.run("/usr/bin/python3", ["-c", script], {
        allow: rules(`${outside}/`, "read"),
        rules: { trapSet },
        stdio: [stream, "pipe", "pipe"],
      });
      closeSync(stream);
      expect(stdout).toBe("Permission denied\n".repeat(5));
      expect(readFileSync(join(outside, "file"), "utf8")).toBe("secret");
    },
  );

  test("attack: a folder as a stream would lead out of the view, and starts nothing", () => {
    furnish();
    const folder = openSync(outside, "r");
    for (const stream of [folder, { fd: folder }])
      expect(() => shop.start("/bin/true", [], { stdio: [stream as number, "pipe", "pipe"] })).toThrow(
        "a stream of a confined program is a folder",
      );
    closeSync(folder);
  });

  test("attack: what is withheld inside an allowed folder is asked, also when it appears later", async () => {
    furnish();
    const withheld = rules(join(inside, "later"), "create", "read");
    const { asked } = await shop.shell(`echo x > ${inside}/later; cat ${inside}/file`, {
      allow: within(),
      rules: { withheld },
    });
    expect(partsOf(asked)).toEqual([
      ["create", join(inside, "later")],
      ["read", join(inside, "file")],
    ]);
    expect(existsSync(join(inside, "later"))).toBe(false);
  });

  test("attack: names with line breaks, quotes and controls arrive as they are; names that are no text are refused", async () => {
    furnish();
    const name = `a"b\\c\nd\u202ee\u0001f`;
    put(join(outside, name), "x");
    const { asked } = await shop.run("/bin/cat", [join(outside, name)]);
    expect(partsOf(asked)).toEqual([["read", join(outside, name)]]);
    const { asked: unasked, stderr } = await shop.shell(`cd ${outside}; printf x > "$(printf 'n\\377')"`, {
      ruling: "allow",
    });
    expect(unasked).toEqual([]);
    expect(stderr).toContain("Permission denied");
    expect(readdirSync(outside).toSorted()).toEqual(["file", name].toSorted());
  });

  test("attack: the launcher in a writable folder is not started", () => {
    furnish();
    const launcher = join(inside, "launcher");
    linkOrCopy(shop.sandbox.facts.launcher ?? "", launcher);
    const confinement = shop.confine(within());
    const options = { confinement, decide: async () => "deny" as const, cwd: inside };
    expect(() => spawnConfined(launcher, "/bin/true", [], options)).toThrow(
      "a rule allows changes to the launcher",
    );
    rmSync(launcher);
  });
});

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    writeFileSync(to, readFileSync(from));
  }
}
