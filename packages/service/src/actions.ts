/**
 * Resume actions that modules registered, and who may name them. Some run in this process, some are offered by remote
 * hosts, each for its own session. Trusts the host: guarded code registers through its own module's start, and the host
 * says which module a subject belongs to.
 */
import { type OfferedAction, type Subject, sameSubject } from "@sallyport/contract";
import type { Json, SessionIdentity } from "@sallyport/store";
import type { CallerContext } from "./caller-context.ts";

const ACTION_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
/** Of all remote hosts together. */
const OFFERED_NAMES_MAX = 4096;
/** Of one action: the offer that was repeated least lately goes. Hosts repeat theirs all the time. */
const OFFERS_MAX = 1000;

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

/** An action as others see it. */
export interface KnownAction {
  readonly module: string;
  /** `null`: remote hosts run it. */
  readonly handler: ResumeHandler | null;
}

interface Offer {
  readonly session: SessionIdentity;
  readonly openTo: readonly Subject[];
}

interface Offered {
  readonly module: string;
  /** The one that was repeated last is the last. */
  offers: readonly Offer[];
}

export class ActionRegistry {
  readonly #actions = new Map<string, ResumeAction>();
  readonly #offered = new Map<string, Offered>();
  readonly #moduleOf: (subject: Subject) => string | undefined;

  /** @param moduleOf the module of an asset; a module is its own */
  constructor(moduleOf: (subject: Subject) => string | undefined = () => undefined) {
    this.#moduleOf = moduleOf;
  }

  /** Another module's action of this name is never replaced. */
  register(action: ResumeAction): void {
    checkName(action.name);
    this.#checkOwner(action.name, action.module);
    this.#offered.delete(action.name);
    this.#actions.set(action.name, Object.freeze({ ...action }));
  }

  /** For one session. What is registered in this process, or is another module's, is never replaced. */
  offer({ name, module, openTo }: OfferedAction, session: SessionIdentity): void {
    checkName(name);
    this.#checkOwner(name, module);
    if (this.#actions.has(name))
      throw new TypeError(`the action \`${name}\` runs where the service is: register it there alone`);
    const known = this.#offered.get(name);
    if (known === undefined && this.#offered.size >= OFFERED_NAMES_MAX)
      throw new TypeError("too many actions are offered: leave out those that nobody names");
    const others = (known?.offers ?? []).filter((offer) => !isSame(offer.session, session));
    const offers = [...others, Object.freeze({ session, openTo: Object.freeze([...openTo]) })];
    this.#offered.set(name, { module, offers: offers.slice(-OFFERS_MAX) });
  }

  unregister(name: string): void {
    this.#actions.delete(name);
    this.#offered.delete(name);
  }

  get(name: string): KnownAction | undefined {
    const own = this.#actions.get(name);
    if (own !== undefined) return own;
    const offered = this.#offered.get(name);
    return offered === undefined ? undefined : { module: offered.module, handler: null };
  }

  /** The actions that run in this process. */
  get ownNames(): readonly string[] {
    return [...this.#actions.keys()];
  }

  /** Whether this subject may have the action run after an approval, in this session. */
  mayName(subject: Subject, name: string, session: SessionIdentity): boolean {
    const own = subject.type === "module" ? subject.name : this.#moduleOf(subject);
    const action = this.#actions.get(name);
    if (action !== undefined) return own === action.module || isOpen(action.openTo ?? [], subject);
    const offered = this.#offered.get(name);
    const offer = offered?.offers.find((one) => isSame(one.session, session));
    if (offered === undefined || offer === undefined) return false;
    return own === offered.module || isOpen(offer.openTo, subject);
  }

  #checkOwner(name: string, module: string): void {
    const known = this.get(name);
    if (known !== undefined && known.module !== module) {
      throw new TypeError(
        `the action \`${name}\` belongs to module \`${known.module}\`: choose another name`,
      );
    }
  }
}

function checkName(name: string): void {
  if (!ACTION_NAME.test(name))
    throw new TypeError(`\`${name}\` is no action name: use letters, digits and any of _.-`);
}

function isOpen(openTo: readonly Subject[], subject: Subject): boolean {
  return openTo.some((other) => sameSubject(other, subject));
}

/** INVARIANT: each field by itself: `21` and `"21"` are two users. */
function isSame(left: SessionIdentity, right: SessionIdentity): boolean {
  return (
    left.organizationId === right.organizationId &&
    left.userId === right.userId &&
    left.sessionKey === right.sessionKey
  );
}
