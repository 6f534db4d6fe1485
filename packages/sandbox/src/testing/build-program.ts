/** Builds the C programs of the tests, once for each test file, into a folder that goes with it. */
import { execFileSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SOURCES = fileURLToPath(new URL("./", import.meta.url));

export function buildProgram(source: string, folder: string, flags: readonly string[] = []): string {
  const program = join(folder, source.replace(/\.c$/, ""));
  execFileSync("cc", ["-O1", "-w", ...flags, "-o", program, join(SOURCES, source)]);
  chmodSync(program, 0o755);
  return program;
}
