/** The command `sallyport` as a process of its own, bundled from the sources so that a bare Node runs it. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export interface BundledCli {
  readonly file: string;
  remove(): void;
}

interface Rolldown {
  readonly rolldown: (options: object) => Promise<{
    readonly write: (options: object) => Promise<unknown>;
    readonly close: () => Promise<void>;
  }>;
}

type Builder<Name extends string> = {
  readonly [N in Name]: (places: { readonly output: string }) => Promise<string>;
};
const tool = (name: string): string => new URL(`../../../../tools/${name}.mjs`, import.meta.url).href;

/** `runs`: with what `sallyport run` needs. WHY under the package's own folder: drivers are found where they are installed. */
export async function bundleCli({ runs = false }: { readonly runs?: boolean } = {}): Promise<BundledCli> {
  const here = dirname(fileURLToPath(import.meta.url));
  const programs = join(here, "..", "..", "dist", "test-programs");
  mkdirSync(programs, { recursive: true });
  const folder = mkdtempSync(join(programs, "cli-"));
  const file = join(folder, "bin", "sallyport.mjs");
  const packages = join(here, "..", "..", "..");
  const { resolve } = createRequire(import.meta.url);
  const { rolldown } = (await import(pathToFileURL(resolve("rolldown")).href)) as Rolldown;
  const build = await rolldown({
    input: join(here, "..", "cli", "main.ts"),
    platform: "node",
    external: [
      "kysely",
      "pg",
      "libsql",
      "commander",
      "@clack/prompts",
      /^hono/,
      /^@hono/,
      "jose",
      "openid-client",
    ],
    resolve: { conditionNames: ["source", "import", "node", "default"] },
    logLevel: "silent",
  });
  await build.write({ file, format: "esm", codeSplitting: false });
  await build.close();
  // WHY: where the packages look for what is beside them, once they are in one file.
  mkdirSync(join(folder, "native"));
  for (const owner of ["sandbox", "server"])
    for (const name of readdirSync(join(packages, owner, "native")))
      symlinkSync(join(packages, owner, "native", name), join(folder, "native", name));
  if (!runs) return { file, remove: () => rmSync(folder, { recursive: true, force: true }) };
  const { buildRealm } = (await import(tool("build-realm"))) as Builder<"buildRealm">;
  const { buildGuard } = (await import(tool("build-guard"))) as Builder<"buildGuard">;
  await buildRealm({ output: join(folder, "dist", "realm-script.js") });
  await buildGuard({ output: join(folder, "dist", "preload.cjs") });
  return { file, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly stdin?: string;
  readonly uid?: number;
}

export function startCli(cli: BundledCli, args: readonly string[], options: CliOptions = {}): ChildProcess {
  const { SALLYPORT_DATA: _data, ...env } = process.env;
  return spawn(process.execPath, [cli.file, ...args], {
    cwd: options.cwd ?? tmpdir(),
    env: { ...env, ...options.env },
    stdio: ["pipe", "pipe", "pipe"],
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
  });
}

/** Runs to its end. */
export async function runCli(
  cli: BundledCli,
  args: readonly string[],
  options: CliOptions = {},
): Promise<Ended> {
  const child = startCli(cli, args, options);
  let [stdout, stderr] = ["", ""];
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(options.stdin ?? "");
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return { code, stdout, stderr };
}

/** Resolves when the process has printed a line that matches; rejects where it ends before. */
export function printed(
  child: ChildProcess,
  pattern: RegExp,
  stream: "stdout" | "stderr" = "stdout",
): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    let text = "";
    const onData = (chunk: Buffer | string): void => {
      text += String(chunk);
      const found = pattern.exec(text);
      if (found === null) return;
      child[stream]?.off("data", onData);
      resolve(found);
    };
    child[stream]?.on("data", onData);
    child.once("close", (code) => reject(new Error(`it ended with ${code}: ${text}`)));
  });
}
