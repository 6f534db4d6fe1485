/**
 * The questions, inquiries and events of one child, bounded. What ends by itself holds the reading up where there is too much of
 * it; what waits for a person does not, and past its bound is answered without waiting.
 */
import {
  type AskMessage,
  type AskWords,
  type ChildMessage,
  type GateChannel,
  GateFault,
  type InquireMessage,
  type ServiceMessage,
  gateBounds as bounds,
} from "@sallyport/gate";
import { type ExternalAccessCheck, externalAccessCheckWire } from "@sallyport/contract";
import { callerFactsWire, stateAnswerWire, waitAnswerWire } from "@sallyport/contract/remote";
import type { Ask, CallerContext, Wait } from "../caller-context.ts";
import { callerFacts } from "./caller-facts.ts";
import {
  type ChildAsk,
  type Enforcer,
  childAsk,
  enforcedCaller,
  enteredCaller,
  resumeOf,
} from "./child-words.ts";
import type { GateNode } from "./gate-node.ts";
import type { HostedFrames, HostedNames } from "./hosted-frames.ts";

type Channel = Pick<GateChannel<ChildMessage, ServiceMessage>, "send" | "pause" | "resume" | "close">;
type Asked = Extract<ChildMessage, { readonly kind: "ask" | "inquire" | "cancel" | "event" }>;

/** A day: longer than anybody waits at a call. */
const WAIT_MS_MAX = 86_400_000;

export class ChildAsks {
  readonly #node: GateNode;
  readonly #hosted: HostedFrames;
  readonly #channel: Channel;
  readonly #enforcer: Enforcer;
  readonly #waits = new Map<number, AbortController>();
  #lastId = 0;
  #running = 0;
  #isClosed = false;
  /** Events that were not recorded because there were too many. */
  dropped = 0;

  constructor(node: GateNode, hosted: HostedFrames, channel: Channel, enforcer: Enforcer) {
    this.#node = node;
    this.#hosted = hosted;
    this.#channel = channel;
    this.#enforcer = enforcer;
  }

  hear(message: Asked): void {
    switch (message.kind) {
      case "ask":
        this.#number(message.id);
        void this.#answer(message);
        return;
      case "inquire":
        this.#number(message.id);
        void this.#tell(message);
        return;
      case "cancel":
        // WHY: an answer may be on its way already, so one that is not known is no fault.
        this.#waits.get(message.id)?.abort();
        return;
      case "event":
        void this.#record(message.entries);
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const wait of this.#waits.values()) wait.abort();
  }

  #number(id: number): void {
    if (id <= this.#lastId) throw new GateFault("duplicate_id");
    this.#lastId = id;
  }

  async #tell(message: InquireMessage): Promise<void> {
    const { id } = message;
    const wait = message.about === "request" ? this.#waitOf(message) : undefined;
    if (wait === undefined) this.#begin();
    try {
      const value = await this.#told(message, wait ?? { timeoutMs: 0 });
      if (!this.#isClosed) this.#channel.send({ kind: "told", id, value });
    } catch {
      this.#channel.close(new GateFault("closed", "an inquiry could not be answered"));
    } finally {
      this.#waits.delete(id);
      if (wait === undefined) this.#end();
    }
  }

  /** INVARIANT: only what is the child's own: its caller is that of the socket. */
  async #told({ about, hosted, entered, requestId = "" }: InquireMessage, wait: Wait): Promise<unknown> {
    const { service } = this.#node;
    const own = this.#inquiring(hosted);
    switch (about) {
      case "facts":
        return callerFactsWire.format(callerFacts(own));
      case "state": {
        const caller = enteredCaller(own, entered);
        const state = "code" in caller ? undefined : await service.state(caller);
        return stateAnswerWire.format({ state: state ?? null });
      }
      case "request":
        return waitAnswerWire.format(await service.wait(own, requestId, wait));
    }
  }

  #inquiring(hosted: HostedNames): CallerContext {
    const { caller, refused } = this.#hosted.standing(hosted);
    return refused === undefined ? caller : { ...caller, frames: [] };
  }

  async #answer(message: AskMessage): Promise<void> {
    const { id } = message;
    const wait = this.#waitOf(message);
    if (wait === undefined) this.#begin();
    try {
      const check = await this.#ask(message, wait);
      if (!this.#isClosed)
        this.#channel.send({ kind: "answer", id, check: externalAccessCheckWire.format(check) });
    } catch {
      // INVARIANT: neither verb throws when blocked; without an answer the child is cut off, and fails closed.
      this.#channel.close(new GateFault("closed", "a question could not be answered"));
    } finally {
      this.#waits.delete(id);
      if (wait === undefined) this.#end();
    }
  }

  #waitOf({ id, waitMs }: Pick<AskMessage, "id" | "waitMs">): Wait | undefined {
    if (waitMs === undefined || this.#waits.size >= bounds.WAITS_MAX) return undefined;
    const controller = new AbortController();
    this.#waits.set(id, controller);
    return { timeoutMs: Math.min(waitMs, WAIT_MS_MAX), signal: controller.signal };
  }

  #ask(message: AskMessage, wait: Wait | undefined): Promise<ExternalAccessCheck> {
    const { verb, words, registerRequest } = message;
    const { service } = this.#node;
    const { caller, ask } = this.#asked(words, { registerRequest, wait });
    switch (verb) {
      case "check":
        return service.check(caller, ask);
      case "require": {
        const resume = resumeOf(message);
        if ("code" in resume) return service.check(caller, { ...ask, access: resume });
        return service.require(caller, { ...ask, ...resume });
      }
    }
  }

  /** INVARIANT: what a child reports is decided again, and recorded as its own, attested by what enforces it. */
  async #record(entries: Extract<ChildMessage, { readonly kind: "event" }>["entries"]): Promise<void> {
    const { service } = this.#node;
    this.#begin();
    for (const { kind, words, count: times } of entries) {
      const subject = this.#hosted.standing(words.hosted).caller.frames.at(-1)?.subject;
      if (this.#isClosed || subject === undefined || !this.#node.mayReport(subject)) {
        this.dropped += 1;
        continue;
      }
      const { caller, ask } = this.#asked(words, { registerRequest: false });
      await service.check(caller, { ...ask, times, enforced: kind === "violation" }).catch(() => undefined);
    }
    this.#end();
  }

  #asked(words: AskWords, rest: Pick<Ask, "registerRequest" | "wait">): ChildAsk {
    const { caller: own, refused } = this.#hosted.standing(words.hosted);
    const { mode } = this.#node.contextOf(own);
    const caller = enforcedCaller(own, this.#enforcer, mode);
    // WHY: a subject that may not act here is on no chain, and to name it says so.
    const asked = refused === undefined ? words : { ...words, named: refused };
    return childAsk(caller, asked, this.#node.parseUrl, { ...rest, enforcer: this.#enforcer });
  }

  #begin(): void {
    this.#running += 1;
    if (this.#running >= bounds.OPEN_ASKS_MAX) this.#channel.pause();
  }

  #end(): void {
    this.#running -= 1;
    if (this.#running < bounds.OPEN_ASKS_MAX) this.#channel.resume();
  }
}
