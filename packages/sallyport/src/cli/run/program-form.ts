/**
 * What a command line starts: which file, whether Node runs it, and which files the start itself reads because the person
 * named them. Looks only.
 */
import { accessSync, closeSync, constants, openSync, readSync, realpathSync, statSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join, resolve } from "node:path";

export interface ProgramForm {
  readonly command: string;
  readonly args: readonly string[];
  readonly isNode: boolean;
  /** Real paths: the script that was named, and what Node reads to know what kind of script it is. */
  readonly startReads: readonly string[];
}

export interface Surroundings {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

const FIRST_LINE_BYTES = 256;
const ENV_PROGRAMS: readonly string[] = ["/usr/bin/env", "/bin/env"];

/** `undefined`: there is no such program. */
export function programForm(
  name: string,
  args: readonly string[],
  around: Surroundings,
): ProgramForm | undefined {
  const file = findProgram(name, around);
  if (file === undefined) return undefined;
  const real = realpathSync(file);
  if (isNodeItself(real)) return nodeForm(file, args, around.cwd);
  const interpreter = interpreterOf(real);
  if (interpreter === undefined) return { command: name, args, isNode: false, startReads: [] };
  const [first = "", second] = interpreter;
  const node = ENV_PROGRAMS.includes(first) ? findProgram(second ?? "", around) : first;
  if (node !== undefined && isProgram(node) && isNodeItself(realpathSync(node)))
    return nodeForm(node, [file, ...args], around.cwd);
  return { command: name, args, isNode: false, startReads: [real] };
}

function nodeForm(command: string, args: readonly string[], cwd: string): ProgramForm {
  const [script] = args;
  const isScript = script !== undefined && !script.startsWith("-");
  return { command, args, isNode: true, startReads: isScript ? scriptReads(resolve(cwd, script)) : [] };
}

function scriptReads(path: string): readonly string[] {
  const script = [path, `${path}.js`].find(isFile);
  if (script === undefined) return [];
  const real = realpathSync(script);
  const packages: string[] = [];
  for (let folder = dirname(real); ; folder = dirname(folder)) {
    const file = join(folder, "package.json");
    if (isFile(file)) packages.push(realpathSync(file));
    if (folder === dirname(folder)) break;
  }
  return [real, ...packages];
}

function isNodeItself(real: string): boolean {
  return real === realpathSync(process.execPath) || basename(real) === "node";
}

function findProgram(name: string, { cwd, env }: Surroundings): string | undefined {
  if (name.includes("/")) return [resolve(cwd, name)].find(isProgram);
  const folders = (env["PATH"] ?? "").split(delimiter).filter(isAbsolute);
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

/** The words of a first line that begins with `#!`. */
function interpreterOf(file: string): readonly string[] | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(file, "r");
    const bytes = Buffer.alloc(FIRST_LINE_BYTES);
    const text = bytes.toString("latin1", 0, readSync(fd, bytes, 0, bytes.length, 0));
    return text.startsWith("#!") ? text.slice(2).split("\n", 1)[0]?.trim().split(/\s+/) : undefined;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return isFile(path);
  } catch {
    return false;
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
