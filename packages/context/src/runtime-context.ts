/**
 * The value that travels with asynchronous code. It shows nothing: only the keeper that made it can look inside.
 * INVARIANT: a private field is the brand. No other object has it: not one with the same prototype, not a clone, not a
 * proxy, not one that another keeper made.
 */
import type { CallerContext } from "@sallyport/contract";
import { bare, freeze } from "./captured.ts";

/** Held by one keeper alone. Whoever imports this file by its path still has no seal. */
export type Seal = object;

const MAKER = freeze(bare({}));

let make: (seal: Seal, caller: CallerContext) => RuntimeContext;
let look: (context: unknown) => { readonly seal: Seal; readonly caller: CallerContext } | undefined;

export class RuntimeContext {
  readonly #seal: Seal;
  readonly #caller: CallerContext;

  private constructor(maker: object, seal: Seal, caller: CallerContext) {
    if (maker !== MAKER) throw new TypeError("a runtime context is made by the host's keeper only");
    this.#seal = seal;
    this.#caller = caller;
    freeze(this);
  }

  static {
    make = (seal, caller) => new RuntimeContext(MAKER, seal, caller);
    look = (context) => {
      if (typeof context !== "object" || context === null || !(#seal in context)) return undefined;
      return { seal: context.#seal, caller: context.#caller };
    };
    freeze(bare(this.prototype));
    freeze(this);
  }
}

export function sealContext(seal: Seal, caller: CallerContext): RuntimeContext {
  return make(seal, caller);
}

/** `undefined` for everything that was not sealed with this seal. */
export function openContext(seal: Seal, context: unknown): CallerContext | undefined {
  const inside = look(context);
  return inside !== undefined && inside.seal === seal ? inside.caller : undefined;
}

/** Of any keeper; for what may be read of a context by whoever holds it. */
export function readContext(context: unknown): CallerContext | undefined {
  return look(context)?.caller;
}
