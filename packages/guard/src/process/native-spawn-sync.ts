/**
 * The function of Node's inside that starts a program and waits for it. Node makes its arguments out of what the guard hands
 * over, and asks prototypes on the way where the program may have put setters; so what the inside gets is made anew here, from
 * what was decided on.
 */
import { refusedError } from "../blocked-call.ts";
import { apply, bare, put, quietly } from "../captured.ts";
import type { Ground } from "../ground.ts";
import { replaceExport } from "../replace-export.ts";
import { type ChildLaunch, requireUnchanged } from "./child-launch.ts";
import { checkedStreams } from "./child-stdio.ts";
import { NOWHERE } from "./not-a-process.ts";

type Options = Record<string, unknown>;

/** What was decided on, until Node's inside has taken it. INVARIANT: nobody else holds any of it. */
export interface WaitedFor {
  readonly launch: ChildLaunch;
  readonly pairs: readonly string[];
  readonly cwd: string | undefined;
  /** The descriptor of the child's own gate, which comes last. */
  readonly gateFd: number | undefined;
}

const SYSCALL = "spawnSync";
const SIGUSR1 = 10;
const NUMBERS = Object.freeze(["timeout", "maxBuffer", "killSignal"]);

let decided: WaitedFor | undefined;

/** Lets Node start this program, once. */
export function waitingFor<R>(waited: WaitedFor, work: () => R): R {
  decided = waited;
  try {
    return work();
  } finally {
    decided = undefined;
  }
}

/** WHY now: it is refused to everybody once the guard is there. `undefined` where Node hands out no internals. */
const inside = quietly(() => {
  try {
    return (process as unknown as { binding(name: string): object }).binding("spawn_sync");
  } catch {
    return undefined;
  }
});
let isHeld = false;

/** Before the program runs. */
export function guardNativeSpawnSync(ground: Ground): void {
  if (inside === undefined) return;
  isHeld = replaceExport(
    inside,
    "spawn",
    (original) =>
      function spawn(this: object, given: Options): unknown {
        const taken = decided;
        decided = undefined;
        return apply(original, this, [taken === undefined ? nothing(given) : made(ground, taken, given)]);
      },
  );
}

/** @throws ExternalAccessError where nobody could see to it that what was decided on is what starts */
export function requireHeldInside(): void {
  if (!isHeld)
    throw refusedError(
      "programs that are waited for are refused where Node hands out no internals: use `spawn`",
      bare({ syscall: SYSCALL }),
    );
}

/** What Node was shown so that it refuses it: if it does not, nothing is there. */
function nothing({ file }: Options): Options {
  if (file !== NOWHERE)
    throw refusedError(
      "a process is started by the functions of `child_process` alone",
      bare({ syscall: SYSCALL }),
    );
  return bare({ file: NOWHERE, args: [NOWHERE], envPairs: [], stdio: [bare({ type: "ignore" })] });
}

function made(ground: Ground, { launch, pairs, cwd, gateFd }: WaitedFor, given: Options): Options {
  const own: Options = bare({});
  for (let index = 0; index < NUMBERS.length; index++) {
    const key = NUMBERS[index] as string;
    const value = given[key];
    if (typeof value === "number" && !(key === "killSignal" && value === SIGUSR1)) put(own, key, value);
  }
  put(own, "file", launch.file);
  put(own, "args", launch.args);
  put(own, "envPairs", pairs);
  put(own, "stdio", checkedStreams(ground, given["stdio"], gateFd));
  if (cwd !== undefined) put(own, "cwd", cwd);
  requireUnchanged(launch, SYSCALL);
  return own;
}
