/**
 * Resume actions that modules of the host registered, and who may name them. Trusts the host: guarded code registers
 * through its own module's start, and the host says which module a subject belongs to.
 */
import { type Subject, sameSubject } from "@sallyport/contract";
import type { Json } from "@sallyport/store";
import type { CallerContext } from "./caller-context.ts";

const ACTION_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

export interface ResumeRun {
  /** What the host gives a handler to work with; absent where the host gave nothing. */
  readonly sdk?: unknown;
  /** The same for every run of one job. */
  readonly idempotencyKey: string;
  /** Entered by the host: the module that registered the action, for the user who asked. */
  readonly caller: CallerContext;
  /** Aborted when this executor lost the job. */
  readonly signal: AbortSignal;
}

export type ResumeHandler = (context: Json, run: ResumeRun) => Promise<void> | void;

export interface ResumeAction {
  readonly name: string;
  /** The module that registered it. */
  readonly module: string;
  readonly handler: ResumeHandler;
  /** Subjects of other modules that may name it. */
  readonly openTo?: readonly Subject[] | undefined;
}

export class ActionRegistry {
  readonly #actions = new Map<string, ResumeAction>();
  readonly #moduleOf: (subject: Subject) => string | undefined;

  /** @param moduleOf the module of an asset; a module is its own */
  constructor(moduleOf: (subject: Subject) => string | undefined = () => undefined) {
    this.#moduleOf = moduleOf;
  }

  /** Another module's action of this name is never replaced. */
  register(action: ResumeAction): void {
    if (!ACTION_NAME.test(action.name)) {
      throw new TypeError(`\`${action.name}\` is no action name: use letters, digits and any of _.-`);
    }
    const known = this.#actions.get(action.name);
    if (known !== undefined && known.module !== action.module) {
      throw new TypeError(
        `the action \`${action.name}\` belongs to module \`${known.module}\`: choose another name`,
      );
    }
    this.#actions.set(action.name, Object.freeze({ ...action }));
  }

  unregister(name: string): void {
    this.#actions.delete(name);
  }

  get(name: string): ResumeAction | undefined {
    return this.#actions.get(name);
  }

  /** Whether this subject may have the action run after an approval. */
  mayName(subject: Subject, name: string): boolean {
    const action = this.#actions.get(name);
    if (action === undefined) return false;
    const own = subject.type === "module" ? subject.name : this.#moduleOf(subject);
    return own === action.module || (action.openTo ?? []).some((other) => sameSubject(other, subject));
  }
}
