/**
 * The worker that owns the connection of a guarded process, as the main thread uses it: posts questions to it, reads what
 * it hears, and blocks for an answer where a call is synchronous.
 * Must be made before foreign code: from then on only what was taken at import is used.
 */
import { type MessagePort, MessagePort as NativePort, receiveMessageOnPort } from "node:worker_threads";
import { SafeMap } from "../captured.ts";
import type { PrivateRealm } from "../private-realm.ts";
import { GateFault } from "../protocol/gate-fault.ts";
import type { AskWords, ChildEvent, HostedNames } from "../protocol/message.ts";
import { AllowlistHits } from "./allowlist-hits.ts";
import type { GateTransport, Sent } from "./gate-client.ts";
import { GateGreeting, type Greeted } from "./gate-greeting.ts";
import type { LinkAsk, LinkInquiry } from "./gate-link.ts";
import { GateMirror } from "./gate-mirror.ts";
import type { GateTerms } from "./gate-terms.ts";
import { monotonicMs } from "./monotonic.ts";
import { NOT_OPENED } from "./say-hello.ts";
import { SharedState } from "./shared-state.ts";
import { type StartedWorker, startGateWorker } from "./start-gate-worker.ts";
import { type Branch, type FromWorker, READY_TICKET, type ToWorker } from "./worker-message.ts";

export interface SyncGateOptions {
  /** The inherited descriptor, whose number is no identity; or the worker, where it was started already. */
  readonly gate: number | StartedWorker;
  /** Called while the worker starts, so that neither waits for the other. */
  readonly openRealm: () => PrivateRealm;
  /** The compiled `gate-worker`; the one beside this file where absent. */
  readonly worker?: URL | undefined;
  /** How long the first snapshot may take; 10 000 unless said. */
  readonly openMs?: number | undefined;
}

/* WHY: methods as they were at import; foreign code can replace those of the prototypes. */
/* oxlint-disable-next-line typescript/unbound-method -- called through Reflect.apply */
const { postMessage, ref, unref } = NativePort.prototype;
// oxlint-disable-next-line typescript/unbound-method -- called through Reflect.apply
const { decode } = TextDecoder.prototype;
const { apply } = Reflect;
const { parse } = JSON;
const receiveMessage = receiveMessageOnPort;

const OPEN_MS = 30_000;
/** How long a synchronous call may block this thread. */
export const BLOCKED_MS = 5000;
/** How long the end of a process may wait for its last reports. */
const DRAIN_MS = 1000;

export class WorkerTransport implements GateTransport {
  readonly #worker: StartedWorker["worker"];
  readonly mirror: GateMirror;
  readonly #shared: SharedState;
  readonly #open = new SafeMap<number, (text: string) => void>();
  /** Answers that were read and not handed out yet. */
  readonly #arrived = new SafeMap<number, string>();
  readonly #decoder = new TextDecoder();
  /** INVARIANT: never listened to, only read: foreign code can call a listener, and put words into its mouth. */
  readonly #port: MessagePort;
  readonly #wake: MessagePort;
  readonly #hits = new AllowlistHits((events) => this.#post({ kind: "report", events }));
  #terms: GateTerms | undefined;
  #ticket = READY_TICKET;
  #taken = 0;
  #hasReported = false;
  #branchPort: MessagePort | undefined;
  #isUp = false;
  /** The lease that this thread asked for itself; none where the worker asked for all of them. */
  #greetedEndMs = -1;

