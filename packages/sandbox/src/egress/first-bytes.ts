/**
 * Looks at the first bytes of a stream without taking them: whoever reads it next gets them all.
 */
import { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** Ends a connection so that the program hears an error, and not an empty answer. */
export function reset(stream: Duplex): void {
  if (stream instanceof Socket && stream.constructor === Socket) stream.resetAndDestroy();
  else stream.destroy();
}

const LOOKED_AT_MAX = 131_072;
const NOTHING = Buffer.alloc(0);

/**
 * Resolves with the bytes as soon as `isEnough` says so, and with what there is at the end or after `silentMs` in which
 * nothing came at all.
 */
export function firstBytes(
  stream: Duplex,
  isEnough: (bytes: Buffer) => boolean,
  silentMs: number | undefined,
): Promise<Buffer> {
  return new Promise((resolve) => {
    let seen: Buffer = NOTHING;
    const silence = silentMs === undefined ? undefined : setTimeout(() => finish(), silentMs);
    const finish = (): void => {
      clearTimeout(silence);
      stream.off("readable", look).off("end", finish).off("close", finish).off("error", finish);
      if (seen.length > 0 && !stream.destroyed) stream.unshift(seen);
      resolve(seen);
    };
    const look = (): void => {
      for (let chunk; (chunk = stream.read() as Buffer | null) !== null;) {
        seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk]);
      }
      if (seen.length > 0) clearTimeout(silence);
      if (seen.length > 0 && (isEnough(seen) || seen.length >= LOOKED_AT_MAX)) finish();
    };
    stream.on("readable", look).on("end", finish).on("close", finish).on("error", finish);
    look();
    if (stream.readableEnded || stream.destroyed) finish();
  });
}
