/**
 * The child's end of the gate: hello, facts, questions, heartbeats. Whoever uses it takes the facts and the lease.
 * Trusts the service for what it says and nobody for when. Runs in the thread that owns the socket, which in a guarded
 * process is a worker that no foreign code reaches; elsewhere it is not immune to built-ins that foreign code replaced.
 * INVARIANT: the lease is counted from before the heartbeat was sent, so it ends here before it ends in the service.
 */
import type { Duplex } from "node:stream";
import { BranchDuplex } from "../branch/branch-duplex.ts";
import { BRANCHES_MAX, EVENTS_MAX, OUTBOUND_BYTES_MAX, PROTOCOL_VERSION } from "../protocol/bounds.ts";
import { GateChannel, type GateTimers } from "../protocol/gate-channel.ts";
import { GateFault } from "../protocol/gate-fault.ts";
import {
  type AskMessage,
  type BranchMessage,
  type ChildEvent,
  type ChildMessage,
  FRAME_BYTES_MAX,
  type FactsMessage,
  type HostedNames,
  type InquireMessage,
  type ServiceMessage,
  serviceMessages,
} from "../protocol/message.ts";
import { type GateTerms, type LinkStart, type ServiceHello, agreedTerms } from "./gate-terms.ts";

/** What the child does with what it hears. */
export interface LinkSink {
  agreed(terms: GateTerms): void;
  /** False: the facts were refused, and the connection ends. After true no decision is made on older facts. */
  facts(message: FactsMessage): boolean;
  /** Live until then, by the monotonic clock; `0`: not live. */
  leased(untilMs: number): void;
  closed(fault: GateFault): void;
}

export interface LinkOptions {
  readonly socket: Duplex;
  readonly sink: LinkSink;
  readonly timers: GateTimers;
  readonly monotonicMs: () => number;
  /** Where somebody else has begun; from hello on unless said. */
  readonly start?: LinkStart | undefined;
}

/** JSON text of a check or of what was inquired, or empty where there is none. */
export type LinkAnswer = string;

export type LinkAsk = Omit<AskMessage, "kind" | "id">;
export type LinkInquiry = Omit<InquireMessage, "kind" | "id">;

/** What is awaited: an answer to a question, or what was inquired about. */
interface Open {
  readonly about: "check" | InquireMessage["about"];
  readonly resolve: (answer: LinkAnswer) => void;
  isAnswered: boolean;
}

/** More questions than this under way are a fault of the child's own. */
const OPEN_MAX = 4096;
const EVENT_AGE_MS = 100;

type State = "greeting" | "loading" | "open" | "closed";

export class GateLink {
  readonly #options: LinkOptions;
  readonly #channel: GateChannel<ServiceMessage, ChildMessage>;
  readonly #open = new Map<number, Open>();
  readonly #beats = new Map<number, number>();
  readonly #branches = new Map<number, BranchDuplex>();
  #state: State = "greeting";
  #leaseMs = 0;
  #revision = -1;
  #lastId = 0;
  #lastBeat = 0;
  #lastBranch = 0;
  #events: ChildEvent[] = [];
  #stopBeating: () => void = () => undefined;
  /** Events that never reached the service. */
  lost = 0;

