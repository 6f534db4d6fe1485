/** `sallyport run` at a terminal: the program has one of its own, and the person's is as it was, whatever happened. */
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { runSocketOf } from "../../data-folder.ts";
import { type BundledCli, bundleCli } from "../../testing/cli-process.ts";
import { type Fixture, entry, openFixture } from "../../testing/sallyport-fixture.ts";
import { KEYS, type TerminalProcess, openTerminal } from "../../testing/terminal-process.ts";
import { type RunDoor, openRunDoor } from "../run-door.ts";

const CACHE = join(tmpdir(), "sallyport-cache");
const LONG = 300_000;
/** WHY: the shell would ask for its own files. */
const QUIET = ["--env", "INPUTRC=/dev/null", "--env", "HISTFILE=/dev/null"];
const PROMPT = /[$#] /;

let cli: BundledCli;
beforeAll(async () => {
  mkdirSync(CACHE, { recursive: true });
  cli = await bundleCli({ runs: true });
}, LONG);
afterAll(() => cli.remove());

let fixture: Fixture;
let door: RunDoor;
beforeEach(async () => {
  fixture = await openFixture();
  door = await openRunDoor(fixture, runSocketOf(fixture.dataFolder));
});
afterEach(async () => {
  await door.close();
  await fixture.close();
});

/** A confined shell, in a shell of the person's that does `after` when the command is over. */
async function openShell(after: string): Promise<TerminalProcess> {
  const work = join(fixture.folder, "work");
  const access = [entry("filesystem", "execute", "/usr/")];
  writeFileSync(join(work, "manifest.json"), JSON.stringify({ access }));
  const run = ["run", "--data", fixture.dataFolder, "--manifest", "manifest.json", ...QUIET];
  const args = [cli.file, ...run, "/bin/bash", "--norc", "--noprofile", "-i"];
  const around = `was=$(stty -g); "$@"; code=$?; ${after}; exit $code`;
  const terminal = await openTerminal("/bin/sh", ["-c", around, "sh", process.execPath, ...args], {
    cwd: work,
    env: { SALLYPORT_CACHE: CACHE, SALLYPORT_DATA: undefined },
  });
  await terminal.shows(PROMPT);
  return terminal;
}

/** Processes whose command line begins so and has these words. */
function processesWith(words: string, start = ""): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, "utf8");
        return line.startsWith(start) && line.includes(words);
      } catch {
        return false;
      }
    });
}

it(
  "the program has one of its own: job control, window size, ctrl-c, and the person's is as it was",
  async () => {
    const terminal = await openShell('[ "$(stty -g)" = "$was" ] && echo as it was');
    terminal.send(`stty size; tty | sed s/[0-9]*$//${KEYS.enter}`);
    await terminal.shows(/50 160\r?\n\/dev\/pts\//);
    const looker = "trap 'stty size; exit' WINCH; echo looks; while :; do sleep 0.05; done";
    terminal.send(`sh -c "${looker}"${KEYS.enter}`);
    await terminal.shows(/[\n\r]looks\r?\n/);
    terminal.resize({ columns: 170, rows: 60 });
    await terminal.shows(/60 170\r?\n/);
    const sleeper = (word: string): string => `sh -c 'echo ${word}; exec sleep 1000'${KEYS.enter}`;
    terminal.send(sleeper("begun"));
    await terminal.shows(/[\n\r]begun\r?\n/);
    terminal.send("\u001a");
    await terminal.shows(/Stopped/);
    terminal.send(`kill -9 %1; ${sleeper("again")}`);
    await terminal.shows(/[\n\r]again\r?\n/);
    terminal.send(KEYS.interrupt);
    await terminal.shows(PROMPT);
    terminal.send(`exit 5${KEYS.enter}`);
    await terminal.shows(/as it was/);
    expect(await terminal.ended).toBe(5);
    expect(terminal.text).not.toContain("no job control");
  },
  LONG,
);

it(
  "attack: the command is killed: the person's terminal is as it was, and nothing of the program is left",
  async () => {
    // WHY until: whoever puts it back hears of the death a moment later than this shell.
    const terminal = await openShell('until [ "$(stty -g)" = "$was" ]; do sleep 0.05; done; echo as it was');
    const mark = `7${process.pid}`;
    terminal.send(`setsid sleep ${mark} & sh -c 'echo begun; exec sleep ${mark}'${KEYS.enter}`);
    await terminal.shows(/[\n\r]begun\r?\n/);
    const sleepers = () => processesWith(`sleep\0${mark}`);
    await expect.poll(() => sleepers().length).toBe(2);
    // WHY the start: the shell around has the same words, behind its own.
    const [command = 0] = processesWith(cli.file, process.execPath);
    process.kill(command, "SIGKILL");
    await terminal.shows(/as it was/);
    expect(await terminal.ended).toBe(137);
    await expect.poll(sleepers).toEqual([]);
  },
  LONG,
);

it("has a terminal relay that is one file of its own", () => {
  const relay = new URL("../../../../sandbox/native/terminal/terminal-relay.c", import.meta.url);
  expect(readFileSync(relay, "utf8").split("\n").length).toBeLessThan(300);
});
