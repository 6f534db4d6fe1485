/**
 * Entering frames: the host's, taken from the registry; the core's; those that guarded code makes up, which are bounded;
 * and that of a resume. The one place where contexts are made.
 * INVARIANT: a frame is `host` only where its rules came from the registry for code that the host runs.
 */
import type { ContextKeeper, HostFacts, RuntimeContext } from "@sallyport/context";
import { BLANK_CALLER, type CallerContext, type CallerFrame, type Subject } from "@sallyport/contract";
import { SubjectRefusedError } from "./errors.ts";
import { FrameHold, FrameHolds } from "./frame-hold.ts";
import { ownField } from "./registry/host-input.ts";
import { withOneOff } from "./registry/one-off.ts";
import type { EnterOptions, SubjectRegistry } from "./registry/subject-registry.ts";
import { isThenable, settled } from "./settled-result.ts";
import { type OneOffUrl, type RunOptions, factsOf } from "./run-options.ts";

export interface EnteringOptions {
  readonly keeper: ContextKeeper;
  readonly registry: SubjectRegistry;
  /** What holds for every context of this host. */
  readonly facts: Partial<HostFacts>;
}

interface Frame {
  readonly frame: CallerFrame;
  /** When nothing stands on the frame any more. */
  readonly leave: () => void;
  /** When the call is over. */
  readonly end?: (() => void) | undefined;
}

export class Entering {
  readonly #keeper: ContextKeeper;
  readonly #registry: SubjectRegistry;
  readonly #nobody: CallerContext;
  readonly #holds = new FrameHolds();

  constructor({ keeper, registry, facts }: EnteringOptions) {
    this.#keeper = keeper;
    this.#registry = registry;
    this.#nobody = Object.freeze({ ...BLANK_CALLER, ...facts, frames: [], credential: "runtime" as const });
  }

  /** Who calls now; without frames where nobody acts. */
  caller(): CallerContext {
    return this.#keeper.callerOf(this.#keeper.current()) ?? this.#nobody;
  }

  /** What the frames of now stand on stays until what comes back is called. */
  hold(): () => void {
    return this.#holds.of(this.#keeper.current())?.take() ?? (() => undefined);
  }

  /** A frame that the host enters, around the frames that it entered before. */
  run<R>(subject: Subject, options: RunOptions, fn: () => R): R {
    const outer = this.#keeper.current();
    const caller = this.caller();
    const isCore = subject.type === "core";
    if (isCore && caller.frames.some((frame) => frame.subject.type !== "core"))
      throw new TypeError("`core:core` cannot be entered inside another subject: enter it outside of `run`");
    const entered = isCore ? coreFrame(subject) : this.#registered(subject, options);
    const credential = isCore ? ("host" as const) : ("runtime" as const);
    const oneOff = ownField(options, "oneOff");
    const { frame, leave, end } = oneOff === undefined ? entered : this.#withOneOff(entered, oneOff);
    const giveBack = (): void => {
      end?.();
      leave();
    };
    return guardedBy(giveBack, () => {
      const frames = [...caller.frames, frame];
      const context = this.#keeper.root({ ...caller, ...factsOf(options), frames, credential });
      return this.#enter(context, new FrameHold(leave, this.#holds.of(outer)), fn, end);
    });
  }