  constructor(options: LinkOptions) {
    this.#options = options;
    const { socket, timers, start } = options;
    this.#channel = new GateChannel({
      socket,
      timers,
      reader: serviceMessages(start?.read),
      written: start?.written,
      inboundBytesMax: FRAME_BYTES_MAX.service,
      outboundBytesMax: FRAME_BYTES_MAX.child,
      unreadBytesMax: OUTBOUND_BYTES_MAX,
      onMessage: (message) => this.#hear(message),
      onClosed: (fault) => this.#closed(fault),
    });
    if (start === undefined) this.#channel.send({ kind: "hello", protocol: PROTOCOL_VERSION });
    else this.#takeOver(start);
  }

  #takeOver({ leaseMs, heartbeatMs, revision, lastBeat }: LinkStart): void {
    this.#state = "open";
    this.#leaseMs = leaseMs;
    this.#revision = revision;
    this.#lastBeat = lastBeat;
    this.#beat();
    this.#beatEvery(Math.max(1, heartbeatMs));
  }

  /** Empty where the connection is over, or ends before the answer. */
  ask(ask: LinkAsk): { readonly id: number; readonly answer: Promise<LinkAnswer> } {
    return this.#sent("check", (id) => ({ kind: "ask", id, ...ask }));
  }

  /** Empty where the connection is over, or ends before the answer. */
  inquire(inquiry: LinkInquiry): { readonly id: number; readonly answer: Promise<LinkAnswer> } {
    return this.#sent(inquiry.about, (id) => ({ kind: "inquire", id, ...inquiry }));
  }

  /** The service stops waiting and answers with what it has. */
  cancel(id: number): void {
    if (this.#open.has(id)) this.#channel.send({ kind: "cancel", id });
  }

  /** Sent with others a moment later. What cannot be sent is lost, and counted. */
  report(event: ChildEvent): void {
    if (this.#state !== "open") {
      this.lost += 1;
      return;
    }
    this.#events.push(event);
    if (this.#events.length === EVENTS_MAX) this.flush();
    else if (this.#events.length === 1) this.#options.timers.after(EVENT_AGE_MS, () => this.flush());
  }

  flush(): void {
    if (this.#events.length === 0) return;
    const entries = this.#events;
    this.#events = [];
    if (this.#state === "open") this.#channel.send({ kind: "event", entries });
    else this.lost += entries.length;
  }

  /** A sensitive module was loaded. */
  imported(name: string, evidence: string | undefined): void {
    if (this.#state === "open") this.#channel.send({ kind: "imported", name, evidence });
  }

  /** A gate of its own for a program that this process starts. `undefined`: there is none now. */
  branch(hosted: HostedNames): BranchDuplex | undefined {
    if (this.#state !== "open" || this.#branches.size >= BRANCHES_MAX) return undefined;
    const id = ++this.#lastBranch;
    const branch = new BranchDuplex(id, (message) => this.#channel.send(message));
    this.#branches.set(id, branch);
    branch.once("close", () => this.#branches.delete(id));
    branch.on("error", () => undefined);
    this.#channel.send({ kind: "branch", branch: id, hosted });
    return branch;
  }

  close(): void {
    this.#channel.close(new GateFault("closed"));
  }

  #hear(message: ServiceMessage): void {
    switch (message.kind) {
      case "hello":
        this.#agree(message);
        return;
      case "snapshot":
      case "delta":
        this.#takeFacts(message);
        return;
      case "answer":
        this.#answered(message.id, message.check, "answer");
        return;
      case "told":
        this.#answered(message.id, message.value, "told");
        return;
      case "heartbeat":
        this.#beaten(message.beat, message.live);
        return;
      case "branch_bytes":
      case "branch_taken":
      case "branch_end":
        this.#toBranch(message);
        return;
      case "close":
        throw new GateFault("closed", message.message);
    }
  }

  #agree(hello: ServiceHello): void {
    if (this.#state !== "greeting") throw new GateFault("out_of_state");
    const terms = agreedTerms(hello);
    this.#state = "loading";
    this.#leaseMs = hello.leaseMs;
    this.#options.sink.agreed(terms);
    this.#beatEvery(Math.max(1, hello.heartbeatMs));
  }

  /** WHY: one that is not known has ended here while this was on its way. */
  #toBranch(message: BranchMessage): void {
    this.#branches.get(message.branch)?.hear(message);
  }

  #takeFacts(message: FactsMessage): void {
    const { revision, isFitting } =
      message.kind === "snapshot"
        ? { revision: message.revision, isFitting: this.#state === "loading" }
        : { revision: message.to, isFitting: this.#state === "open" && message.from === this.#revision };
    if (!isFitting || revision < this.#revision) throw new GateFault("out_of_state");
    if (!this.#options.sink.facts(message)) throw new GateFault("refused_facts");
    if (!message.isLast) return;
    this.#revision = revision;
    this.#channel.send({ kind: "confirm", revision });
    if (this.#state !== "loading") return;
    this.#state = "open";
    this.#beat();
  }

  #sent(about: Open["about"], message: (id: number) => ChildMessage) {
    const id = ++this.#lastId;
    if (this.#state !== "open" || this.#open.size >= OPEN_MAX) return { id, answer: Promise.resolve("") };
    const answer = new Promise<LinkAnswer>((resolve) =>
      this.#open.set(id, { about, resolve, isAnswered: false }),
    );
    this.#channel.send(message(id));
    return { id, answer };
  }

  #answered(id: number, value: unknown, kind: "answer" | "told"): void {
    const open = this.#open.get(id);
    // WHY: an answer that nobody asked for, or a second one, could be meant for another question.
    if (open === undefined || open.isAnswered) throw new GateFault("duplicate_id");
    if ((open.about === "check") !== (kind === "answer")) throw new GateFault("unknown_message", open.about);
    open.isAnswered = true;
    void this.#read(id, open, value);
  }

  /** INVARIANT: open until it was read, so that the end of the connection answers it. Never rejects. */
  async #read(id: number, { about, resolve }: Open, value: unknown): Promise<void> {
    try {
      const { ANSWER_WIRES } = await import("./answer-wires.ts");
      const parsed = ANSWER_WIRES[about].parse(value);
      if (!parsed.ok) throw new GateFault("unknown_message", about);
      this.#open.delete(id);
      resolve(JSON.stringify(parsed.value));
    } catch {
      this.#channel.close(new GateFault("unknown_message", about));
    }
  }

  #beatEvery(heartbeatMs: number): void {
    const next = (): void => {
      this.#stopBeating = this.#options.timers.after(heartbeatMs, () => {
        if (this.#state === "open") this.#beat();
        next();
      });
    };
    next();
  }

  #beat(): void {
    const beat = ++this.#lastBeat;
    const sentMs = this.#options.monotonicMs();
    for (const [old, oldMs] of this.#beats) if (oldMs + this.#leaseMs <= sentMs) this.#beats.delete(old);
    this.#beats.set(beat, sentMs);
    this.#channel.send({ kind: "heartbeat", beat });
  }

  #beaten(beat: number, isLive: boolean): void {
    const sentMs = this.#beats.get(beat);
    if (beat > this.#lastBeat || beat === 0) throw new GateFault("out_of_state");
    if (sentMs === undefined) return;
    this.#beats.delete(beat);
    if (isLive) this.#options.sink.leased(sentMs + this.#leaseMs);
  }

  #closed(fault: GateFault): void {
    this.#state = "closed";
    this.#stopBeating();
    this.#options.sink.leased(0);
    for (const { resolve } of this.#open.values()) resolve("");
    this.#open.clear();
    for (const branch of this.#branches.values()) branch.destroy();
    this.#options.sink.closed(fault);
  }
}
