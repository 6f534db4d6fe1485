/**
 * What Node's `readFile` says of a path and loses of a descriptor, which is what the guard hands it: that the file is too
 * large to be read at once, and that a signal has stopped it. Decides nothing.
 */
import { errorCode, put } from "../captured.ts";
import { nativeFs } from "./native-fs.ts";

const { fstatSync } = nativeFs;
/** What Node reads at once. */
const READ_MAX = 2 ** 31 - 1;

/** The error as a path would have had it. @param signal of the call, if it has one */
export function lostError(fault: unknown, fd: number, signal: unknown): unknown {
  if (fault === null || fault === undefined) return isAborted(signal) ? aborted(signal) : fault;
  if (!(fault instanceof TypeError) || errorCode(fault) !== undefined) return fault;
  if (isAborted(signal)) return aborted(signal);
  const { size } = fstatSync(fd);
  if (size <= READ_MAX) return fault;
  const error = new RangeError(`File size (${size}) is greater than 2 GiB`);
  put(error, "code", "ERR_FS_FILE_TOO_LARGE");
  return error;
}

function isAborted(signal: unknown): signal is AbortSignal {
  return signal instanceof AbortSignal && signal.aborted;
}

function aborted({ reason }: AbortSignal): Error {
  const error = new Error("The operation was aborted", { cause: reason });
  put(error, "name", "AbortError");
  put(error, "code", "ABORT_ERR");
  return error;
}
