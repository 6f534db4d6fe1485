/** Real programs under the real guard: a service, a runtime, a subject, and a Node process with its inherited gate. */
import type { ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { guardLaunch } from "@sallyport/guard";
import {
  MEMBER,
  type Fixture,
  entry,
  openFixture,
} from "../../packages/sallyport/src/testing/sallyport-fixture.ts";

const tools = new URL("../../tools/build-guard.mjs", import.meta.url).href;
export const GUARDED = { type: "module", name: "guarded" } as const;

/** Folders of the program: what the manifest of `module:guarded` says of each is its name. */
export interface Places {
  readonly code: string;
  readonly reads: string;
  readonly creates: string;
  readonly modifies: string;
  readonly deletes: string;
  readonly all: string;
  /** Nothing is declared for it. */
  readonly secret: string;
}

export interface Preload {
  readonly file: string;
  remove(): void;
}

/** From the sources, once for a test file. */
export async function buildPreload(): Promise<Preload> {
  const { buildGuard } = (await import(tools)) as {
    readonly buildGuard: (places: { output: string }) => Promise<string>;
  };
  const folder = mkdtempSync(join(tmpdir(), "sallyport-guard-"));
  const file = join(folder, "preload.cjs");
  await buildGuard({ output: file });
  return { file, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export interface GuardedWorld {
  readonly fixture: Fixture;
  readonly places: Places;
  readonly preload: string;
  close(): Promise<void>;
}

const OPERATIONS = {
  reads: ["read"],
  creates: ["create"],
  modifies: ["modify"],
  deletes: ["delete"],
  all: ["read", "create", "modify", "delete"],
} as const;

type Entry = ReturnType<typeof entry>;

/** @param more further declarations; told where the folders are */
export async function openWorld(
  { file }: Pick<Preload, "file">,
  more: (folder: string) => readonly Entry[] = () => [],
  changes: Parameters<typeof openFixture>[0] = {},
  imports: readonly string[] = [],
): Promise<GuardedWorld> {
  const fixture = await openFixture(changes);
  const at = (name: string): string => join(fixture.folder, "places", name);
  const names = ["code", "reads", "creates", "modifies", "deletes", "all", "secret"] as const;
  for (const name of names) {
    mkdirSync(at(name), { recursive: true });
    if (name !== "creates") writeFileSync(join(at(name), "a.txt"), `${name} a`);
  }
  const access = Object.entries(OPERATIONS).flatMap(([name, operations]) =>
    operations.map((operation) => entry("filesystem", operation, `${at(name)}/`)),
  );
  const registered = fixture.registry.registerModule({
    name: "guarded",
    root: at("code"),
    manifest: {
      access: [...access, ...more(join(fixture.folder, "places"))],
      ...(imports.length === 0 ? {} : { allowed_imports: imports }),
    },
  });
  if (!registered.ok) throw new Error(registered.message);
  const places = Object.fromEntries(names.map((name) => [name, at(name)])) as unknown as Places;
  return { fixture, places, preload: file, close: () => fixture.close() };
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface StartOptions {
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly waitMs?: number;
  readonly extension?: "cjs" | "mjs";
  /** Further folders of code. */
  readonly codeRoots?: readonly string[];
  /** The process is the subject's own: it has the imports that its manifest lists. */
  readonly isOwn?: boolean;
  /** Another Node than the one of the tests. */
  readonly node?: string;
}

let programs = 0;

/** Starts the program as `module:guarded`. */
export function start(
  { fixture, places, preload }: GuardedWorld,
  source: string,
  {
    flags = [],
    env = {},
    waitMs = 60_000,
    extension = "cjs",
    codeRoots = [],
    node = process.execPath,
    isOwn = false,
  }: StartOptions = {},
): { readonly ended: Promise<Ended>; readonly pid: number } {
  const program = join(places.code, `program-${++programs}.${extension}`);
  writeFileSync(program, source);
  const launch = guardLaunch({ codeRoots: [places.code, ...codeRoots], waitMs, preload });
  const args = [...launch.args, ...flags, program, JSON.stringify(places)];
  const { runtime } = fixture;
  const child = runtime.run(GUARDED, MEMBER, () =>
    runtime.spawn(node, args, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...launch.env, ...env },
      ...(isOwn ? { use: "own" as const } : {}),
    }),
  );
  return { ended: endOf(child), pid: child.pid ?? 0 };
}

export function endOf(child: ChildProcess): Promise<Ended> {
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (chunk) => (stdout += String(chunk)));
  child.stderr?.on("data", (chunk) => (stderr += String(chunk)));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
}

/** What a program that ended well has said of its tasks. */
export async function resultsOf(ended: Promise<Ended>): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await ended;
  if (code !== 0) throw new Error(`the program ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as Record<string, unknown>;
}

/** Of every program: `at` for its folders, `attempt` for what became of a call, by its own `told` for what was thrown. */
export const ATTEMPTS = `
const at = JSON.parse(process.argv[2]);
const attempt = async (work) => {
  try {
    const value = await work();
    return value === undefined ? "done" : Buffer.isBuffer(value) ? value.toString() : value;
  } catch (error) {
    return told(error);
  }
};
const results = {};
const run = async (tasks) => { for (const [name, work] of Object.entries(tasks)) results[name] = await attempt(work); };
// WHY now: Node makes it when it is first asked for, and the program may have replaced what it is made with by then.
const out = process.stdout;
const say = () => out.write(JSON.stringify(results));
`;

const PRELUDE = `
const fs = require("node:fs");
const path = require("node:path");
const told = (error) => [error.name, error.code, error.check?.code, error.syscall].filter(Boolean).join(" ");
${ATTEMPTS}`;

/** What became of each task of a program: the keys of an object literal whose values are functions. */
export async function outcomes(
  world: GuardedWorld,
  tasks: string,
  options: StartOptions & { readonly before?: string } = {},
): Promise<Record<string, unknown>> {
  const source = `${PRELUDE}${options.before ?? ""}\nrun({${tasks}}).then(say);`;
  return resultsOf(start(world, source, options).ended);
}
