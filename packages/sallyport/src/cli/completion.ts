/**
 * `sallyport completion bash|zsh|fish`: scripts that know every command and option, made from the commands themselves.
 * They run no program and read no store: completing a line must never have an effect.
 */
import type { Command } from "commander";
import { type CommandLine, type CommonOptions, addGroup, addLeaf } from "./command-line.ts";

interface Node {
  /** From the program down, without its name. */
  readonly path: readonly string[];
  readonly words: readonly { readonly word: string; readonly about: string }[];
}

export function addCompletionCommands(program: Command, cli: CommandLine): void {
  const group = addGroup(program, "completion", "print a completion script for a shell");
  for (const [shell, script, hint] of [
    ["bash", bashScript, 'eval "$(sallyport completion bash)"'],
    ["zsh", zshScript, 'eval "$(sallyport completion zsh)"'],
    ["fish", fishScript, "sallyport completion fish | source"],
  ] as const)
    addLeaf<CommonOptions>(group, cli, {
      name: shell,
      description: `for ${shell}: \`${hint}\``,
      dataless: true,
      run: async (line, options) => {
        const text = script(nodesOf(program));
        if (options.json === true) line.terminal.json({ shell, script: text });
        else line.terminal.streams.stdout.write(text);
      },
    });
}

function nodesOf(command: Command, path: readonly string[] = []): readonly Node[] {
  const commands = command.commands.map((one) => ({ word: one.name(), about: one.description() }));
  const options = command.options.flatMap(({ long, description }) =>
    long === undefined || long === null ? [] : [{ word: long, about: description }],
  );
  const help = { word: "--help", about: "say how it is used" };
  const own = { path, words: [...commands, ...options, help] };
  return [own, ...command.commands.flatMap((one) => nodesOf(one, [...path, one.name()]))];
}

/** A pattern for `case`: words of ours are letters and dashes. */
const key = ({ path }: Node): string => ["sallyport", ...path].join(" ");

function bashScript(nodes: readonly Node[]): string {
  const cases = nodes
    .map(
      (node) =>
        `    ${JSON.stringify(key(node))}) words="${node.words.map(({ word }) => word).join(" ")}" ;;`,
    )
    .join("\n");
  return `# bash completion for sallyport
_sallyport() {
  local current="\${COMP_WORDS[COMP_CWORD]}" place="sallyport" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$place $word" in
${nodes
  .filter(({ path }) => path.length > 0)
  .map((node) => `      ${JSON.stringify(key(node))}) place="$place $word" ;;`)
  .join("\n")}
    esac
  done
  case "$place" in
${cases}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o default -F _sallyport sallyport
`;
}

function zshScript(nodes: readonly Node[]): string {
  const cases = nodes
    .map(
      (node) =>
        `    ${JSON.stringify(key(node))}) entries=(${node.words.map(({ word, about }) => quote(`${word.replaceAll(":", "\\:")}:${about}`)).join(" ")}) ;;`,
    )
    .join("\n");
  return `#compdef sallyport
_sallyport() {
  local place="sallyport" word
  local -a entries
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$place $word" in
${nodes
  .filter(({ path }) => path.length > 0)
  .map((node) => `      ${JSON.stringify(key(node))}) place="$place $word" ;;`)
  .join("\n")}
    esac
  done
  case "$place" in
${cases}
  esac
  _describe 'sallyport' entries || _files
}
compdef _sallyport sallyport
`;
}

function fishScript(nodes: readonly Node[]): string {
  const lines = nodes.flatMap(({ path, words }) => {
    const condition =
      path.length === 0
        ? "__fish_use_subcommand"
        : path.map((word) => `__fish_seen_subcommand_from ${word}`).join("; and ");
    return words.map(({ word, about }) => {
      const what = word.startsWith("--") ? `-l ${word.slice(2)}` : `-a ${word}`;
      return `complete -c sallyport -n ${quote(condition)} ${what} -d ${quote(about)}`;
    });
  });
  return `# fish completion for sallyport\n${lines.join("\n")}\n`;
}

/** Single quotes of a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
