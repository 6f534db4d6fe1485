/**
 * How the native programs are compiled: from which sources, with which flags, under which digest. One place for the cache of
 * first use and for the release, so that both make the same bytes of the same sources. Trusts the sources beside it; never
 * decides which program is started.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

/** What Sallyport's own package holds the sources of. */
export const LAUNCHER_SOURCES = fileURLToPath(new URL("../native/", import.meta.url));
export const RELAY_SOURCES = join(LAUNCHER_SOURCES, "terminal");

/** WHY no symbols and no build id: nothing in the program then says where or when it was built. */
const FLAGS = [
  "-std=gnu11",
  "-O2",
  "-static",
  "-Wall",
  "-Wextra",
  "-fstack-protector-strong",
  "-s",
  "-Wl,--build-id=none",
];
const WITH_LIBRARY = ["-pthread", "-D_FORTIFY_SOURCE=2"];
/**
 * The launcher brings along what it needs of a C library, and has no code of one, inline or called (`system-calls.c`). What
 * compilers for arm64 call to choose between processors would be of one, too.
 */
const WITHOUT_LIBRARY = ["-nostdlib", "-ffreestanding", "-U__OPTIMIZE__", "-fno-asynchronous-unwind-tables"];
const EXECUTABLE = 0o755;

/** One program for one architecture, not yet built. */
export interface NativeBuild {
  readonly name: string;
  /** The folder of its sources. */
  readonly from: string;
  readonly arch: string;
  readonly files: readonly string[];
  readonly flags: readonly string[];
  /** Of sources, headers and flags; another version has another one. */
  readonly digest: string;
}

export function nativeBuild(name: string, from: string, arch: string = process.arch): NativeBuild {
  const sources = readdirSync(from)
    .filter((file) => /\.[ch]$/.test(file) && !file.startsWith("fuzz-"))
    .toSorted()
    .map((file) => join(from, file));
  const own = name === "launcher" ? WITHOUT_LIBRARY : WITH_LIBRARY;
  const flags = [
    ...FLAGS,
    ...own,
    ...(name === "launcher" && arch === "arm64" ? ["-mno-outline-atomics"] : []),
  ];
  const files = sources.filter((file) => file.endsWith(".c"));
  return Object.freeze({ name, from, arch, files, flags, digest: digestOf(sources, flags) });
}

/** Compiles into `output`, which nobody but its owner may write. */
export async function compile(
  { flags, files }: NativeBuild,
  compiler: string,
  output: string,
): Promise<void> {
  await run(compiler, [...flags, "-o", output, ...files]);
  chmodSync(output, EXECUTABLE);
}

function digestOf(files: readonly string[], flags: readonly string[]): string {
  const hash = createHash("sha256");
  for (const file of files) hash.update(basename(file)).update("\0").update(readFileSync(file));
  return hash.update(flags.join(" ")).digest("hex");
}
