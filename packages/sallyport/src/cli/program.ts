/** Every command in one tree, and how the command line itself fails. */
import { ERROR_CODES, type ErrorCode, type PointedFault } from "@sallyport/contract";
import { Command, CommanderError } from "commander";
import { addAdminCommands } from "./admin-commands.ts";
import { addAuditCommands } from "./audit-commands.ts";
import { addCheckCommand } from "./check-commands.ts";
import { CliFault, refusedBy } from "./cli-fault.ts";
import { type CommandLine, reportFault } from "./command-line.ts";
import { addCompletionCommands } from "./completion.ts";
import { addDecideCommands } from "./decide-commands.ts";
import { addDoctorCommand } from "./doctor.ts";
import { addGrantCommands } from "./grant-commands.ts";
import { helpForm } from "./help-form.ts";
import { addLearnCommand } from "./learn-command.ts";
import { addManifestCommands } from "./manifest/manifest-commands.ts";
import { addPolicyCommands } from "./policy-commands.ts";
import { addPolicyFileCommands } from "./policy-file.ts";
import { printable } from "./printable.ts";
import { addRequestCommands } from "./request-commands.ts";
import { addRunCommand } from "./run-command.ts";
import { addUpCommand } from "./up-command.ts";
import { VERSION } from "./version.ts";

type AddCommands = (program: Command, cli: CommandLine) => void;

/** As the help lists them. */
const GROUPS: readonly (readonly [title: string, ...adding: AddCommands[]])[] = [
  ["Run:", addUpCommand, addRunCommand, addLearnCommand],
  ["Decide:", addRequestCommands, addDecideCommands, addGrantCommands],
  ["Declare and try out:", addCheckCommand, addManifestCommands],
  ["Look back:", addAuditCommands],
  ["Policy:", addPolicyCommands, addPolicyFileCommands],
  ["This machine:", addAdminCommands, addDoctorCommand, addCompletionCommands],
];

const HELP = ["help [command]", "say how a command is used"] as const;

export function buildProgram(cli: CommandLine): Command {
  const { terminal } = cli;
  const program = new Command("sallyport")
    .description("Run code that nobody fully trusts inside a declared boundary; decide what lies outside.")
    .version(VERSION)
    .enablePositionalOptions()
    .showHelpAfterError("(`--help` says how it is used)")
    .exitOverride()
    .configureHelp(helpForm(terminal))
    .configureOutput({
      // WHY: everything that this command says beside its results begins with its name.
      outputError: (text, write) => write(text.replace(/^error: /, "sallyport: ")),
      writeOut: (text) => terminal.streams.stdout.write(text),
      // INVARIANT: a wrong argument is shown in the message, and is foreign text like any other.
      writeErr: (text) => terminal.streams.stderr.write(text.split("\n").map(printable).join("\n")),
    });
  for (const [title, ...adding] of GROUPS) {
    program.commandsGroup(title);
    for (const add of adding) add(program, cli);
  }
  program.helpCommand(...HELP);
  inherit(program);
  return program;
}

/** Commands made by `command()` copy the settings of their parent only when they are made. */
function inherit(parent: Command): void {
  for (const command of parent.commands) {
    command.copyInheritedSettings(parent);
    // WHY its own: that of the parent stands under a heading of the parent.
    if (command.commands.length > 0) command.helpCommand(...HELP);
    inherit(command);
  }
}

/** One command to its end; how it ended is the exit code of the process. Never rejects. */
export async function perform(cli: CommandLine, words: readonly string[]): Promise<void> {
  try {
    await buildProgram(cli).parseAsync(words, { from: "user" });
  } catch (error) {
    const isJson = words.includes("--json") && words[0] !== "run";
    process.exitCode = usageExit(error) ?? reportFault(cli.terminal, faultOf(error), isJson);
  }
}

/** An error that carries a code of the project ends as that code does. */
function faultOf(error: unknown): unknown {
  const code: unknown =
    error instanceof CliFault ? undefined : (error as { readonly code?: unknown } | null)?.code;
  if (!(error instanceof Error) || typeof code !== "string" || !Object.hasOwn(ERROR_CODES, code))
    return error;
  const { faults = [] } = error as { readonly faults?: readonly PointedFault[] };
  const pointed = faults.map(({ pointer, message }) => `${pointer} ${message}`).join("; ");
  return refusedBy(code as ErrorCode, pointed === "" ? error.message : pointed);
}

/** The exit code where the command line itself was wrong, or only asked for help. */
function usageExit(error: unknown): number | undefined {
  if (!(error instanceof CommanderError)) return undefined;
  return error.exitCode === 0 ? 0 : 2;
}
