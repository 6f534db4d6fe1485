/**
 * Completion scripts in the shells themselves. Bash is on every machine that runs these tests. Where zsh or fish is not
 * installed its script is read as text by the rules of that shell: that shows what it would offer, and not that the shell
 * takes it; on machines that have the shell the same lines are completed by it.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BundledCli, bundleCli, runCli } from "../testing/cli-process.ts";
import { KEYS, openTerminal } from "../testing/terminal-process.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];
type Completer = (words: readonly string[]) => readonly string[];

let cli: BundledCli;
let folder: string;
const files = new Map<Shell, string>();
const scripts = new Map<Shell, string>();
beforeAll(async () => {
  cli = await bundleCli();
  folder = mkdtempSync(join(tmpdir(), "sallyport-completion-"));
  for (const shell of SHELLS) {
    const { code, stdout } = await runCli(cli, ["completion", shell], { cwd: folder });
    expect([shell, code]).toEqual([shell, 0]);
    const file = join(folder, `completion.${shell}`);
    writeFileSync(file, stdout);
    files.set(shell, file);
    scripts.set(shell, stdout);
  }
});
afterAll(() => {
  cli.remove();
  rmSync(folder, { recursive: true, force: true });
});

const isInstalled = (shell: Shell): boolean => spawnSync(shell, ["-c", "exit 0"]).status === 0;

function ran(shell: Shell, program: string): readonly string[] {
  const { status, stdout, stderr } = spawnSync(shell, ["-c", program], { encoding: "utf8", cwd: folder });
  expect([shell, status, stderr]).toEqual([shell, 0, ""]);
  return stdout.split("\n").filter((line) => line !== "");
}

const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(" ");

/** Asks the shell itself. */
const IN_THE_SHELL: Readonly<Record<Shell, Completer>> = {
  bash: (words) =>
    ran(
      "bash",
      `source ${files.get("bash")}; COMP_WORDS=(sallyport ${quoted(words)}); COMP_CWORD=${words.length}; _sallyport; printf '%s\\n' "\${COMPREPLY[@]}"`,
    ),
  // WHY `_describe` is ours: what it is given is what zsh would offer; it filters by what is typed, as we do here.
  zsh: (words) =>
    ran(
      "zsh",
      `compdef() { :; }; _describe() { print -rl -- \${(P)2}; }; source ${files.get("zsh")}; words=(sallyport ${quoted(words)}); CURRENT=${words.length + 1}; _sallyport`,
    )
      .map((line) => line.split(":")[0] ?? "")
      .filter((word) => word.startsWith(words.at(-1) ?? "")),
  fish: (words) =>
    ran("fish", `source ${files.get("fish")}; complete -C ${quoted([`sallyport ${words.join(" ")}`])}`).map(
      (line) => line.split("\t")[0] ?? "",
    ),
};

/** Reads the script by the rules of the shell. */
const AS_TEXT: Readonly<Record<"zsh" | "fish", Completer>> = {
  zsh: (words) => {
    const script = scripts.get("zsh") ?? "";
    let place = "sallyport";
    for (const word of words.slice(0, -1))
      if (script.includes(`"${place} ${word}") place=`)) place = `${place} ${word}`;
    const [, entries = ""] = new RegExp(`"${place}"\\) entries=\\((.*)\\) ;;`).exec(script) ?? [];
    return [...entries.matchAll(/(?:^| )'([a-z-]+):/g)]
      .map(([, word]) => word ?? "")
      .filter((word) => word.startsWith(words.at(-1) ?? ""));
  },
  fish: (words) => {
    const seen = new Set(words.slice(0, -1));
    const holds = (condition: string): boolean =>
      condition.split("; and ").every((part) => {
        const named = part.replace(/^not /, "").split(" ").slice(1);
        return named.some((word) => seen.has(word)) !== part.startsWith("not ");
      });
    return [...(scripts.get("fish") ?? "").matchAll(/-n '([^']*)' (?:-f -a (\S+)|-l (\S+))/g)]
      .filter(([, condition = ""]) => holds(condition))
      .map(([, , word, option]) => word ?? `--${option}`)
      .filter((word) => word.startsWith(words.at(-1) ?? ""));
  },
};

const completer = (shell: Shell): Completer =>
  shell === "bash" || isInstalled(shell) ? IN_THE_SHELL[shell] : AS_TEXT[shell];

const COMMANDS =
  "up run requests approve deny grants revoke audit check manifest session mode rules policy admin freeze doctor";

describe.each(SHELLS)("completion in %s", (shell) => {
  it("offers every command, and what is typed narrows it", () => {
    const complete = completer(shell);
    expect(complete([""])).toEqual(expect.arrayContaining(COMMANDS.split(" ")));
    expect(complete(["man"])).toEqual(["manifest"]);
  });

  it("goes down the commands, and offers nothing that stands beside them", () => {
    const complete = completer(shell);
    expect(complete(["manifest", ""])).toEqual(expect.arrayContaining(["init", "lint", "test", "explain"]));
    expect(complete(["manifest", ""])).not.toContain("approve");
    expect(complete(["audit", "ver"])).toEqual(["verify"]);
    expect(complete(["audit", "verify", "se"])).toEqual([]);
  });

  it("offers the options of the command, also behind another option", () => {
    const complete = completer(shell);
    expect(complete(["requests", "--subject-n"])).toEqual(["--subject-name"]);
    expect(complete(["requests", "--json", "--subject-n"])).toEqual(["--subject-name"]);
    expect(complete(["approve", "--subject-n"])).toEqual([]);
  });
});

it("a person presses Tab in bash, and the command stands there", async () => {
  const terminal = await openTerminal("bash", ["--norc", "-i"], { cwd: folder, env: { PS1: "ready> " } });
  try {
    await terminal.shows(/ready> /);
    terminal.send(`source ${files.get("bash")} && echo loaded-$((40 + 2))${KEYS.enter}`);
    await terminal.shows(/loaded-42/);
    terminal.send("sallyport manif\t");
    await terminal.shows(/sallyport manifest /);
  } finally {
    terminal.kill();
    await terminal.ended;
  }
});
