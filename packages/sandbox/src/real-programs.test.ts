/**
 * Programs that nobody wrote for a sandbox, each confined to its own folder and in need of one thing outside: refused it
 * fails with a plain error, approved it goes on and does its work.
 */
import { execFileSync } from "node:child_process";
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ExpandedRule } from "@sallyport/contract";
import type { Ruling } from "./broker.ts";
import { isWithin } from "./profile/covered-path.ts";
import { buildProgram } from "./testing/build-program.ts";
import { IDENTITIES, type Workshop, openWorkshop, rules } from "./testing/sandbox-fixture.ts";

const ALL = ["read", "create", "modify", "delete", "execute"] as const;
const MODULES = fileURLToPath(new URL("../../../node_modules/", import.meta.url));
const TSC = join(MODULES, `@typescript/typescript-linux-${process.arch}/lib/tsc`);

const PYTHON_SQLITE = `
import sqlite3, sys
store = sqlite3.connect(sys.argv[1], isolation_level=None)
for statement in sys.argv[2].split(";"):
    for row in store.execute(statement).fetchall(): print(*row)
`;

/** The shell of SQLite, or where there is none Python's. */
function sqlite(file: string, text: string): readonly string[] {
  const shell = "/usr/bin/sqlite3";
  return existsSync(shell) ? [shell, file, text] : ["/usr/bin/python3", "-Ic", PYTHON_SQLITE, file, text];
}

/** WHY the last: the one that has no rights beside its own. */
const who = IDENTITIES.at(-1) ?? { name: "", identity: undefined };
let shop: Workshop;
let programs: string;
let outside: string;
let reader: string;

function put(path: string, text: string): void {
  writeFileSync(path, text);
  if (who.identity !== undefined) chownSync(path, who.identity.uid, who.identity.gid);
}

function ownAll(folder: string): void {
  if (who.identity === undefined) return;
  for (const name of ["", ...readdirSync(folder, { recursive: true, encoding: "utf8" })])
    chownSync(join(folder, name), who.identity.uid, who.identity.gid);
}

beforeAll(async () => {
  shop = await openWorkshop(who);
  programs = mkdtempSync(join(tmpdir(), "sp-real-"));
  execFileSync("chmod", ["755", programs]);
  reader = buildProgram("static-reader.c", programs, ["-static"]);
  outside = shop.make("outside");
  put(join(outside, "text"), "from outside\n");
  put(join(outside, "part.h"), "#define PART 42\n");
  put(join(outside, "part.ts"), "export const part: number = 42;\n");
  const git = (...args: string[]): void =>
    void execFileSync("git", [
      "-c",
      "user.name=a",
      "-c",
      "user.email=a@b",
      "-C",
      join(outside, "repo"),
      ...args,
    ]);
  execFileSync("git", ["init", "-q", join(outside, "repo")]);
  writeFileSync(join(outside, "repo", "file"), "in the repository\n");
  git("add", ".");
  git("commit", "-qm", "first");
  const [make = "", ...words] = sqlite(
    join(outside, "other.db"),
    "create table t(n); insert into t values (42)",
  );
  execFileSync(make, words);
  ownAll(outside);
});
afterAll(() => {
  shop.close();
  rmSync(programs, { recursive: true, force: true });
});

interface Row {
  readonly name: string;
  readonly command: () => readonly string[];
  /** Put into the folder before. */
  readonly files?: Readonly<Record<string, () => string>>;
  readonly allow?: () => readonly ExpandedRule[];
  /** What it needs outside. */
  readonly needs: string;
  readonly stdout?: string;
  readonly makes?: readonly [name: string, text: RegExp];
}

