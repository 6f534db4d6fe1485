/**
 * How long the path of a unix socket may be. WHY it matters: Node 20 cuts a longer one off without a word, and would dial
 * or listen at what is left of it, which nobody has decided on. Newer ones refuse it, and so does the guard, in their words.
 */
import { charCodeAt, put } from "../captured.ts";

/** As in Linux, in bytes. */
const PATH_BYTES_MAX = 108;
const EINVAL = 22;

/** @throws Error as Node makes it where the kernel cannot be given the whole path */
export function requireWholePath(path: string, requested: string, syscall: string): void {
  if (bytesOf(path) <= PATH_BYTES_MAX) return;
  const error = new Error(`${syscall} EINVAL: invalid argument ${requested}`);
  put(error, "errno", -EINVAL);
  put(error, "code", "EINVAL");
  put(error, "syscall", syscall);
  put(error, "address", requested);
  throw error;
}

function bytesOf(path: string): number {
  let bytes = 0;
  for (let index = 0; index < path.length; index++) {
    const code = charCodeAt(path, index);
    // WHY: each half of a surrogate pair stands for two of the pair's four bytes.
    bytes += code < 0x80 ? 1 : code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 2 : 3;
  }
  return bytes;
}
