/**
 * How long what a frame stands on must stay: until its call and the promise of it are over, and the children that were
 * started in it have ended. Must never let go twice, nor early.
 */
import type { RuntimeContext } from "@sallyport/context";

export class FrameHold {
  readonly #release: () => void;
  readonly #outer: FrameHold | undefined;
  #count = 0;

  constructor(release: () => void, outer: FrameHold | undefined) {
    this.#release = release;
    this.#outer = outer;
  }

  /** One more holds it, and all around it. What comes back lets go; calling it again does nothing. */
  take(): () => void {
    const letOuterGo = this.#outer?.take();
    this.#count += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#count -= 1;
      if (this.#count === 0) this.#release();
      letOuterGo?.();
    };
  }
}

/** The hold of each context; a context of nobody has none. */
export class FrameHolds {
  readonly #holds = new WeakMap<RuntimeContext, FrameHold>();

  of(context: RuntimeContext | undefined): FrameHold | undefined {
    return context === undefined ? undefined : this.#holds.get(context);
  }

  set(context: RuntimeContext, hold: FrameHold): void {
    this.#holds.set(context, hold);
  }
}
