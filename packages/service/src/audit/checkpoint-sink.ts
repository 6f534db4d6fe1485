/**
 * Where signed checkpoints go outside the store. A host may send them anywhere; the file here is the simplest place:
 * JSON lines, appended and on the disk before the checkpoint counts. Keep it where whoever writes the store cannot.
 */
import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { createInterface } from "node:readline";
import type { Feed } from "./anchor-feed.ts";
import { CHECKPOINT_LINE_LENGTH_MAX } from "./checkpoint.ts";

export interface CheckpointSink {
  /** One line without its break. Durable when this fulfils; called one after the other. */
  write(line: string): Promise<void>;
  /** Everything that was written, oldest first. Left out where this process cannot read it back. */
  lines?(): Feed<string>;
  close?(): Promise<void>;
}

export function checkpointFile(path: string): CheckpointSink {
  let opened: FileHandle | null = null;
  return {
    write: async (line) => {
      opened ??= await openToAppend(path);
      await opened.appendFile(`${line}\n`, "utf8");
      await opened.datasync();
    },
    lines: () => linesOfFile(path),
    close: async () => {
      await opened?.close();
      opened = null;
    },
  };
}

/** A last line without its break was never acknowledged: the process died while it was written. It is taken back. */
async function openToAppend(path: string): Promise<FileHandle> {
  const file = await open(path, "a+", 0o600);
  try {
    const { size } = await file.stat();
    const length = Math.min(size, CHECKPOINT_LINE_LENGTH_MAX + 1);
    const tail = Buffer.alloc(length);
    await file.read(tail, 0, length, size - length);
    const whole = size - length + tail.lastIndexOf("\n") + 1;
    if (whole < size) await file.truncate(whole);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function* linesOfFile(path: string): AsyncGenerator<string> {
  const source = createReadStream(path, { encoding: "utf8" });
  try {
    yield* createInterface({ input: source, crlfDelay: Number.POSITIVE_INFINITY });
  } catch (error) {
    // WHY: before the first checkpoint there is no file, and no checkpoint either.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  } finally {
    source.destroy();
  }
}
