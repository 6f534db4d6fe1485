// @ts-check
/** Purpose: bwrap as a peer: the command that gives a program what our wall gives it, as far as bwrap has it. */
import { existsSync } from "node:fs";

const PROGRAM = ["/usr/bin/bwrap", "/usr/local/bin/bwrap"].find((path) => existsSync(path));

export const BWRAP_ABSENT = "bwrap is not installed here: `apt-get install bubblewrap`";

/**
 * `undefined`: it is not installed.
 * @param {string} folder which may be written @param {string} program @returns {readonly string[] | undefined}
 */
export function bwrapCommand(folder, program) {
  if (PROGRAM === undefined) return undefined;
  const view = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", folder, folder];
  return [PROGRAM, "--unshare-all", ...view, "--die-with-parent", "--new-session", program];
}
