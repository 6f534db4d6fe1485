/** Where the guard cannot stand, nothing runs. */
import { isMainThread } from "node:worker_threads";

const EXIT_CODE = 78;

/** INVARIANT: neither the process nor the thread goes on. */
export function endProcess(error: unknown): never {
  process.stderr.write(`sallyport: ${error instanceof Error ? error.message : String(error)}\n`);
  if (isMainThread) (process as unknown as { reallyExit(code: number): never }).reallyExit(EXIT_CODE);
  process.exit(EXIT_CODE);
}
