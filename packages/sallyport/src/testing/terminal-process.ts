/**
 * A program in a real terminal: a pseudo-terminal of the pinned `@lydell/node-pty`, from the npm registry into the cache
 * folder. What the program draws is kept as it came; whoever waits, waits for text.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { stripVTControlCharacters } from "node:util";

const tools = new URL("../../../../tools/cached-package.mjs", import.meta.url).href;
const NAME = "@lydell/node-pty";
const VERSION = "1.1.0";

interface Pty {
  onData(listener: (text: string) => void): unknown;
  onExit(listener: (ended: { readonly exitCode: number }) => void): unknown;
  write(text: string): void;
  resize(columns: number, rows: number): void;
  kill(signal?: string): void;
}

interface PtyModule {
  readonly spawn: (file: string, args: readonly string[], options: object) => Pty;
}

export interface TerminalProcess {
  /** Everything that was drawn, without control sequences. */
  readonly text: string;
  /** Everything that was drawn. */
  readonly raw: string;
  readonly ended: Promise<number>;
  send(keys: string): void;
  resize(size: { readonly columns: number; readonly rows: number }): void;
  /** Resolves when text that matches has been drawn after the last call. */
  shows(pattern: RegExp): Promise<string>;
  kill(): void;
}

export const KEYS = { enter: "\r", down: "\u001b[B", up: "\u001b[A", interrupt: "\u0003" } as const;

export async function openTerminal(
  file: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
): Promise<TerminalProcess> {
  const { spawn } = await obtainPty();
  // WHY without: whoever runs the tests may want no colour; the program in this terminal is asked what it does by itself.
  const own = { TERM: "xterm-256color", CI: undefined, NO_COLOR: undefined, FORCE_COLOR: undefined };
  const env = { ...process.env, ...own, ...options.env };
  const pty = spawn(file, args, {
    name: "xterm-256color",
    cols: 160,
    rows: 50,
    cwd: options.cwd,
    env: defined(env),
  });
  let [raw, seen, isOver] = ["", 0, false];
  const waiting = new Set<() => void>();
  const wake = (): void => {
    for (const look of waiting) look();
  };
  pty.onData((text) => {
    raw += text;
    wake();
  });
  const ended = new Promise<number>((resolve) => {
    pty.onExit(({ exitCode }) => {
      isOver = true;
      wake();
      resolve(exitCode);
    });
  });
  const shows = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const text = stripVTControlCharacters(raw);
        const found = pattern.exec(text.slice(seen));
        if (found === null && !isOver) return;
        waiting.delete(look);
        if (found === null) return reject(new Error(`it ended without showing ${pattern}:\n${text}`));
        seen += found.index + found[0].length;
        resolve(found[0]);
      };
      waiting.add(look);
      look();
    });
  return {
    get text() {
      return stripVTControlCharacters(raw);
    },
    get raw() {
      return raw;
    },
    ended,
    send: (keys) => pty.write(keys),
    resize: ({ columns, rows }) => pty.resize(columns, rows),
    shows,
    kill: () => pty.kill("SIGKILL"),
  };
}

function defined(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

async function obtainPty(): Promise<PtyModule> {
  const { obtainPackage } = (await import(tools)) as {
    readonly obtainPackage: (name: string, version: string) => Promise<string>;
  };
  const entry = join(await obtainPackage(NAME, VERSION), "index.js");
  const module = (await import(pathToFileURL(entry).href)) as { readonly default: PtyModule };
  return module.default;
}
