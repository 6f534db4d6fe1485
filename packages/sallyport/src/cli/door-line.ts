/** One line of JSON at the beginning of a connection; what follows belongs to somebody else. Bounded. */
import type { Socket } from "node:net";

export const LINE_BYTES_MAX = 2_097_152;
const NEWLINE = 0x0a;

/** Rejects where the line is too long, no JSON, or where the connection ends before it does. */
export function readDoorLine(socket: Socket): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const finish = (settle: () => void): void => {
      socket.off("readable", onReadable).off("end", onEnd).off("error", onEnd).off("close", onEnd);
      settle();
    };
    const onEnd = (): void => finish(() => reject(new Error("the connection ended before its first line")));
    const onReadable = (): void => {
      for (
        let chunk = socket.read() as Buffer | null;
        chunk !== null;
        chunk = socket.read() as Buffer | null
      ) {
        const end = chunk.indexOf(NEWLINE);
        const part = end < 0 ? chunk : chunk.subarray(0, end);
        bytes += part.length;
        chunks.push(part);
        if (bytes > LINE_BYTES_MAX) return finish(() => reject(new Error("the first line is too long")));
        if (end < 0) continue;
        // WHY: bytes behind the line are the first of whoever comes next.
        if (end + 1 < chunk.length) socket.unshift(chunk.subarray(end + 1));
        return finish(() => settleLine(Buffer.concat(chunks), resolve, reject));
      }
    };
    socket.on("readable", onReadable).once("end", onEnd).once("error", onEnd).once("close", onEnd);
  });
}

function settleLine(line: Buffer, resolve: (value: unknown) => void, reject: (error: Error) => void): void {
  try {
    resolve(JSON.parse(line.toString("utf8")));
  } catch {
    reject(new Error("the first line is no JSON"));
  }
}
