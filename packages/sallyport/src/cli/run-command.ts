/**
 * `sallyport run`: starts a program with its own end of the gate. The program is `tool:local.<digest of its manifest>` by
 * the socket that it inherits, whatever its environment says. Where nobody owns the data folder this process does, for as
 * long as the program runs. Not a wall yet: what does not ask is not stopped.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type Socket, connect } from "node:net";
import { constants } from "node:os";
import { dirname, resolve } from "node:path";
import type { Duplex } from "node:stream";
import { GATE_FD_VARIABLE } from "@sallyport/runtime";
import type { Command } from "commander";
import { CliFault } from "./cli-fault.ts";
import { type CommandLine, type CommonOptions, addLeaf } from "./command-line.ts";
import { runSocketOf } from "../data-folder.ts";
import { dataFolderOf } from "./data-place.ts";
import { readDoorLine } from "./door-line.ts";
import { openRunOwner } from "./owner.ts";
import { tryingSocket } from "./socket-fetch.ts";
import type { RunAnswer, RunWords } from "./run-door.ts";

interface RunOptions extends CommonOptions {
  readonly manifest?: string;
  readonly root?: string;
  readonly session?: string;
  readonly task?: string;
  readonly wait: boolean;
}

export function addRunCommand(program: Command, cli: CommandLine): void {
  addLeaf<RunOptions>(program, cli, {
    name: "run",
    description: "run a program with a gate of its own; what it did not declare asks",
    shape: (command) =>
      command
        .passThroughOptions()
        .argument("<program>", "the program")
        .argument("[args...]", "its arguments")
        .option("--manifest <file>", "what it declares; nothing unless said")
        .option(
          "--root <folder>",
          "where its relative targets start (the folder of the manifest unless said)",
        )
        .option("--session <key>", "a session key (one of this run unless said)")
        .option("--task <id>", "a task id, for the record")
        .option("--no-wait", "never let it wait for a person"),
    run: (line, options, [name = "", ...args]) => runProgram(line, options, name, args),
  });
}

async function runProgram(
  cli: CommandLine,
  options: RunOptions,
  name: string,
  args: readonly string[],
): Promise<number> {
  const words = wordsOf(cli, options);
  const folder = dataFolderOf(cli, options);
  const socketPath = runSocketOf(folder);
  const owner = (await tryingSocket(socketPath)) === "answers" ? undefined : await openRunOwner(folder);
  try {
    const gate = await gateFrom(socketPath, words, cli, options);
    return await supervised(cli, gate, name, args);
  } finally {
    await owner?.close();
  }
}

function wordsOf(cli: CommandLine, options: RunOptions): RunWords {
  const file = options.manifest === undefined ? undefined : resolve(cli.cwd, options.manifest);
  const root = resolve(cli.cwd, options.root ?? (file === undefined ? "." : dirname(file)));
  return {
    manifest: file === undefined ? '{"access":[]}' : manifestText(file),
    root,
    sessionKey: options.session ?? null,
    taskId: options.task ?? null,
    interactive: options.wait,
  };
}

function manifestText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    throw new CliFault({
      exit: "not_found",
      message: `\`${file}\` cannot be read`,
      next: "`sallyport manifest init` writes a manifest to begin with",
    });
  }
}

async function gateFrom(
  socketPath: string,
  words: RunWords,
  cli: CommandLine,
  options: CommonOptions,
): Promise<Socket> {
  const socket = connect(socketPath);
  await once(socket, "connect");
  socket.write(`${JSON.stringify(words)}\n`);
  const answer = (await readDoorLine(socket)) as RunAnswer;
  if (!answer.ok) {
    socket.destroy();
    throw new CliFault({
      exit: "invalid",
      code: "invalid_manifest",
      message: answer.message,
      next: "`sallyport manifest lint` shows every fault",
    });
  }
  const { subject, sessionKey } = answer;
  if (options.json === true) cli.terminal.note(JSON.stringify({ subject, session_key: sessionKey }));
  else
    cli.terminal.note(
      cli.terminal.paint(
        "dim",
        cli.terminal.shown(`running as ${subject.type} ${subject.name}, session ${sessionKey}`),
      ),
    );
  return socket;
}

const STOPPED_BY_SIGNAL = 128;
const NOT_STARTED = 127;
const GATE_FD = 3;

/** The exit code of the program, as a shell would give it. */
async function supervised(
  cli: CommandLine,
  gate: Socket,
  name: string,
  args: readonly string[],
): Promise<number> {
  const { SALLYPORT_DATA: _data, ...env } = cli.env;
  const child = spawn(name, [...args], {
    cwd: cli.cwd,
    stdio: ["inherit", "inherit", "inherit", "pipe"],
    env: { ...env, [GATE_FD_VARIABLE]: String(GATE_FD) },
  });
  const end = child.stdio[GATE_FD] as unknown as Duplex;
  for (const side of [gate, end]) side.on("error", () => gate.destroy());
  gate.pipe(end).pipe(gate);
  const stop = forwarded(child);
  try {
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    if (signal !== null) return STOPPED_BY_SIGNAL + (constants.signals[signal] ?? 0);
    return code ?? 1;
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
    cli.terminal.note(
      `sallyport: ${cli.terminal.shown(`\`${name}\` ${missing ? "is not there" : "cannot be started"}`)}`,
    );
    return NOT_STARTED;
  } finally {
    stop();
    gate.destroy();
  }
}

const stays = (): void => undefined;

/** WHY: on a terminal ctrl-c reaches the program by itself; this process stays to see it end. */
function forwarded(child: ChildProcess): () => void {
  const terminate = (): void => void child.kill("SIGTERM");
  process.on("SIGINT", stays).on("SIGTERM", terminate);
  return () => process.off("SIGINT", stays).off("SIGTERM", terminate);
}