const ROWS: readonly Row[] = [
  {
    name: "bash",
    command: () => [
      "/bin/bash",
      "--norc",
      "-c",
      `set -e; text=$(< ${outside}/text); { echo "$text"; echo two; } | tee made | wc -l; [[ -s made ]]; mkdir -p a/b; mv made a/b/`,
    ],
    needs: "text",
    stdout: "2\n",
    makes: ["a/b/made", /from outside/],
  },
  {
    name: "git",
    command: () => [
      "/bin/sh",
      "-c",
      `git clone -q --no-hardlinks ${outside}/repo copy && cd copy && echo more >> file && git -c user.name=a -c user.email=a@b commit -qam second && git log --oneline | wc -l`,
    ],
    needs: "repo",
    stdout: "2\n",
    makes: ["copy/file", /in the repository\nmore/],
  },
  {
    name: "tsc, which is one large Go program",
    command: () => [TSC, "--outDir", "made", "--rootDir", "/", "--types", "", "main.ts"],
    files: {
      "main.ts": () => `import { part } from "${outside}/part.js";\nexport const twice = part * 2;\n`,
    },
    allow: () => [
      ...rules(`${dirname(TSC)}/`, "read", "execute"),
      ...rules(join(MODULES, "../package.json"), "read"),
    ],
    needs: "part.ts",
  },
  {
    name: "a build with gcc",
    command: () => ["/bin/sh", "-c", "gcc -c main.c && gcc -o program main.o && ./program"],
    files: {
      "main.c": () =>
        `#include "${outside}/part.h"\n#include <stdio.h>\nint main(void) { printf("%d\\n", PART); return 0; }\n`,
    },
    needs: "part.h",
    stdout: "42\n",
    makes: ["program", /ELF/],
  },
  {
    name: "a static binary",
    command: () => [reader, `${outside}/text`],
    allow: () => rules(reader, "execute"),
    needs: "text",
    stdout: "from outside\nfrom outside\n",
  },
  {
    name: "sqlite",
    command: () =>
      sqlite(
        "own.db",
        `create table mine(n); attach '${outside}/other.db' as other; insert into mine select n from other.t; select n from mine`,
      ),
    needs: "other.db",
    stdout: "42\n",
    makes: ["own.db", /SQLite format 3/],
  },
];

test.each(ROWS)("$name", async ({ name, command, files = {}, allow = () => [], needs, stdout, makes }) => {
  const target = join(outside, needs);
  for (const ruling of ["deny", "allow"] as const) {
    const folder = shop.make(`${name.split(" ")[0]}-${ruling}`);
    for (const [file, text] of Object.entries(files)) put(join(folder, file), text());
    const [program = "", ...args] = command();
    const ended = await shop.run(program, args, {
      cwd: folder,
      allow: [...rules(`${folder}/`, ...ALL), ...allow()],
      env: { HOME: folder, TMPDIR: folder, GIT_CONFIG_NOSYSTEM: "1" },
      ruling: async ({ parts }): Promise<Ruling> =>
        parts.every((part) => isWithin(part.target, target)) ? ruling : "deny",
    });
    const wanted = ended.asked.filter(({ parts }) => parts.some((part) => isWithin(part.target, target)));
    expect(wanted.length, `${name}: ${ended.stderr}`).toBeGreaterThan(0);
    if (ruling === "deny") {
      expect(ended.code, name).not.toBe(0);
      if (makes !== undefined && stdout !== undefined) expect(ended.stdout).not.toBe(stdout);
    } else {
      expect({ code: ended.code, stderr: ended.stderr }, name).toEqual({ code: 0, stderr: "" });
      if (stdout !== undefined) expect(ended.stdout).toBe(stdout);
      if (makes !== undefined) expect(readFileSync(join(folder, makes[0]), "latin1")).toMatch(makes[1]);
    }
  }
});

test("nothing outside was changed by any of them", () => {
  expect(readFileSync(join(outside, "text"), "utf8")).toBe("from outside\n");
  expect(existsSync(join(outside, "other.db-journal"))).toBe(false);
  expect(statSync(join(outside, "repo", "file")).size).toBe("in the repository\n".length);
});
