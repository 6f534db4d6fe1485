/**
 * The subjects that the program of one child may run in its own process, on top of the child's own frames. The host that
 * opened the gate named them, and the runtime took their rules from its registry; the child only says which of them act.
 * Trusts the host for the list. INVARIANT: what is not on the list is never entered.
 */
import { type Subject, sameSubject } from "@sallyport/contract";
import type { AskWords } from "@sallyport/gate";
import type { Context, Frame } from "@sallyport/policy";
import type { CallerContext } from "../caller-context.ts";
import { contextTexts } from "./child-facts.ts";

export interface HostedSubject {
  readonly frame: Frame;
  /** Sensitive imports that its manifest lists. */
  readonly imports: readonly string[];
}

type ContextTexts = ReturnType<typeof contextTexts>;

export interface ChildContexts extends ContextTexts {
  readonly hosted?: readonly ({ readonly subject: Subject } & ContextTexts)[];
}

export type HostedNames = AskWords["hosted"];

/** Who asks. */
export interface Standing {
  readonly caller: CallerContext;
  /** Was named and may not act here: to be answered as such. */
  readonly refused: Pick<Subject, "type" | "name"> | undefined;
}

export class HostedFrames {
  readonly #caller: CallerContext;
  readonly #subjects: readonly HostedSubject[];

  constructor(caller: CallerContext, subjects: readonly HostedSubject[]) {
    this.#caller = caller;
    this.#subjects = subjects;
  }

  get frames(): readonly Frame[] {
    return this.#subjects.map(({ frame }) => frame);
  }

  /** What the child is told of them at the beginning. */
  terms() {
    if (this.#subjects.length === 0) return {};
    return { hosted: this.#subjects.map(({ frame, imports }) => ({ subject: frame.subject, imports })) };
  }

  /** The child's own contexts, and those of each of them alone on top. */
  contexts(contextOf: (caller: CallerContext) => Context): ChildContexts {
    const own = contextTexts(contextOf(this.#caller));
    if (this.#subjects.length === 0) return own;
    const hosted = this.frames.map((frame) => ({
      subject: frame.subject,
      ...contextTexts(contextOf(withFrames(this.#caller, [frame]))),
    }));
    return { ...own, hosted };
  }

  /** INVARIANT: nobody, an empty list, is without frames and may do nothing. */
  standing(names: HostedNames): Standing {
    if (names === undefined) return { caller: this.#caller, refused: undefined };
    if (names.length === 0) return { caller: { ...this.#caller, frames: [] }, refused: undefined };
    const frames: Frame[] = [];
    for (const name of names) {
      const found = this.#subjects.find(({ frame }) => sameSubject(frame.subject, name as Subject));
      if (found === undefined) return { caller: this.#caller, refused: name as Subject };
      frames.push(found.frame);
    }
    return { caller: withFrames(this.#caller, frames), refused: undefined };
  }
}

function withFrames(caller: CallerContext, frames: readonly Frame[]): CallerContext {
  return { ...caller, frames: [...caller.frames, ...frames] };
}
