/**
 * An open file as guarded code holds it: only what its flags were checked for. The handle behind it stays here, because
 * it could do more, such as changing the mode of a file that was opened for reading.
 */
import type { Stats } from "node:fs";
import type { FileHandle } from "node:fs/promises";

export interface SdkFile {
  read(into: Uint8Array, position?: number | null): Promise<number>;
  write(from: Uint8Array | string, position?: number | null): Promise<number>;
  readFile(): Promise<Buffer>;
  writeFile(data: Uint8Array | string): Promise<void>;
  stat(): Promise<Stats>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

export function sdkFile(handle: FileHandle): SdkFile {
  return Object.freeze<SdkFile>({
    read: async (into, position = null) => (await handle.read(into, 0, into.length, position)).bytesRead,
    write: async (from, position = null) => {
      const bytes = typeof from === "string" ? Buffer.from(from) : from;
      return (await handle.write(bytes, 0, bytes.length, position)).bytesWritten;
    },
    readFile: () => handle.readFile(),
    writeFile: (data) => handle.writeFile(data),
    stat: () => handle.stat(),
    sync: () => handle.sync(),
    close: () => handle.close(),
  });
}
