/**
 * `sallyport run`: starts a program as `tool:local.<digest of its manifest>`, or as a registered subject, behind the wall of
 * the kernel. Where nobody owns the data folder this process does, for as long as the program runs.
 * INVARIANT: without the wall only where the person says `--no-sandbox`, which is said and on record.
 */
import { TRAP_SETS, type ProcessLimits, type TrapSet } from "@sallyport/sandbox";
import { type Command, InvalidArgumentError, Option } from "commander";
import { CliFault } from "./cli-fault.ts";
import { type CommandLine, type CommonOptions, addLeaf, durationOption } from "./command-line.ts";
import { runSocketOf } from "../data-folder.ts";
import { dataFolderOf } from "./data-place.ts";
import { openRunOwner } from "./owner.ts";
import { runConfined } from "./run/confined-run.ts";
import { runPlain } from "./run/plain-run.ts";
import { programForm } from "./run/program-form.ts";
import { codeOption, codeRoots, manifestSource } from "./run/program-source.ts";
import type { RunIdentity, RunTerms } from "./run/run-terms.ts";
import { tryingSocket } from "./socket-fetch.ts";
import type { RunWords } from "./run-door.ts";

interface RunOptions extends CommonOptions {
  readonly manifest?: string;
  readonly subject?: { readonly type: string; readonly name: string };
  readonly root?: string;
  readonly session?: string;
  readonly task?: string;
  readonly wait: boolean;
  readonly waitTime: number;
  readonly sandbox: boolean;
  readonly requireSandbox?: boolean;
  readonly guard: boolean;
  readonly nodePermission?: boolean;
  readonly trap: TrapSet;
  readonly code: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly limit: ProcessLimits;
  readonly wall?: number;
}

const WAIT_MS = 600_000;
const NOT_STARTED = 127;

export function addRunCommand(program: Command, cli: CommandLine): void {
  addLeaf<RunOptions>(program, cli, {
    name: "run",
    description: "run a program behind the wall; what it did not declare waits for a person",
    shape: (command) =>
      command
        .passThroughOptions()
        .argument("<program>", "the program")
        .argument("[args...]", "its arguments")
        .option("--manifest <file>", "what it declares; nothing unless said")
        .option("--subject <type:name>", "a registered subject to run as", subjectOption)
        .option(
          "--root <folder>",
          "where its relative targets start (the folder of the manifest unless said)",
        )
        .option("--session <key>", "a session key (one of this run unless said)")
        .option("--task <id>", "a task id, for the record")
        .option("--no-wait", "never let it wait for a person")
        .addOption(waitOption())
        .option("--no-sandbox", "without the wall: the guard only where Node runs it, else nothing")
        .option("--require-sandbox", "refuse to run with less than the wall; always so in mode `untrusted`")
        .option("--no-guard", "do not preload the guard where Node runs it")
        .option("--node-permission", "also Node's own permission model, made from what is declared")
        .addOption(trapOption())
        .option("--code <folder>", "a folder of its own code, read without a question", codeOption, [])
        .option("--env <name[=value]>", "a variable to hand on", envOption, {})
        .option(
          "--limit <name=number>",
          "processes, open-files, file-bytes, memory-bytes, cpu-seconds",
          limitOption,
          {},
        )
        .option("--wall <time>", "end it after this time", durationOption),
    run: (line, options, [name = "", ...args]) => runProgram(line, options, name, args),
  });
}

async function runProgram(
  cli: CommandLine,
  options: RunOptions,
  name: string,
  args: readonly string[],
): Promise<number> {
  if (options.requireSandbox === true && !options.sandbox)
    throw new CliFault({
      exit: "usage",
      message: "`--require-sandbox` and `--no-sandbox` exclude each other",
    });
  const words = wordsOf(cli, options);
  const folder = dataFolderOf(cli, options);
  const socketPath = runSocketOf(folder);
  const program = programForm(name, args, cli);
  if (program === undefined) {
    cli.terminal.note(`sallyport: ${cli.terminal.shown(`\`${name}\` is not there or cannot be started`)}`);
    return NOT_STARTED;
  }
  const owner = (await tryingSocket(socketPath)) === "answers" ? undefined : await openRunOwner(folder);
  const terms: RunTerms = {
    cli,
    dataFolder: folder,
    socketPath,
    words,
    program,
    announce: (who) => announce(cli, options, who),
    trapSet: options.trap,
    limits: options.limit,
    wallMs: options.wall ?? 0,
    waitMs: options.waitTime,
    isGuarded: options.guard,
    hasNodePermission: options.nodePermission,
    codeRoots: codeRoots(cli.cwd, options.code),
    env: options.env,
  };
  try {
    return await (options.sandbox ? runConfined(terms) : runPlain(terms));
  } finally {
    await owner?.close();
  }
}

function wordsOf(cli: CommandLine, options: RunOptions): RunWords {
  const { text: manifest, root } = manifestSource(cli.cwd, options);
  return {
    manifest,
    root,
    subject: options.subject ?? null,
    sessionKey: options.session ?? null,
    taskId: options.task ?? null,
    interactive: options.wait,
    learns: false,
  };
}

function announce(cli: CommandLine, options: RunOptions, { subject, sessionKey }: RunIdentity): void {
  const { terminal } = cli;
  const wall = options.sandbox ? "" : ", without the wall: what does not ask is not stopped";
  if (options.json === true)
    terminal.note(JSON.stringify({ subject, session_key: sessionKey, sandbox: options.sandbox }));
  else
    terminal.note(
      terminal.paint(
        "dim",
        terminal.shown(`running as ${subject.type} ${subject.name}, session ${sessionKey}${wall}`),
      ),
    );
}

function waitOption(): Option {
  return new Option("--wait-time <time>", "how long a call waits for a person")
    .argParser(durationOption)
    .default(WAIT_MS, "10m");
}

function trapOption(): Option {
  return new Option("--trap <set>", "which operations stop and can be asked about")
    .choices([...TRAP_SETS])
    .default("all");
}

function subjectOption(text: string): RunOptions["subject"] {
  const at = text.indexOf(":");
  if (at < 1) throw new InvalidArgumentError("write a type and a name, such as `tool:demo.reader`");
  return { type: text.slice(0, at), name: text.slice(at + 1) };
}

function envOption(text: string, before: RunOptions["env"]): RunOptions["env"] {
  const at = text.indexOf("=");
  const name = at < 0 ? text : text.slice(0, at);
  if (name === "") throw new InvalidArgumentError("write a name, or a name and a value: `NAME=value`");
  const value = at < 0 ? process.env[name] : text.slice(at + 1);
  return value === undefined ? before : { ...before, [name]: value };
}

const LIMITS = {
  processes: "processesMax",
  "open-files": "openFilesMax",
  "file-bytes": "fileBytesMax",
  "memory-bytes": "memoryBytesMax",
  "cpu-seconds": "cpuSecondsMax",
} as const satisfies Readonly<Record<string, keyof ProcessLimits>>;

function limitOption(text: string, before: ProcessLimits): ProcessLimits {
  const [, name = "", value = ""] = /^([a-z-]+)=([1-9][0-9]{0,14})$/.exec(text) ?? [];
  if (!Object.hasOwn(LIMITS, name))
    throw new InvalidArgumentError(
      `write one of ${Object.keys(LIMITS).join(", ")} and a number: \`processes=64\``,
    );
  return { ...before, [LIMITS[name as keyof typeof LIMITS]]: Number(value) };
}
