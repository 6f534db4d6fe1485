/**
 * Real sandboxes for tests: the launcher built here, a work folder of its own, real programs, and a decision that is
 * written down. Each test runs as root where the tests are root, and as nobody.
 */
import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Readable } from "node:stream";
import type { ExpandedRule } from "@sallyport/contract";
import type { Decide, Ruling } from "../broker.ts";
import { readMachineFacts } from "../machine-facts.ts";
import { type ProfileRules, type Sandbox, openSandbox } from "../open-sandbox.ts";
import type { Confinement } from "../profile/confinement.ts";
import type { FileOperation } from "../profile/landlock-right.ts";
import type { Confined, ConfinedOptions } from "../spawn-confined.ts";
import type { TrappedCall } from "../trapped-call.ts";

const NOBODY = 65534;
const isRoot = process.getuid?.() === 0;

export interface Identity {
  readonly name: string;
  readonly identity: { readonly uid: number; readonly gid: number } | undefined;
}

/** Root is tested where the tests are root; the unprivileged user always. */
export const IDENTITIES: readonly Identity[] = isRoot
  ? [
      { name: "root", identity: undefined },
      { name: "an unprivileged user", identity: { uid: NOBODY, gid: NOBODY } },
    ]
  : [{ name: "an unprivileged user", identity: undefined }];

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly asked: readonly TrappedCall[];
  readonly violations: readonly TrappedCall[];
}

export interface RunOptions extends Partial<ConfinedOptions> {
  readonly allow?: readonly ExpandedRule[];
  readonly rules?: Partial<ProfileRules>;
  /** For every question; `deny` where nothing is said. */
  readonly ruling?: Ruling | Decide;
}

export interface Workshop {
  /** A folder of the identity's own, by its real path. */
  readonly folder: string;
  readonly sandbox: Sandbox;
  confine(allow: readonly ExpandedRule[], rules?: Partial<ProfileRules>): Confinement;
  start(
    command: string,
    args: readonly string[],
    options?: RunOptions,
  ): Confined & { readonly asked: TrappedCall[] };
  run(command: string, args: readonly string[], options?: RunOptions): Promise<Ended>;
  /** `sh -c`, with what a shell needs to be started. */
  shell(script: string, options?: RunOptions): Promise<Ended>;
  make(name: string): string;
  close(): void;
}

/** Rules for one target and several operations. */
export function rules(target: string, ...operations: readonly FileOperation[]): readonly ExpandedRule[] {
  return operations.map((operation) => ({ resourceType: "filesystem", operation, target }));
}

/** Every program of the system may be started. */
export const PROGRAMS: readonly ExpandedRule[] = rules(`${realpathSync("/usr")}/`, "execute");

export async function openWorkshop({ identity }: Identity): Promise<Workshop> {
  const cache = join(tmpdir(), "sallyport-cache");
  mkdirSync(cache, { recursive: true, mode: 0o755 });
  if (statSync(cache).uid !== process.getuid?.())
    throw new Error(`\`${cache}\` belongs to another user: delete it`);
  process.env["SALLYPORT_CACHE"] = cache;
  const facts = await readMachineFacts();
  if (facts.rung !== "complete") {
    throw new Error(facts.findings.map(({ message }) => message).join("\n"));
  }
  const sandbox = await openSandbox();
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sp-box-")));
  const own = (path: string): string => {
    chmodSync(path, 0o755);
    if (identity !== undefined) chownSync(path, identity.uid, identity.gid);
    return path;
  };
  own(folder);
  const confine: Workshop["confine"] = (allow, more = {}) => {
    const compiled = sandbox.compile({ allow, trapSet: "all", ...more });
    if (!compiled.ok) throw new Error(compiled.faults.map(({ message }) => message).join("\n"));
    return compiled.confinement;
  };
  const start: Workshop["start"] = (command, args, options = {}) => {
    const { allow = [], rules: more, ruling = "deny", ...rest } = options;
    const asked: TrappedCall[] = [];
    const decide: Decide = (call, signal) => {
      // WHY: nothing is approved anywhere, so nothing is gained.
      if (call.parts.length === 0 && typeof ruling !== "function") return Promise.resolve("allow");
      asked.push(call);
      return typeof ruling === "function" ? ruling(call, signal) : Promise.resolve(ruling);
    };
    const confinement = confine([...PROGRAMS, ...allow], more);
    const confined = sandbox.spawn(command, args, { confinement, decide, cwd: folder, identity, ...rest });
    return { ...confined, asked };
  };
  const run: Workshop["run"] = async (command, args, options = {}) => {
    const violations: TrappedCall[] = [];
    const { child, asked, recorded } = start(command, args, {
      onViolation: (call) => violations.push(call),
      ...options,
    });
    child.stdin?.end();
    const ended = new Promise<Pick<Ended, "code" | "signal">>((resolve) =>
      child.once("close", (code, signal) => resolve({ code, signal })),
    );
    const [stdout, stderr] = await Promise.all([read(child.stdout), read(child.stderr), recorded]);
    return { ...(await ended), stdout, stderr, asked, violations };
  };
  return {
    folder,
    sandbox,
    confine,
    start,
    run,
    shell: (script, options) => run("/bin/sh", ["-c", script], options),
    make: (name) => {
      const path = join(folder, name);
      mkdirSync(path, { recursive: true });
      return own(path);
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function read(stream: Readable | null): Promise<string> {
  return stream === null ? Promise.resolve("") : text(stream);
}