  constructor(options: SyncGateOptions) {
    const { gate, worker, openMs = OPEN_MS } = options;
    const ownWorker = (): URL => worker ?? new URL("./gate-worker.js", import.meta.url);
    const started = typeof gate === "number" ? startGateWorker({ gate, worker: ownWorker() }) : gate;
    this.#worker = started.worker;
    this.#shared = new SharedState(started.memory);
    this.#port = started.port;
    this.#wake = started.wake;
    this.#worker.on("error", () => this.#died());
    this.#worker.on("exit", () => this.#died());
    this.#wake.on("message", () => this.#woken());
    this.#wake.unref();
    const { greetedFd } = started;
    const greeting = greetedFd === undefined ? undefined : new GateGreeting(greetedFd, openMs);
    greeting?.listen();
    // WHY here: the service answers meanwhile, or the worker comes up.
    this.mirror = new GateMirror(options.openRealm());
    const leased = greeting?.lease();
    if (leased !== undefined) this.#handOver(leased);
    if (leased === undefined || leased.untilMs === 0) this.#awaitUp(openMs);
    this.pull();
    if (this.#terms === undefined || this.#shared.leaseEndMs === 0 || !this.mirror.isReady) {
      this.close();
      throw new GateFault("closed", NOT_OPENED);
    }
  }

