/**
 * The native programs, launcher and terminal relay: one that the host names, the one that the release brought along, or one
 * built by `cc` on first use. The last two are kept in the cache, in folders whose names carry the digest of the sources, so
 * that another version never serves. Trusts files of its own user and of root only.
 */
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { SandboxError } from "./errors.ts";
import { LAUNCHER_SOURCES, type NativeBuild, RELAY_SOURCES, compile, nativeBuild } from "./native-build.ts";
import { type Prebuilt, findPrebuilt } from "./prebuilt-program.ts";
import { trustFault } from "./trusted-program.ts";

/** `named`: by `SALLYPORT_LAUNCHER`. */
export type ProgramOrigin = "named" | "prebuilt" | "built";

export interface NativeProgram {
  readonly path: string;
  readonly origin: ProgramOrigin;
  /** Why a prebuilt one that is there was not taken. */
  readonly passedOver?: string | undefined;
}

const EXECUTABLE = 0o755;
const DIGEST_LETTERS = 16;

/** `SALLYPORT_LAUNCHER` names one, `SALLYPORT_CC` a compiler. */
export function obtainLauncher(variables: NodeJS.ProcessEnv = process.env): Promise<NativeProgram> {
  return obtain("launcher", LAUNCHER_SOURCES, variables);
}

/** Beside a launcher that is named, or had as that is. */
export async function obtainRelay(variables: NodeJS.ProcessEnv = process.env): Promise<string> {
  return (await obtain("terminal-relay", RELAY_SOURCES, variables)).path;
}

/** A program of another package, from its sources: beside a launcher that is named, or had as that is. */
export async function obtainProgram(name: string, from: string): Promise<string> {
  return (await obtain(name, from, process.env)).path;
}

async function obtain(name: string, from: string, variables: NodeJS.ProcessEnv): Promise<NativeProgram> {
  const { SALLYPORT_LAUNCHER: named, SALLYPORT_CC: compiler = "cc" } = variables;
  if (named !== undefined && named !== "")
    return { path: trusted(name === "launcher" ? named : join(dirname(named), name)), origin: "named" };
  const build = nativeBuild(name, from);
  const folder = join(
    cacheFolder(variables),
    `${name}-${build.digest.slice(0, DIGEST_LETTERS)}-${build.arch}`,
  );
  const kept = join(`${folder}-prebuilt`, name);
  if (existsSync(kept)) return { path: trusted(kept), origin: "prebuilt" };
  const prebuilt = findPrebuilt(build);
  if (prebuilt.ok) return { path: keep(prebuilt, kept), origin: "prebuilt" };
  const built = join(folder, name);
  if (!existsSync(built)) await compileInto(built, build, { compiler, passedOver: prebuilt.reason });
  return { path: trusted(built), origin: "built", passedOver: prebuilt.reason };
}

/**
 * WHY a copy: packages lie in work folders, which rules open to changes; the cache does not. The copy is of the bytes that
 * were compared. Where there is no cache to write to, the program is started where it is.
 */
function keep({ path, bytes }: Extract<Prebuilt, { ok: true }>, kept: string): string {
  const unfinished = `${kept}.${process.pid}`;
  try {
    mkdirSync(dirname(kept), { recursive: true, mode: EXECUTABLE });
    writeFileSync(unfinished, bytes, { flag: "wx", mode: EXECUTABLE });
    chmodSync(unfinished, EXECUTABLE);
    renameSync(unfinished, kept);
  } catch {
    if (existsSync(unfinished)) rmSync(unfinished);
    return trusted(existsSync(kept) ? kept : path);
  }
  return trusted(kept);
}

async function compileInto(
  program: string,
  build: NativeBuild,
  { compiler, passedOver }: { readonly compiler: string; readonly passedOver: string | undefined },
): Promise<void> {
  const unfinished = `${program}.${process.pid}`;
  try {
    mkdirSync(dirname(program), { recursive: true, mode: EXECUTABLE });
  } catch (cause) {
    const message = `the cache \`${dirname(program)}\` cannot be made: name a folder of your own in \`SALLYPORT_CACHE\``;
    throw Object.assign(new SandboxError("sandbox_unavailable", message, "cache"), { cause });
  }
  try {
    await compile(build, compiler, unfinished);
    renameSync(unfinished, program);
  } catch (cause) {
    rmSync(unfinished, { force: true });
    const because = passedOver === undefined ? "" : `, and the prebuilt ${passedOver}`;
    const message = `the ${build.name} cannot be built with \`${compiler}\`${because}: install a C compiler with its static library, or name a built launcher in \`SALLYPORT_LAUNCHER\``;
    throw Object.assign(new SandboxError("sandbox_unavailable", message, "compiler"), { cause });
  }
}

/** INVARIANT: nobody but its owner and root can have written what is started outside every sandbox. */
function trusted(program: string): string {
  const fault = trustFault(program);
  if (fault === undefined) return program;
  const message = `\`${program}\` ${fault}: remove it, or name another in \`SALLYPORT_LAUNCHER\``;
  throw new SandboxError("sandbox_unavailable", message, "launcher");
}

function cacheFolder({ SALLYPORT_CACHE: own, XDG_CACHE_HOME: xdg }: NodeJS.ProcessEnv): string {
  if (own !== undefined && own !== "") return own;
  const home = homedir();
  if (home === "" || home === "/" || !existsSync(home))
    return join(tmpdir(), `sallyport-${process.getuid?.() ?? 0}`);
  return join(xdg === undefined || xdg === "" ? join(home, ".cache") : xdg, "sallyport");
}