  /** A frame that guarded code makes up: bounded by those around it, with the contracts of its subject if it has any. */
  enterMadeUp<R>(subject: Subject, fn: () => R): R {
    const outer = this.#keeper.current();
    const caller = this.caller();
    if (subject.type === "core") throw new TypeError("`core:core` is the host: guarded code cannot enter it");
    if (caller.frames.length === 0) throw new TypeError("nobody acts: enter a subject with `runtime.run`");
    const entry = this.#registry.enter(subject);
    const contracts = entry.ok ? entry.frame.contracts : [];
    const leave = entry.ok ? entry.leave : () => undefined;
    return guardedBy(leave, () => {
      const frame = { subject, phase: "runtime", entry: "guarded", contracts } as const;
      const context = this.#keeper.root({
        ...caller,
        frames: [...caller.frames, frame],
        credential: "runtime",
      });
      return this.#enter(context, new FrameHold(leave, this.#holds.of(outer)), fn);
    });
  }

  /** A URL for one call of the active subject, which stays. */
  oneOff<R>(given: OneOffUrl, fn: () => R): R {
    const outer = this.#keeper.current();
    const caller = this.caller();
    if (caller.frames.length === 0) throw new TypeError("nobody acts: enter a subject with `runtime.run`");
    const opened = this.#registry.oneOff(String(given.url), ownField(given, "operation"));
    if (!opened.ok) throw new SubjectRefusedError(opened);
    return guardedBy(opened.end, () => {
      // WHY: a made-up frame passes only where all frames do, up to the one that the host entered.
      const last = caller.frames.findLastIndex(({ entry }) => entry === "host");
      const frames = caller.frames.map((frame, index) => (index < last ? frame : withOneOff(frame, opened)));
      const context = this.#keeper.root({ ...caller, frames });
      const hold = new FrameHold(() => undefined, this.#holds.of(outer));
      return this.#enter(context, hold, fn, opened.end);
    });
  }

  /** As a caller that the service made up again for a resume: one frame of a module, without roles. */
  async resume<T>(caller: CallerContext, work: () => Promise<T>): Promise<T> {
    const subject = caller.frames.at(-1)?.subject;
    if (subject?.type !== "module") throw new TypeError("a resume runs as the module of its action");
    const { frame, leave } = this.#registered(subject, {});
    return guardedBy(leave, () => {
      const context = this.#keeper.root({
        ...caller,
        frames: [frame],
        interactive: false,
        credential: "runtime",
      });
      return this.#enter(context, new FrameHold(leave, undefined), work);
    });
  }

  /** INVARIANT: let go when the call is over, and for a promise when that is. */
  #enter<R>(context: RuntimeContext, hold: FrameHold, fn: () => R, end?: () => void): R {
    this.#holds.set(context, hold);
    const release = hold.take();
    const letGo = (): void => {
      end?.();
      release();
    };
    return this.#keeper.enter(context, () => {
      let result: R;
      let isLater: boolean;
      try {
        result = fn();
        isLater = isThenable(result);
      } catch (error) {
        letGo();
        throw error;
      }
      if (isLater) return settled(result, letGo) as R;
      letGo();
      return result;
    });
  }

  #registered(subject: Subject, options: EnterOptions): Frame {
    const phase = ownField(options, "phase");
    const entry = this.#registry.enter(subject, { phase });
    if (!entry.ok) throw new SubjectRefusedError(entry);
    return entry;
  }

  #withOneOff({ frame, leave }: Frame, given: OneOffUrl): Frame {
    const opened = this.#registry.oneOff(String(given.url), ownField(given, "operation"));
    if (!opened.ok) {
      leave();
      throw new SubjectRefusedError(opened);
    }
    return { frame: withOneOff(frame, opened), leave, end: opened.end };
  }
}

function coreFrame(subject: Subject): Frame {
  const frame = { subject, phase: "runtime", entry: "host", contracts: [] } as const;
  return { frame, leave: () => undefined };
}

/** What was taken is given back where entering itself fails. Giving back twice does nothing. */
function guardedBy<R>(leave: () => void, fn: () => R): R {
  try {
    return fn();
  } catch (error) {
    leave();
    throw error;
  }
}

/** INVARIANT: guarded code never decides, whatever user it runs for. */
export function isHostCode(caller: CallerContext): boolean {
  if (caller.credential !== "host" || caller.frames.length === 0) return false;
  return caller.frames.every(({ subject, entry }) => subject.type === "core" && entry === "host");
}
