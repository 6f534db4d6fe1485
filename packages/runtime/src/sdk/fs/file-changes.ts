/** What happens to a file, or to the entries of a folder, told until it is stopped. */
import type { PathLike } from "node:fs";
import { type FileChangeInfo, watch } from "node:fs/promises";

export interface FileChange {
  readonly kind: "change" | "rename";
  /** `null` where the system does not say. */
  readonly name: string | null;
}

/** Watches from now on, whenever somebody looks. */
export function changesOf(path: PathLike, signal: AbortSignal | undefined): AsyncIterable<FileChange> {
  return told(watch(path, signal === undefined ? {} : { signal }));
}

async function* told(watching: AsyncIterable<FileChangeInfo<string>>) {
  try {
    for await (const { eventType, filename } of watching)
      yield Object.freeze<FileChange>({ kind: eventType, name: filename });
  } catch (error) {
    if ((error as Error).name !== "AbortError") throw error;
  }
}
