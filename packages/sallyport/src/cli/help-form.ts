/** How `--help` reads: short terms, so that descriptions stand beside them, and what holds unless something is said. */
import type { Command, HelpConfiguration, Option } from "commander";
import type { Terminal } from "./terminal.ts";

const TERM_LENGTH_MAX = 24;

export function helpForm(terminal: Terminal): HelpConfiguration {
  return {
    subcommandTerm,
    optionDescription,
    styleTitle: (title) => terminal.paint("bold", title),
    styleSubcommandText: (name) => terminal.paint("cyan", name),
    styleOptionText: (flags) => terminal.paint("cyan", flags),
  };
}

/** A command with its arguments, and by its name alone where that would push all descriptions aside. */
function subcommandTerm(command: Command): string {
  const args = command.registeredArguments.map((argument) => {
    const word = `${argument.name()}${argument.variadic ? "…" : ""}`;
    return argument.required ? `<${word}>` : `[${word}]`;
  });
  const term = [command.name(), ...args].join(" ");
  return term.length <= TERM_LENGTH_MAX ? term : command.name();
}

function optionDescription({
  description,
  argChoices,
  defaultValue,
  defaultValueDescription,
}: Option): string {
  const choices = argChoices === undefined ? "" : `: ${argChoices.join(", ")}`;
  const isPlain = typeof defaultValue === "string" || typeof defaultValue === "number";
  const usual = defaultValueDescription ?? (isPlain ? String(defaultValue) : undefined);
  return `${description}${choices}${usual === undefined ? "" : ` (${usual} unless said)`}`;
}
