/**
 * The hatch between the guard of a process and the runtime in it: the gate that the guard holds, as the program's own code
 * may use it. The guard hands it over once, to the first who asks outside of every hosted subject; whoever comes later finds
 * none. It gives nothing that the process did not have: questions of whoever acts, and frames of the subjects that the host
 * opened the gate for.
 */
import type { ExternalAccessCheck, PermissionState, RealPathPort, WaitAnswer } from "@sallyport/contract";
import type { CallerFacts } from "@sallyport/contract/remote";
import type { AskWords, HostedNames } from "../protocol/message.ts";
import type { CheckOptions, RequireOptions } from "./gate-client.ts";

/** What the program asks `process.getBuiltinModule` for. Node has no modules of these names. */
export const HATCH_MODULE = "sallyport:hatch";
/** Present wherever the guard is. */
export const GUARD_MODULE = "sallyport:guard";

/** Who acts now, on top of the process's own frames. */
export interface Acting {
  /** `undefined`: the process itself. Empty: nobody. One list for each chain. */
  readonly hosted: HostedNames;
  /** Frames that guarded code made up, on top of those. */
  readonly entered: AskWords["entered"];
}

export interface SubjectName {
  readonly type: string;
  readonly name: string;
}

/** INVARIANT: every question is that of whoever acts when it is asked, whatever its words say. */
export interface GateHatch {
  /** The subjects that may be run. */
  readonly hosted: readonly SubjectName[];
  readonly isLive: () => boolean;
  acting(): Acting;
  /** Throws where the gate was not opened for the subject. */
  run<R>(subject: SubjectName, fn: () => R): R;
  /** A frame that guarded code makes up. */
  enter<R>(subject: SubjectName, fn: () => R): R;
  /** The function as whoever acts now, whoever calls it later. */
  bind<T, A extends unknown[], R>(fn: (this: T, ...args: A) => R): (this: T, ...args: A) => R;
  /** Where a path leads. WHY: a question is about the real path, and whoever asks may not be allowed to look there. */
  readonly realPath: RealPathPort;
  readonly check: (words: AskWords, options: CheckOptions) => Promise<ExternalAccessCheck>;
  readonly require: (words: AskWords, options: RequireOptions) => Promise<ExternalAccessCheck>;
  readonly facts: () => Promise<CallerFacts | undefined>;
  readonly state: () => Promise<PermissionState | undefined>;
  readonly decided: (requestId: string, waitMs: number, signal?: AbortSignal) => Promise<WaitAnswer>;
}

/** Whether the guard holds this process. */
export function isGuarded(): boolean {
  return process.getBuiltinModule(GUARD_MODULE) !== undefined;
}

/** `undefined` where this process has no guard. @throws TypeError where somebody else has taken it */
export function takeHatch(): GateHatch | undefined {
  if (!isGuarded()) return undefined;
  const hatch = process.getBuiltinModule(HATCH_MODULE) as GateHatch | undefined;
  if (hatch !== undefined) return hatch;
  throw new TypeError(
    "the gate of this process is taken: connect once, outside of `run`, before other code is loaded",
  );
}
