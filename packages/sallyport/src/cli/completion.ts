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
const key = ({ path }: Node): string => JSON.stringify(["sallyport", ...path].join(" "));

/** For bash and zsh: walks the words of the line down the commands, as far as they are commands. */
function placeLoop(nodes: readonly Node[], words: string): string {
  const steps = nodes
    .filter(({ path }) => path.length > 0)
    .map((node) => `      ${key(node)}) place="$place $word" ;;`);
  return `  for word in ${words}; do
    case "$place $word" in
${steps.join("\n")}
    esac
  done`;
}

/** For bash and zsh: what can stand where the walk has led. */
function placeCases(nodes: readonly Node[], answer: (node: Node) => string): string {
  const cases = nodes.map((node) => `    ${key(node)}) ${answer(node)} ;;`);
  return `  case "$place" in
${cases.join("\n")}
  esac`;
}

function bashScript(nodes: readonly Node[]): string {
  return `# bash completion for sallyport
_sallyport() {
  local current="\${COMP_WORDS[COMP_CWORD]}" place="sallyport" word words=""
${placeLoop(nodes, '"${COMP_WORDS[@]:1:COMP_CWORD-1}"')}
${placeCases(nodes, ({ words }) => `words="${words.map(({ word }) => word).join(" ")}"`)}
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o default -F _sallyport sallyport
`;
}

function zshScript(nodes: readonly Node[]): string {
  const entry = ({ word, about }: Node["words"][number]): string =>
    quote(`${word.replaceAll(":", "\\:")}:${about}`);
  return `#compdef sallyport
_sallyport() {
  local place="sallyport" word
  local -a entries
${placeLoop(nodes, '"${(@)words[2,CURRENT-1]}"')}
${placeCases(nodes, ({ words }) => `entries=(${words.map(entry).join(" ")})`)}
  _describe 'sallyport' entries || _files
}
compdef _sallyport sallyport
`;
}

function fishScript(nodes: readonly Node[]): string {
  const lines = nodes.flatMap(({ path, words }) => {
    const commands = words.flatMap(({ word }) => (word.startsWith("--") ? [] : [word]));
    const seen = path.map((word) => `__fish_seen_subcommand_from ${word}`);
    // WHY: behind a command of its own, those beside it cannot stand any more.
    const beside = commands.length === 0 ? [] : [`not __fish_seen_subcommand_from ${commands.join(" ")}`];
    const condition = quote([...seen, ...beside].join("; and "));
    return words.map(({ word, about }) => {
      const what = word.startsWith("--") ? `-l ${word.slice(2)}` : `-f -a ${word}`;
      return `complete -c sallyport -n ${condition} ${what} -d ${quote(about)}`;
    });
  });
  return `# fish completion for sallyport\n${lines.join("\n")}\n`;
}

/** Single quotes of a POSIX shell, which fish reads in the same way. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
