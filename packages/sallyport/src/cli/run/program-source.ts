/** What a program is run by, as `run` and `learn` are told: its manifest, where that starts, and folders of its own code. */
import { readFileSync, realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { CliFault } from "../cli-fault.ts";

/** Declares nothing. */
const EMPTY = '{"access":[]}';

export interface ManifestSource {
  /** `undefined`: none was named. */
  readonly file: string | undefined;
  readonly text: string;
  readonly root: string;
}

export function manifestSource(
  cwd: string,
  { manifest, root }: { readonly manifest?: string; readonly root?: string },
): ManifestSource {
  const file = manifest === undefined ? undefined : resolve(cwd, manifest);
  const start = root ?? (file === undefined ? "." : dirname(file));
  return { file, text: file === undefined ? EMPTY : textOf(file), root: resolve(cwd, start) };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    throw new CliFault({
      exit: "not_found",
      message: `\`${file}\` cannot be read`,
      next: "`sallyport manifest init` writes a manifest to begin with",
    });
  }
}

/** `--code`, which may be repeated. */
export function codeOption(text: string, before: readonly string[]): readonly string[] {
  return [...before, text];
}

export const codeRoots = (cwd: string, folders: readonly string[]): readonly string[] =>
  folders.map((one) => realpathSync(resolve(cwd, one)));
