/** Real children and workers of a runtime, built from the sources so that a bare Node can run them. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Runtime } from "@sallyport/runtime";
import type { GatedAnswers, GatedTask } from "./gated-program.ts";

const tools = new URL("../../../../tools/build-realm.mjs", import.meta.url).href;

export interface GatedPrograms {
  readonly program: string;
  readonly realmFile: string;
  readonly realmScript: string;
  remove(): void;
}

/** @param entry a program of this folder */
export async function buildPrograms(entry = "gated-program.ts"): Promise<GatedPrograms> {
  const { buildRealm, bundleProgram } = (await import(tools)) as {
    readonly buildRealm: (places: { output: string }) => Promise<string>;
    readonly bundleProgram: (entry: string, output: string) => Promise<void>;
  };
  const folder = mkdtempSync(join(tmpdir(), "sallyport-children-"));
  const realmFile = join(folder, "realm-script.js");
  const program = join(folder, "program.mjs");
  await buildRealm({ output: realmFile });
  await bundleProgram(fileURLToPath(new URL(entry, import.meta.url)), program);
  return {
    program,
    realmFile,
    realmScript: readFileSync(realmFile, "utf8"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** What a child of the context of now says. Started before this returns. */
export function childAnswers(
  runtime: Runtime,
  { program, realmFile }: GatedPrograms,
  task: GatedTask,
  env: NodeJS.ProcessEnv = {},
): { readonly pid: number; readonly answers: Promise<GatedAnswers> } {
  const args = [program, realmFile, JSON.stringify(task)];
  const options = { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, ...env } } as const;
  const child = runtime.spawn(process.execPath, args, { ...options, stdio: [...options.stdio] });
  let text = "";
  child.stdout?.on("data", (chunk) => (text += String(chunk)));
  const answers = new Promise<GatedAnswers>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) =>
      code === 0
        ? resolve(JSON.parse(text) as GatedAnswers)
        : reject(new Error(`the child ended with ${code}`)),
    );
  });
  return { pid: child.pid ?? 0, answers };
}

export function workerAnswers(
  runtime: Runtime,
  { program, realmScript }: GatedPrograms,
  task: GatedTask,
): Promise<GatedAnswers> {
  const worker = runtime.worker(program, { workerData: { realmScript, task } });
  return new Promise((resolve, reject) => {
    worker.once("error", reject);
    let answers: GatedAnswers | undefined;
    worker.once("message", (message: GatedAnswers) => {
      answers = message;
    });
    worker.once("exit", () => (answers === undefined ? reject(new Error("no answer")) : resolve(answers)));
  });
}

/** Runs at most `width` at a time. */
export async function inParallel<T>(
  count: number,
  width: number,
  work: (index: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const index = next++;
      results[index] = await work(index);
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  return results;
}
