/**
 * The broker: hears the supervisor, asks whoever decides, and answers. It decides nothing itself.
 * INVARIANT: no answer, a fault or a stranger's message is a refusal; the program goes on only by the word `allow`.
 */
import { type LauncherMessage, type TrappedCall, readLauncherMessage } from "./trapped-call.ts";

export type Ruling = "allow" | "deny";

/** Asked once for each call that stopped. The signal says that nobody waits any more. */
export type Decide = (call: TrappedCall, signal: AbortSignal) => Promise<Ruling>;

/** Puts on record what is granted and destroys; `deny`: that cannot be, and it may not be done. Never rejects. */
export type Recorder = (call: TrappedCall) => Promise<Ruling>;

export interface BrokerParts {
  readonly decide: Decide;
  /** To the launcher. */
  readonly send: (text: string) => void;
  readonly record: Recorder;
  /** Blocked without a question. */
  readonly onViolation: (call: TrappedCall) => void;
  readonly onStarted: () => void;
  /** From now on nothing is granted without a question. */
  readonly onNarrowed: () => void;
  readonly onFailed: (step: string, error: number) => void;
  /** The launcher said what it never says. */
  readonly onStrange: () => void;
}

export class Broker {
  readonly #parts: BrokerParts;
  readonly #waiting = new Map<number, AbortController>();

  constructor(parts: BrokerParts) {
    this.#parts = parts;
  }

  /** Calls that a decision is awaited for. */
  get waiting(): number {
    return this.#waiting.size;
  }

  async take(raw: unknown): Promise<void> {
    const message = readLauncherMessage(raw);
    if (message === undefined) this.#parts.onStrange();
    else await this.#hear(message);
  }

  /** The sandbox is over: nobody waits. */
  close(): void {
    for (const controller of this.#waiting.values()) controller.abort();
    this.#waiting.clear();
  }

  async #hear(message: LauncherMessage): Promise<void> {
    switch (message.kind) {
      case "started":
        return this.#parts.onStarted();
      case "narrowed":
        return this.#parts.onNarrowed();
      case "failed":
        return this.#parts.onFailed(message.step, message.error);
      case "violation":
        return this.#parts.onViolation(message.call);
      case "granted":
        await this.#parts.record(message.call);
        return undefined;
      case "cancel":
        this.#waiting.get(message.id)?.abort();
        this.#waiting.delete(message.id);
        return undefined;
      case "ask":
        return this.#ask(message.id, message.call);
    }
  }

  async #ask(id: number, call: TrappedCall): Promise<void> {
    const controller = new AbortController();
    this.#waiting.set(id, controller);
    let ruling: Ruling = "deny";
    try {
      ruling = await this.#ruling(call, controller.signal);
    } catch {
      ruling = "deny";
    }
    if (!this.#waiting.delete(id)) return;
    this.#parts.send(`${ruling === "allow" ? "allow" : "deny"} ${id}`);
  }

  /** INVARIANT: a call of which a part is granted and destroys goes on only when that part is on record. */
  async #ruling(call: TrappedCall, signal: AbortSignal): Promise<Ruling> {
    const isAsked = call.parts.length + call.gains.length > 0;
    const ruling = isAsked ? await this.#parts.decide(call, signal) : "allow";
    return ruling === "allow" && call.granted.length > 0 ? this.#parts.record(call) : ruling;
  }
}
