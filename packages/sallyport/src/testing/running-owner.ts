/** A real `sallyport up` in a process of its own, and programs that ask it. */
import type { ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BundledCli, type CliOptions, type Ended, printed, runCli, startCli } from "./cli-process.ts";
import type { GatedPrograms } from "./gated-children.ts";
import type { GatedTask } from "./gated-program.ts";

export interface RunningOwner {
  readonly folder: string;
  readonly data: string;
  readonly origin: string;
  readonly link: string;
  readonly process: ChildProcess;
  /** Everything that it has printed until now. */
  said(): string;
  /** A command against this owner, to its end. */
  run(args: readonly string[], options?: CliOptions): Promise<Ended>;
  /** The same with `--json`, read. */
  json<T>(args: readonly string[], options?: CliOptions): Promise<T>;
  /** A guarded program that is started and not waited for. */
  start(programs: GatedPrograms, task: GatedTask, ...options: string[]): ChildProcess;
  /** Ends it as ctrl-c does. */
  interrupt(): Promise<number | null>;
  remove(): Promise<void>;
}

export function startOwner(cli: BundledCli, ...more: string[]): Promise<RunningOwner> {
  return startOwnerWith(cli, {}, ...more);
}

/** With a file `settings.json` in its data folder before it starts. */
export async function startOwnerWith(
  cli: BundledCli,
  { settings }: { readonly settings?: object },
  ...more: string[]
): Promise<RunningOwner> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-owner-")));
  const data = join(folder, "data");
  mkdirSync(join(folder, "work"));
  if (settings !== undefined) {
    mkdirSync(data, { mode: 0o700 });
    writeFileSync(join(data, "settings.json"), JSON.stringify(settings), { mode: 0o600 });
  }
  const process = startCli(cli, ["up", "--data", data, "--port", "0", "--no-console", "--json", ...more], {
    cwd: folder,
  });
  process.stderr?.resume();
  let text = "";
  process.stdout?.on("data", (chunk) => (text += String(chunk)));
  const [line] = await printed(process, /\{.*"sign_in_link".*\}/);
  const said = JSON.parse(line) as { readonly origin: string; readonly sign_in_link: string };
  const started: ChildProcess[] = [];
  const run = (args: readonly string[], options: CliOptions = {}): Promise<Ended> =>
    runCli(cli, args, {
      cwd: join(folder, "work"),
      ...options,
      env: { SALLYPORT_DATA: data, ...options.env },
    });
  const interrupt = (): Promise<number | null> => {
    if (process.exitCode !== null) return Promise.resolve(process.exitCode);
    const ended = new Promise<number | null>((resolve) => process.once("close", resolve));
    process.kill("SIGINT");
    return ended;
  };
  return {
    folder,
    data,
    origin: said.origin,
    link: said.sign_in_link,
    process,
    said: () => text,
    run,
    json: async <T>(args: readonly string[], options: CliOptions = {}) => {
      const { stdout, stderr } = await run([...args, "--json"], options);
      try {
        return JSON.parse(stdout) as T;
      } catch {
        throw new Error(`no JSON: ${stdout}${stderr}`);
      }
    },
    start: (programs, task, ...options) => {
      const program = [
        globalThis.process.execPath,
        programs.program,
        programs.realmFile,
        JSON.stringify(task),
      ];
      // WHY bare: the program speaks with the gate itself, as those do that use the SDK.
      const words = ["run", "--no-sandbox", "--no-guard", "--data", data, ...options, ...program];
      const child = startCli(cli, words, { cwd: join(folder, "work") });
      started.push(child);
      return child;
    },
    interrupt,
    remove: async () => {
      for (const child of started) child.kill("SIGTERM");
      await interrupt();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface Listed {
  readonly rows: readonly {
    readonly id: string;
    readonly digest: string;
    readonly subject: { readonly type: string; readonly name: string };
    readonly resource: { readonly type: string; readonly operation: string; readonly target: string };
  }[];
}

/** The pending requests, as soon as there are so many. */
export async function pendingRequests(owner: RunningOwner, count: number): Promise<Listed["rows"]> {
  for (;;) {
    const { rows } = await owner.json<Listed>(["requests", "--order", "oldest"]);
    if (rows.length >= count) return rows;
  }
}
