/**
 * What every command shares: its options, the terminal, the way to the owner of the data folder, and how it ends.
 * Must never end with 0 where something was refused.
 */
import { Command, InvalidArgumentError } from "commander";
import type { AdminClient } from "@sallyport/client/admin";
import { GATE_FD_VARIABLE } from "@sallyport/runtime";
import { CliFault } from "./cli-fault.ts";
import { EXIT_CODES, type ExitName } from "./exit-code.ts";
import { printable } from "./printable.ts";
import type { Terminal } from "./terminal.ts";

export interface CommonOptions {
  readonly data?: string | undefined;
  readonly json?: boolean | undefined;
}

export interface CommandLine {
  readonly terminal: Terminal;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Aborted when the person at the terminal ends the command. */
  readonly ending: AbortSignal;
  /** The administration API of whoever owns the data folder; this process for as long as it takes where nobody does. */
  withOwner<T>(options: CommonOptions, work: (admin: AdminClient) => Promise<T>): Promise<T>;
}

/** How it ended: by name, or with the code of the program that it ran. */
type Ended = ExitName | number | void;

/** A command that does something; `work` says how it ends, `done` where it says nothing. */
export interface LeafWords<Options> {
  readonly name: string;
  readonly description: string;
  /** Without `--data`: it needs no data folder. */
  readonly dataless?: boolean;
  /** What its group does where nothing else is said. */
  readonly isDefault?: boolean;
  readonly shape?: (command: Command) => Command;
  readonly run: (
    cli: CommandLine,
    options: Options & CommonOptions,
    args: readonly string[],
  ) => Promise<Ended>;
}

export function addLeaf<Options>(parent: Command, cli: CommandLine, words: LeafWords<Options>): Command {
  const isDefault = words.isDefault === true;
  const command = parent.command(words.name, { isDefault }).description(words.description);
  words.shape?.(command);
  if (words.dataless !== true)
    command.option("--data <folder>", "the data folder (or SALLYPORT_DATA; `.sallyport` unless said)");
  command.option("--json", "print JSON for programs");
  command.action(async (...given: unknown[]) => {
    if (words.dataless !== true) refuseGuardedCode(cli.env);
    const options = command.opts<Options & CommonOptions>();
    const args = given
      .slice(0, -2)
      .flat()
      .filter((one): one is string => typeof one === "string");
    const exit = (await words.run(cli, options, args)) ?? "done";
    process.exitCode = typeof exit === "number" ? exit : EXIT_CODES[exit].code;
  });
  return command;
}

/**
 * A program that was started with a gate is guarded code, and so is what it starts: it neither decides nor starts others
 * under another contract. WHY here, where it could be left out: the message. What stops it is that the service denies its
 * own places to every subject.
 */
function refuseGuardedCode(env: NodeJS.ProcessEnv): void {
  if (env[GATE_FD_VARIABLE] === undefined) return;
  throw new CliFault({
    exit: "no_authority",
    code: "permission_error",
    message: "guarded code may not decide, list, change policy or run programs under another manifest",
    next: "a person does that, outside of `sallyport run`",
  });
}

/** A command that only holds others. */
export function addGroup(parent: Command, name: string, description: string): Command {
  return parent.command(name).description(description);
}

/** Prints why a command ended, and gives its exit code. */
export function reportFault(terminal: Terminal, fault: unknown, isJson: boolean): number {
  const words =
    fault instanceof CliFault
      ? fault.words
      : { exit: "failed" as const, message: messageOf(fault), code: undefined, next: undefined };
  if (isJson) {
    const { exit, code, message, next } = words;
    terminal.json({
      ok: false,
      exit: EXIT_CODES[exit].code,
      code: code ?? exit,
      message,
      next: next ?? null,
    });
  } else {
    const code = words.code === undefined ? "" : ` [${words.code}]`;
    terminal.note(`${terminal.paint("red", "sallyport:")} ${printable(words.message)}${code}`);
    if (words.next !== undefined) terminal.note(`  ${printable(words.next)}`);
  }
  return EXIT_CODES[words.exit].code;
}

function messageOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault);
}

/** A whole number of at least one, for `--uses` and `--limit`. */
export function countOption(text: string): number {
  if (/^[1-9][0-9]{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("write a whole number of at least 1");
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `30m`, `8h`, `7d`. */
export function durationOption(text: string): number {
  const [, amount, unit] = /^([1-9][0-9]{0,5})([smhd])$/.exec(text) ?? [];
  if (amount === undefined || unit === undefined)
    throw new InvalidArgumentError("write a time such as `30m`, `8h` or `7d`");
  return Number(amount) * (UNIT_MS[unit] ?? 0);
}