  /** INVARIANT: the facts are taken before the program runs; from here on the worker alone touches the descriptor. */
  #handOver({ terms, facts, untilMs, link }: Greeted): void {
    this.#terms = terms;
    for (const one of facts) this.mirror.take(one);
    this.#shared.leaseEndMs = untilMs;
    this.#greetedEndMs = this.#shared.leaseEndMs;
    this.#post({ kind: "taken_over", start: link });
  }

  /** INVARIANT: a gate whose worker does not come up is closed. WHY before a question: its time is another one. */
  #awaitUp(timeoutMs: number = OPEN_MS): void {
    if (this.#isUp) return;
    this.#isUp = true;
    if (this.#shared.await(READY_TICKET, timeoutMs, monotonicMs) === undefined) this.#died();
  }

  get terms(): GateTerms {
    return this.#terms as GateTerms;
  }

  leaseEndMs(): number {
    const endMs = this.#shared.leaseEndMs;
    if (endMs !== this.#greetedEndMs || monotonicMs() < endMs) return endMs;
    // WHY: the first lease is over, and the worker, which renews it, is not up yet.
    this.#awaitUp();
    return this.#shared.leaseEndMs;
  }

  /** Messages of facts that have arrived, taken or not. */
  get factsPosted(): number {
    return this.#shared.facts;
  }

  hasNews(): boolean {
    return this.#shared.facts !== this.#taken;
  }

  pull(): void {
    while (this.hasNews()) {
      const received = receiveMessage(this.#port);
      if (received === undefined) return;
      this.#take(received.message as FromWorker);
    }
  }

  ask(ask: LinkAsk): { readonly answer: Promise<string>; readonly cancel: () => void } {
    let ticket = 0;
    const answer = new Promise<string>((resolve) => {
      ticket = this.askLater(ask, resolve);
    });
    return { answer, cancel: () => this.#post({ kind: "cancel", ticket }) };
  }

  inquire(inquiry: LinkInquiry): Sent {
    const ticket = ++this.#ticket;
    const answer = new Promise<string>((resolve) => this.#open.set(ticket, resolve));
    apply(ref, this.#wake, []);
    this.#post({ kind: "inquire", ticket, inquiry });
    return { answer, cancel: () => this.#post({ kind: "cancel", ticket }) };
  }

  /** Calls back in a turn of its own. Empty where there is no answer. */
  askLater(ask: LinkAsk, answered: (text: string) => void): number {
    const ticket = ++this.#ticket;
    this.#open.set(ticket, answered);
    apply(ref, this.#wake, []);
    this.#post({ kind: "ask", ticket, isSync: false, ask });
    return ticket;
  }

  /** Empty where no answer came in time. */
  askSync(ask: LinkAsk, timeoutMs: number): string {
    this.#awaitUp();
    const ticket = ++this.#ticket;
    this.#shared.expect(ticket);
    this.#post({ kind: "ask", ticket, isSync: true, ask });
    const bytes = this.#shared.await(ticket, timeoutMs, monotonicMs);
    if (bytes === undefined) {
      this.#post({ kind: "cancel", ticket });
      return "";
    }
    return apply(decode, this.#decoder, [bytes]);
  }

  report(event: ChildEvent): void {
    if (event.kind === "allowed") this.#hits.add(event.words);
    else this.#post({ kind: "report", events: [event] });
  }

  reportHit(
    hosted: HostedNames,
    resourceType: string,
    operation: string,
    target: string,
    requested: string,
  ): void {
    this.#hits.count(hosted, resourceType, operation, target, requested);
  }

  /** A hit with all its words, which are the same object as of the last equal one. */
  reportAgain(words: AskWords): void {
    this.#hits.again(words);
  }

  drain(): void {
    this.#hits.flush();
    if (!this.#hasReported) return;
    this.#awaitUp();
    const ticket = ++this.#ticket;
    this.#shared.expect(ticket);
    this.#post({ kind: "drain", ticket });
    this.#shared.await(ticket, DRAIN_MS, monotonicMs);
  }

  openBranch(hosted: HostedNames): Branch | undefined {
    this.#awaitUp();
    const ticket = ++this.#ticket;
    this.#shared.expect(ticket);
    this.#post({ kind: "branch", ticket, hosted });
    const bytes = this.#shared.await(ticket, BLOCKED_MS, monotonicMs);
    // INVARIANT: what was not awaited is released by the worker itself.
    this.#shared.expect(0);
    if (bytes === undefined || bytes.length === 0) return undefined;
    const fds = parse(apply(decode, this.#decoder, [bytes])) as readonly number[];
    const release = (): void => this.#post({ kind: "branched", ticket });
    return { fd: fds[0] as number, keptFd: fds[1] as number, release };
  }

  /** A gate for a thread that is about to start. */
  openBranchPort(hosted: HostedNames): MessagePort | undefined {
    this.#awaitUp();
    const ticket = ++this.#ticket;
    this.#shared.expect(ticket);
    this.#post({ kind: "branch_port", ticket, hosted });
    const bytes = this.#shared.await(ticket, BLOCKED_MS, monotonicMs);
    if (bytes === undefined || bytes.length === 0) return undefined;
    while (this.#branchPort === undefined) {
      const received = receiveMessage(this.#port);
      if (received === undefined) return undefined;
      this.#take(received.message as FromWorker);
    }
    const port = this.#branchPort;
    this.#branchPort = undefined;
    return port;
  }

  imported(name: string, evidence: string | undefined): void {
    this.#post({ kind: "imported", name, evidence });
  }

  close(): void {
    this.#post({ kind: "close" });
  }

  #post(message: ToWorker): void {
    if (message.kind === "report" || message.kind === "imported") this.#hasReported = true;
    apply(postMessage, this.#port, [message]);
  }

  #take(message: FromWorker): void {
    switch (message.kind) {
      case "agreed":
        this.#terms = message.terms;
        return;
      case "facts":
        this.#taken += 1;
        this.mirror.take(message.facts);
        return;
      case "branch_port":
        this.#branchPort = message.port;
        return;
      case "answer":
        this.#arrived.set(message.ticket, message.text);
    }
  }

  /** Whoever calls this says nothing by it. */
  #woken(): void {
    for (;;) {
      const received = receiveMessage(this.#port);
      if (received === undefined) break;
      this.#take(received.message as FromWorker);
    }
    while (this.#arrived.size > 0) {
      const ticket = this.#arrived.oldest();
      const text = this.#arrived.get(ticket) ?? "";
      this.#arrived.delete(ticket);
      this.#settle(ticket, text);
    }
  }

  #settle(ticket: number, text: string): void {
    const resolve = this.#open.get(ticket);
    this.#open.delete(ticket);
    if (this.#open.size === 0) apply(unref, this.#wake, []);
    resolve?.(text);
  }

  /** INVARIANT: a worker that is gone renews nothing, and leaves no question open. */
  #died(): void {
    this.#shared.leaseEndMs = 0;
    while (this.#open.size > 0) this.#settle(this.#open.oldest(), "");
  }
}
