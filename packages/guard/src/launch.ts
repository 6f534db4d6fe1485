/**
 * How a host starts a program under the guard: arguments for Node and an environment. Who the program is, is the socket
 * that the runtime adds; nothing here says it.
 */
import { fileURLToPath } from "node:url";
import { GUARD_VARIABLE, WAIT_MS, factsText } from "./preload-facts.ts";

export interface GuardLaunchOptions {
  /** Absolute folders of the subject's own code and of the host's, from which code is loaded without a question. */
  readonly codeRoots: readonly string[];
  /** How long an asynchronous call waits for a person; ten minutes unless said. */
  readonly waitMs?: number | undefined;
  /**
   * The program runs in an OS sandbox that holds the same file rules: the guard then leaves it to the kernel to see where
   * links lead. Without one this would be an open door; it is off unless said.
   */
  readonly confined?: boolean | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The bundled preload; the one of this package unless said. */
  readonly preload?: string | undefined;
}

export interface GuardLaunch {
  /** Before the program's own arguments. */
  readonly args: readonly string[];
  readonly env: Record<string, string | undefined>;
}

/** Variables that change what Node does before the guard is there. */
const SCRUBBED = /^(?:NODE_|LD_|DYLD_)/;

export function guardLaunch(options: GuardLaunchOptions): GuardLaunch {
  const { codeRoots, waitMs = WAIT_MS, env = process.env, preload = preloadFile() } = options;
  const { confined = false } = options;
  const kept = Object.entries(env).filter(([name]) => !SCRUBBED.test(name));
  return Object.freeze({
    args: Object.freeze(["--require", preload]),
    env: { ...Object.fromEntries(kept), [GUARD_VARIABLE]: factsText({ codeRoots, waitMs, confined }) },
  });
}

function preloadFile(): string {
  return fileURLToPath(new URL("../dist/preload.cjs", import.meta.url));
}
