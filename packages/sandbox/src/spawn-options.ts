/**
 * What callers of `child_process.spawn` are used to say, for a confined program: taken with the same meaning, or refused by
 * name with the reason. Trusts the host that spawns.
 * INVARIANT: no option is left unread: what is not known here starts nothing.
 */
import type { ChildProcess, SpawnOptions, StdioOptions } from "node:child_process";
import { fstatSync } from "node:fs";
import { constants } from "node:os";
import { SandboxError } from "./errors.ts";

/** As `child_process.spawn` has them. */
export interface FamiliarOptions {
  readonly stdio?: StdioOptions | undefined;
  readonly cwd?: string | URL | undefined;
  /** What the program is told as its own name. */
  readonly argv0?: string | undefined;
  /** `true`: `/bin/sh`. Command and arguments are then one text for the shell, as they are. */
  readonly shell?: boolean | string | undefined;
  /** Ends the program by `killSignal` when it is aborted; `error` is then emitted, as Node does. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds after which the program is told `killSignal`. `wallMs` ends it, whatever it does with signals. */
  readonly timeout?: number | undefined;
  readonly killSignal?: NodeJS.Signals | number | undefined;
  /** Of no meaning on Linux, as in Node. */
  readonly windowsHide?: boolean | undefined;
  readonly windowsVerbatimArguments?: boolean | undefined;
}

const REFUSED: Readonly<Record<string, string>> = {
  detached: "it ends with whoever started it",
  uid: "name user and group together in `identity`",
  gid: "name user and group together in `identity`",
  serialization: "it has no channel to speak by; use a `pipe`",
};
const SHELL = "/bin/sh";
const STANDARD = 3;
/** They would stop or miss the supervisor, and the program would never hear of them. */
const UNHEARD: ReadonlySet<unknown> = new Set(
  (["SIGSTOP", "SIGTTIN", "SIGTTOU", "SIGPIPE"] as const).flatMap((name) => [name, constants.signals[name]]),
);

/** Throws where an option cannot be kept to. */
export function requireKnownOptions(options: object, known: object): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(known, name)) continue;
    const reason = Object.hasOwn(REFUSED, name) ? REFUSED[name] : undefined;
    if (reason !== undefined && value === false) continue;
    throw refusal(
      reason === undefined
        ? `\`${name}\` is no option of a confined program: leave it out`
        : `a confined program cannot be started with \`${name}\`: ${reason}`,
    );
  }
}

/** What is started, and the words it is told, its own name first. */
export function programWords(
  command: string,
  args: readonly string[],
  { shell, argv0 }: FamiliarOptions,
): { readonly command: string; readonly words: readonly string[] } {
  if (shell === undefined || shell === false || shell === "")
    return { command, words: [argv0 ?? command, ...args] };
  const file = shell === true ? SHELL : shell;
  return { command: file, words: [argv0 ?? file, "-c", [command, ...args].join(" ")] };
}

/** The ends that Node itself brings about, by signals that the supervisor hands on. */
export function endOptions({ signal, timeout, killSignal }: FamiliarOptions): SpawnOptions {
  if (killSignal !== undefined) requireHeard(killSignal);
  return {
    ...(signal === undefined ? {} : { signal }),
    ...(timeout === undefined ? {} : { timeout }),
    ...(killSignal === undefined ? {} : { killSignal }),
  };
}

/** `kill` reaches the program, or throws: a signal that only the supervisor would hear is no answer. */
export function hearingKill(child: ChildProcess): void {
  const kill = child.kill.bind(child);
  child.kill = (signal) => {
    if (signal !== undefined) requireHeard(signal);
    return kill(signal);
  };
}

function requireHeard(signal: NodeJS.Signals | number): void {
  if (!UNHEARD.has(signal)) return;
  throw refusal(
    `\`${signal}\` does not reach a confined program: use \`SIGTSTP\` to stop it, \`SIGKILL\` to end it`,
  );
}

export function streams(given: StdioOptions = "pipe"): readonly unknown[] {
  const list: unknown[] = Array.isArray(given) ? [...given] : [given, given, given];
  while (list.length < STANDARD) list.push("pipe");
  if (list.includes("ipc")) throw refusal("a confined program has no `ipc` stream: use a `pipe`");
  if (list.some(isFolder))
    throw refusal(
      "a stream of a confined program is a folder: a way leads from it to all that is hidden; open a file",
    );
  return list;
}

/** INVARIANT: no folder of the host's own tree is handed in: what the program sees covers that. */
function isFolder(stream: unknown, index: number): boolean {
  const held = typeof stream === "object" && stream !== null && "fd" in stream ? stream.fd : stream;
  const fd = held === "inherit" ? index : held;
  if (typeof fd !== "number") return false;
  try {
    return fstatSync(fd).isDirectory();
  } catch {
    // What is closed is refused by Node, or opened as nothing.
    return false;
  }
}

function refusal(message: string): SandboxError {
  return new SandboxError("sandbox_profile", message);
}
