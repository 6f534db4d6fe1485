/**
 * Holds the runtime context of the code that runs now. One per runtime; the host alone holds it. Guarded code never
 * gets the keeper nor a context, only `contextFacts`. What is carried is trusted only where this keeper sealed it.
 * INVARIANT: no context is `undefined`, which callers answer with `no_subject`; it never means the host.
 */
import type { CallerContext, CallerFrame } from "@sallyport/contract";
import { type AsyncCarrier, openCarrier } from "./async-carrier.ts";
import { type HostFacts, copyCaller, withContract, withFacts, withFrame } from "./caller-copy.ts";
import { apply, bare, freeze, hasOwn } from "./captured.ts";
import { type RuntimeContext, type Seal, openContext, sealContext } from "./runtime-context.ts";

export interface ContextKeeperOptions {
  /**
   * For a process that was started for one subject: what holds where no context was carried, so that its callbacks are
   * never lost. Embedded hosts leave it out.
   */
  readonly process?: CallerContext;
}

export class ContextKeeper {
  readonly #seal: Seal = freeze(bare({}));
  readonly #carrier: AsyncCarrier = openCarrier();
  readonly #process: RuntimeContext | undefined;

  constructor(options: ContextKeeperOptions = bare({})) {
    const caller = hasOwn(options, "process") ? options.process : undefined;
    this.#process = caller === undefined ? undefined : this.root(caller);
    freeze(this);
  }

  static {
    freeze(bare(this.prototype));
    freeze(this);
  }

  /** A context from the host's own words, which are copied. */
  root(caller: CallerContext): RuntimeContext {
    return sealContext(this.#seal, copyCaller(caller));
  }

  /** One frame further in. */
  withFrame(context: RuntimeContext, frame: CallerFrame): RuntimeContext {
    return sealContext(this.#seal, withFrame(this.#open(context), frame));
  }

  /** The same frames with other facts of the host. */
  withFacts(context: RuntimeContext, facts: Partial<HostFacts>): RuntimeContext {
    return sealContext(this.#seal, withFacts(this.#open(context), facts));
  }

  /** The same frames, the active one with a one-off contract. */
  withContract(context: RuntimeContext, contract: string): RuntimeContext {
    return sealContext(this.#seal, withContract(this.#open(context), contract));
  }

  /** Runs `fn` in the context. What is synchronous stays so; what it returns or throws passes through. */
  enter<R>(context: RuntimeContext, fn: () => R): R {
    this.#open(context);
    return this.#carrier.run(context, fn);
  }

  /** The context of the code that runs now. */
  current(): RuntimeContext | undefined {
    const carried = this.#carrier.read();
    if (carried === undefined) return this.#process;
    return openContext(this.#seal, carried) === undefined ? undefined : (carried as RuntimeContext);
  }

  /** What the host said; `undefined` for whatever this keeper did not make. */
  callerOf(context: RuntimeContext | undefined): CallerContext | undefined {
    return openContext(this.#seal, context);
  }

  /** The function in the context of now, or in none where there is none, whoever calls it later. */
  bind<T, A extends unknown[], R>(fn: (this: T, ...args: A) => R): (this: T, ...args: A) => R {
    const carrier = this.#carrier;
    const context = this.current();
    return function bound(this: T, ...args: A): R {
      return carrier.run(context, () => apply(fn, this, args));
    };
  }

  #open(context: RuntimeContext): CallerContext {
    const caller = openContext(this.#seal, context);
    if (caller !== undefined) return caller;
    throw new TypeError("the context was not made by this keeper: make one with `root`");
  }
}
