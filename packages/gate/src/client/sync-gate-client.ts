/**
 * The gate of a guarded process: a worker owns the connection; this thread decides from memory, asks without waiting,
 * or asks and blocks for a bounded time. One connection, one owner: both ways of asking go through the worker.
 * Must be opened before foreign code. Not immune: foreign code that can end the worker or write to the descriptor
 * takes the lease away with it, and then only the allowlist is left.
 */
import {
  MessageChannel,
  type MessagePort,
  MessagePort as NativePort,
  Worker,
  receiveMessageOnPort,
} from "node:worker_threads";
import type { ExternalAccessCheck } from "@sallyport/contract";
import { SafeMap } from "../captured.ts";
import type { PrivateRealm } from "../private-realm.ts";
import { GateFault } from "../protocol/gate-fault.ts";
import type { AskWords } from "../protocol/message.ts";
import { type CheckOptions, GateClient, type GateTransport, type Sent } from "./gate-client.ts";
import type { GateTerms, LinkAsk, LinkInquiry } from "./gate-link.ts";
import { GateMirror } from "./gate-mirror.ts";
import { monotonicMs } from "./monotonic.ts";
import { SharedState } from "./shared-state.ts";
import { type FromWorker, READY_TICKET, type ToWorker, type WorkerStart } from "./worker-message.ts";

export interface SyncGateOptions {
  /** The inherited descriptor. Its number is no identity. */
  readonly fd: number;
  readonly realm: PrivateRealm;
  /** The compiled `gate-worker`; beside this file where absent. */
  readonly workerFile?: URL | undefined;
  /** How long the first snapshot may take; 10 000 unless said. */
  readonly openMs?: number | undefined;
}

export type LaterOptions = Pick<CheckOptions, "registerRequest" | "waitMs">;

export interface SyncOptions {
  readonly registerRequest?: boolean | undefined;
  /** How long this thread may be blocked; 5000 unless said. */
  readonly timeoutMs?: number | undefined;
}

/* WHY: methods as they were at import; foreign code can replace those of the prototypes. */
/* oxlint-disable-next-line typescript/unbound-method -- called through Reflect.apply */
const { postMessage, ref, unref } = NativePort.prototype;
// oxlint-disable-next-line typescript/unbound-method -- called through Reflect.apply
const { decode } = TextDecoder.prototype;
const { apply } = Reflect;
const receiveMessage = receiveMessageOnPort;

const OPEN_MS = 10_000;
const BLOCKED_MS = 5000;

export class SyncGateClient extends GateClient {
  readonly #owner: WorkerTransport;

  private constructor(owner: WorkerTransport, mirror: GateMirror) {
    super(owner, mirror);
    this.#owner = owner;
  }

  /** Blocks until the first snapshot is there; throws a {@link GateFault} where it does not come. */
  static open(options: SyncGateOptions): SyncGateClient {
    const mirror = new GateMirror(options.realm);
    return new SyncGateClient(new WorkerTransport(options, mirror), mirror);
  }

  checkSync(words: AskWords, options: SyncOptions = {}): ExternalAccessCheck {
    const { registerRequest, timeoutMs = BLOCKED_MS } = options;
    const foreseen = this.foresee(words, registerRequest);
    const known = this.fromMemory(words, foreseen);
    if (known !== undefined) return known;
    const text = this.#owner.askSync({ verb: "check", words, registerRequest }, timeoutMs);
    return this.answerOf(text, words, foreseen);
  }

  /**
   * As {@link GateClient.check}, with a callback: at once where memory knows the answer.
   * WHY: between a promise and whoever awaits it foreign code can put a `then` of its own.
   */
  checkLater(words: AskWords, options: LaterOptions, answered: (check: ExternalAccessCheck) => void): void {
    const { registerRequest, waitMs } = options;
    const foreseen = this.foresee(words, registerRequest);
    const known = this.fromMemory(words, foreseen);
    if (known !== undefined) {
      answered(known);
      return;
    }
    this.#owner.askLater({ verb: "check", words, registerRequest, waitMs }, (text) =>
      answered(this.answerOf(text, words, foreseen)),
    );
  }

  requireSync(words: AskWords, { timeoutMs = BLOCKED_MS }: SyncOptions = {}): ExternalAccessCheck {
    const foreseen = this.foresee(words, true);
    const known = this.fromMemory(words, foreseen);
    if (known !== undefined) return known;
    return this.answerOf(this.#owner.askSync({ verb: "require", words }, timeoutMs), words, foreseen);
  }
}

class WorkerTransport implements GateTransport {
  readonly #worker: Worker;
  readonly #mirror: GateMirror;
  readonly #shared = new SharedState();
  readonly #open = new SafeMap<number, (text: string) => void>();
  /** Answers that were read and not handed out yet. */
  readonly #arrived = new SafeMap<number, string>();
  readonly #decoder = new TextDecoder();
  /** INVARIANT: never listened to, only read: foreign code can call a listener, and put words into its mouth. */
  readonly #port: MessagePort;
  readonly #wake: MessagePort;
  #terms: GateTerms | undefined;
  #ticket = READY_TICKET;
  #taken = 0;

  constructor(options: SyncGateOptions, mirror: GateMirror) {
    this.#mirror = mirror;
    this.#shared.expect(READY_TICKET);
    const { port1, port2 } = new MessageChannel();
    const { port1: wake, port2: farWake } = new MessageChannel();
    const start: WorkerStart = { fd: options.fd, memory: this.#shared.memory, port: port2, wake: farWake };
    this.#port = port1;
    this.#wake = wake;
    this.#worker = new Worker(options.workerFile ?? new URL("./gate-worker.js", import.meta.url), {
      workerData: start,
      transferList: [port2, farWake],
      // WHY: what is preloaded into the process is for foreign code, and the worker runs none.
      execArgv: [],
      env: {},
    });
    this.#worker.unref();
    this.#worker.on("error", () => this.#died());
    this.#worker.on("exit", () => this.#died());
    this.#wake.on("message", () => this.#woken());
    this.#wake.unref();
    const ready = this.#shared.await(READY_TICKET, options.openMs ?? OPEN_MS, monotonicMs);
    this.pull();
    if (ready === undefined || ready.length === 0 || !mirror.isReady) {
      this.close();
      throw new GateFault("closed", "the gate could not be opened: see that the service runs");
    }
  }

  get terms(): GateTerms {
    return this.#terms as GateTerms;
  }

  leaseEndMs(): number {
    return this.#shared.leaseEndMs;
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

  report(event: Extract<ToWorker, { readonly kind: "report" }>["event"]): void {
    this.#post({ kind: "report", event });
  }

  close(): void {
    this.#post({ kind: "close" });
  }

  #post(message: ToWorker): void {
    apply(postMessage, this.#port, [message]);
  }

  #take(message: FromWorker): void {
    switch (message.kind) {
      case "agreed":
        this.#terms = message.terms;
        return;
      case "facts":
        this.#taken += 1;
        this.#mirror.take(message.facts);
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
