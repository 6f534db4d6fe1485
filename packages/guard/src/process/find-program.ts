/**
 * Which file a spawn would execute, found before it is executed: a path from the folder that the child starts in, or a bare
 * name along `PATH`. Real paths only; what is found here is what is decided on and run.
 * Looks at files by itself and asks nobody: the look-up belongs to the execution that is decided on.
 */
import { constants } from "node:fs";
import { SYSTEM_FOLDERS } from "@sallyport/contract";
import { realPath } from "@sallyport/gate";
import { bare, charCodeAt, freeze, parentOf, slice } from "../captured.ts";
import { nativeFs } from "../fs/native-fs.ts";

const { accessSync, statSync } = nativeFs;
const { X_OK } = constants;
const SLASH = 0x2f;
const COLON = 0x3a;
/** What the C library looks through where there is no `PATH`. */
const DEFAULT_PATH = "/bin:/usr/bin";

export interface Program {
  /** Real path of the file. */
  readonly path: string;
  /** The program's name, where it was found in a system folder. */
  readonly name: string | undefined;
  /** It was asked for by that name alone. */
  readonly isByName: boolean;
}

export interface Surroundings {
  /** Absolute folder that the child starts in. */
  readonly cwd: string;
  /** `PATH` of the child. */
  readonly path: string | undefined;
}

/** `undefined` where there is no such file, or none that can be executed. */
export function findProgram(file: string, { cwd, path = DEFAULT_PATH }: Surroundings): Program | undefined {
  if (hasSlash(file)) return programAt(charCodeAt(file, 0) === SLASH ? file : `${cwd}/${file}`, false);
  if (file === "") return undefined;
  let start = 0;
  for (let index = 0; index <= path.length; index++) {
    if (index < path.length && charCodeAt(path, index) !== COLON) continue;
    const folder = slice(path, start, index);
    start = index + 1;
    const at = folder === "" ? cwd : charCodeAt(folder, 0) === SLASH ? folder : `${cwd}/${folder}`;
    const found = programAt(`${at}/${file}`, true);
    if (found !== undefined) return found;
  }
  return undefined;
}

function programAt(path: string, isByName: boolean): Program | undefined {
  const real = realPath(path, "follow");
  if (real === undefined || !isExecutable(real)) return undefined;
  const kept = realPath(path, "keep") ?? real;
  const name = systemName(kept) ?? systemName(real);
  return freeze(bare({ path: real, name, isByName: isByName && name !== undefined }));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The name of a file in a system folder; `undefined` elsewhere, and for what is no name of a program. */
function systemName(path: string): string | undefined {
  const folder = parentOf(path);
  for (let index = 0; index < SYSTEM_FOLDERS.length; index++)
    if (SYSTEM_FOLDERS[index] === folder) {
      const name = slice(path, folder.length + 1);
      return isName(name) ? name : undefined;
    }
  return undefined;
}

/** `[a-z0-9][a-z0-9+._-]*`; a name in capitals is another file than the one that a rule names. */
function isName(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = charCodeAt(text, index);
    const isWord = (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39);
    const isMark = code === 0x2b || code === 0x2e || code === 0x5f || code === 0x2d;
    if (!isWord && !(isMark && index > 0)) return false;
  }
  return text.length > 0;
}

export function hasSlash(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (charCodeAt(text, index) === SLASH) return true;
  return false;
}

/** The last name of a path. */
export function baseName(path: string): string {
  let start = path.length;
  while (start > 0 && charCodeAt(path, start - 1) !== SLASH) start--;
  return slice(path, start);
}
