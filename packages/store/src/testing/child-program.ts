/**
 * A child process that runs a TypeScript entry of this package, for what only a process of its own can show:
 * sudden death, a second owner, limits of the system. The entry is bundled once; it speaks over its IPC channel.
 */
import { type ChildProcess, execFileSync, fork } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const packageRoot = fileURLToPath(new URL("../..", import.meta.url));

export interface Program {
  readonly path: string;
  readonly remove: () => void;
}

/** WHY: under the package's own folder, so that drivers are found where they are installed. */
export function bundle(entry: string): Program {
  const bundles = join(packageRoot, "dist", "test-programs");
  mkdirSync(bundles, { recursive: true });
  const folder = mkdtempSync(join(bundles, "program-"));
  const path = join(folder, "program.mjs");
  const rolldown = join(dirname(require.resolve("rolldown/package.json")), "bin", "cli.mjs");
  const drivers = ["kysely", "pg", "libsql"].flatMap((name) => ["--external", name]);
  const options = [
    "--file",
    path,
    "--format",
    "esm",
    "--platform",
    "node",
    "--logLevel",
    "silent",
    ...drivers,
  ];
  execFileSync(process.execPath, [rolldown, entry, ...options], { cwd: packageRoot });
  return { path, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export interface Child {
  readonly process: ChildProcess;
  /** Sends a message and waits for the answer; rejects where the child ends instead. */
  ask<Answer>(message: unknown): Promise<Answer>;
  /** Ends it as a power cut would. */
  kill(): Promise<void>;
}

export function startChild({ path }: Program, args: readonly string[]): Child {
  const child = fork(path, args, { execArgv: [], stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const ended = new Promise<never>((_resolve, reject) => {
    child.once("exit", (code, signal) => reject(new Error(`the child ended (${code ?? signal})`)));
  });
  ended.catch(() => {});
  return {
    process: child,
    ask: <Answer>(message: unknown) => {
      const answer = new Promise<Answer>((resolve) => {
        child.once("message", (value) => resolve(value as Answer));
      });
      child.send(message as never);
      return Promise.race([answer, ended]);
    },
    kill: async () => {
      child.kill("SIGKILL");
      await ended.catch(() => {});
    },
  };
}
