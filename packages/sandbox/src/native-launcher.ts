/**
 * The native programs, launcher and terminal relay: prebuilt ones that the host names, or built by `cc` on first use into
 * the cache. A folder's name carries the digest of the sources, so that another version never serves. Trusts files of its
 * own user only.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { SandboxError } from "./errors.ts";

const run = promisify(execFile);
const SOURCES = fileURLToPath(new URL("../native/", import.meta.url));
const FLAGS = ["-std=gnu11", "-O2", "-static", "-Wall", "-Wextra", "-fstack-protector-strong"];
const WITH_LIBRARY = ["-pthread", "-D_FORTIFY_SOURCE=2"];
/**
 * The launcher brings along what it needs of a C library, and has no code of one, inline or called (`system-calls.c`). What
 * compilers for arm64 call to choose between processors would be of one, too.
 */
const WITHOUT_LIBRARY = [
  "-nostdlib",
  "-ffreestanding",
  "-U__OPTIMIZE__",
  "-fno-asynchronous-unwind-tables",
  ...(process.arch === "arm64" ? ["-mno-outline-atomics"] : []),
];
const EXECUTABLE = 0o755;
/** Writable by others, or of another user's rights: the wall is built by whoever asks for it. */
const UNTRUSTED_BITS = 0o6022;

/** `SALLYPORT_LAUNCHER` names a prebuilt one, `SALLYPORT_CC` a compiler. */
export function obtainLauncher(variables: NodeJS.ProcessEnv = process.env): Promise<string> {
  return obtain("launcher", SOURCES, variables);
}

/** Beside a prebuilt launcher, or built as that is. */
export function obtainRelay(variables: NodeJS.ProcessEnv = process.env): Promise<string> {
  return obtain("terminal-relay", join(SOURCES, "terminal"), variables);
}

/** A program of another package, from its sources: beside a prebuilt launcher, or built as that is. */
export function obtainProgram(name: string, from: string): Promise<string> {
  return obtain(name, from, process.env);
}

async function obtain(name: string, from: string, variables: NodeJS.ProcessEnv): Promise<string> {
  const { SALLYPORT_LAUNCHER: prebuilt, SALLYPORT_CC: compiler = "cc" } = variables;
  if (prebuilt !== undefined && prebuilt !== "")
    return trusted(name === "launcher" ? prebuilt : join(dirname(prebuilt), name));
  const sources = readdirSync(from)
    .filter((file) => /\.[ch]$/.test(file) && !file.startsWith("fuzz-"))
    .toSorted()
    .map((file) => join(from, file));
  const flags = [...FLAGS, ...(name === "launcher" ? WITHOUT_LIBRARY : WITH_LIBRARY)];
  const folder = join(cacheFolder(variables), `${name}-${digestOf(sources, flags)}-${process.arch}`);
  const launcher = join(folder, name);
  if (existsSync(launcher)) return trusted(launcher);
  mkdirSync(folder, { recursive: true, mode: EXECUTABLE });
  const unfinished = `${launcher}.${process.pid}`;
  const files = sources.filter((file) => file.endsWith(".c"));
  try {
    await run(compiler, [...flags, "-o", unfinished, ...files]);
    chmodSync(unfinished, EXECUTABLE);
    renameSync(unfinished, launcher);
  } catch (cause) {
    rmSync(unfinished, { force: true });
    const message = `the ${name} cannot be built with \`${compiler}\`: install a C compiler with its static library, or name a built launcher in \`SALLYPORT_LAUNCHER\``;
    throw Object.assign(new SandboxError("sandbox_unavailable", message, "compiler"), { cause });
  }
  return trusted(launcher);
}

/** INVARIANT: nobody but its owner and root can have written what is started outside every sandbox. */
function trusted(launcher: string): string {
  const facts = lstatSync(launcher, { throwIfNoEntry: false });
  const own = process.getuid?.();
  const isOurs = facts !== undefined && facts.isFile() && (facts.uid === own || facts.uid === 0);
  if (!isOurs || (facts.mode & UNTRUSTED_BITS) !== 0) {
    const message = `\`${launcher}\` is not a program of this user alone: remove it, or name another in \`SALLYPORT_LAUNCHER\``;
    throw new SandboxError("sandbox_unavailable", message, "launcher");
  }
  return launcher;
}

function digestOf(files: readonly string[], flags: readonly string[]): string {
  const hash = createHash("sha256");
  for (const file of files) hash.update(basename(file)).update("\0").update(readFileSync(file));
  return hash.update(flags.join(" ")).digest("hex").slice(0, 16);
}

function cacheFolder({ SALLYPORT_CACHE: own, XDG_CACHE_HOME: xdg }: NodeJS.ProcessEnv): string {
  if (own !== undefined && own !== "") return own;
  const home = homedir();
  if (home === "" || home === "/" || !existsSync(home))
    return join(tmpdir(), `sallyport-${process.getuid?.() ?? 0}`);
  return join(xdg === undefined || xdg === "" ? join(home, ".cache") : xdg, "sallyport");
}
