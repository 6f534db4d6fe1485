/**
 * One child at its socket: greets it, keeps its facts current, renews its lease.
 * Trusts the host for the caller that was bound to the socket; nothing that the child says. A child that breaks the
 * protocol is cut off, and what it holds counts until its last lease has run out.
 * INVARIANT: the lease of a child that is behind is renewed for one lease more at most, until it has caught up with what
 * it was behind: a child can neither hold a revocation up for long, nor lose its lease because others change much.
 */
import type { Duplex } from "node:stream";
import {
  type ChildMessage,
  FRAME_BYTES_MAX,
  GateChannel,
  GateFault,
  type ServiceMessage,
  gateBounds as bounds,
  childMessages,
} from "@sallyport/gate";
import type { Change } from "@sallyport/policy";
import type { StoreReader } from "@sallyport/store";
import type { CallerContext } from "../caller-context.ts";
import { ChildAsks } from "./child-asks.ts";
import { ChildBranches } from "./child-branches.ts";
import type { Enforcer } from "./child-words.ts";
import { ChildFacts, type News, partsOf } from "./child-facts.ts";
import type { Child } from "./children.ts";
import type { AskedOfChild, GateNode } from "./gate-node.ts";
import { type ChildContexts, HostedFrames, type HostedSubject } from "./hosted-frames.ts";
import { isProtocolViolation, recordProtocolViolation } from "./protocol-violation.ts";

export interface ChildOptions {
  /** What enforces the answers: the guard inside of the child unless said, or the sandbox around it. */
  readonly enforcer?: Enforcer | undefined;
  /** Sensitive imports that the child may use. None unless said: they do not travel to children of children. */
  readonly imports?: readonly string[] | undefined;
  /** Subjects that the child's program may run in its own process. None unless said, and none for children of children. */
  readonly hosted?: readonly HostedSubject[] | undefined;
  /** Hears of everything that the child and its own children ask, report and load, with where it came from. */
  readonly onAsked?: ((asked: AskedOfChild) => void) | undefined;
  /** For the host's own log: why the connection ended. Must not throw. */
  readonly onClosed?: ((fault: GateFault) => void) | undefined;
}

type State = "greeting" | "loading" | "open" | "closed";

export class GateSession implements Child {
  readonly #node: GateNode;
  readonly #caller: CallerContext;
  readonly #options: ChildOptions;
  readonly #hosted: HostedFrames;
  readonly #channel: GateChannel<ChildMessage, ServiceMessage>;
  readonly #asks: ChildAsks;
  readonly #branches: ChildBranches;
  readonly #facts: ChildFacts;
  readonly #waiting = new Set<() => void>();
  readonly #stopGreeting: () => void;
  /** Revisions that were sent and not confirmed, the oldest first. */
  readonly #unconfirmed: number[] = [];
  #state: State = "greeting";
  #isSending = false;
  #contextText = "";
  /** Revision of what was sent last, of what it holds for, and of what was confirmed. */
  #sent = -1;
  #held = -1;
  #confirmed = -1;
  #lastBeat = 0;
  /** Since when it is behind, and what it has to reach. */
  #behind: { readonly sinceMs: number; readonly revision: number } | null = null;
  #leaseEndMs = Number.NEGATIVE_INFINITY;

  constructor(node: GateNode, socket: Duplex, caller: CallerContext, options: ChildOptions) {
    this.#node = node;
    // INVARIANT: a child asks with a credential of guarded code, and never decides.
    this.#caller = Object.freeze({ ...caller, credential: "runtime" as const });
    this.#options = options;
    this.#hosted = new HostedFrames(this.#caller, options.hosted ?? []);
    this.#facts = new ChildFacts(this.#caller, this.#hosted.frames);
    this.#channel = new GateChannel({
      socket,
      timers: node.timers,
      reader: childMessages(),
      inboundBytesMax: FRAME_BYTES_MAX.child,
      outboundBytesMax: FRAME_BYTES_MAX.service,
      unreadBytesMax: bounds.OUTBOUND_BYTES_MAX,
      onMessage: (message) => this.#hear(message),
      onClosed: (fault, by) => this.#closed(fault, by),
      onGone: () => this.#gone(),
    });
    this.#asks = new ChildAsks(node, this.#hosted, this.#channel, options.enforcer ?? "guard");
    this.#branches = new ChildBranches(node, this.#hosted, this.#channel, options.onAsked);
    this.#stopGreeting = node.timers.after(bounds.HELLO_MS, () =>
      this.#channel.close(new GateFault("no_hello")),
    );
  }

  get reached(): number {
    return this.#unconfirmed.length === 0 ? this.#held : this.#confirmed;
  }

  get isFenced(): boolean {
    return this.#node.clock.monotonicMs() >= this.#leaseEndMs;
  }

  /** Events of this child that were not recorded because there were too many. */
  get dropped(): number {
    return this.#asks.dropped;
  }

  async atLeast(revision: number): Promise<void> {
    while (this.reached < revision && !this.isFenced) await this.#moved();
  }

  /** Resolves when the child no longer relies on anything. */
  async fenced(): Promise<void> {
    while (!this.isFenced) await this.#moved();
  }

  /** Cuts the child off. */
  close(fault: GateFault = new GateFault("closed", "the host ended it")): void {
    this.#channel.close(fault, { kind: "close", code: fault.code, message: fault.message });
  }

  /** Facts can be sent now; where not, they are asked for again when they can. */
  get isHungry(): boolean {
    return (this.#state === "loading" || this.#state === "open") && !this.#isSending;
  }

  news(tx: StoreReader): Promise<News> {
    return this.#facts.news(tx, this.#node.held);
  }

  /** @param read the revision that the news were read at */
  take(news: News, read: number): void {
    if (!this.isHungry) return;
    news.accept();
    // WHY: the mode comes from the node's view, which may be behind what was just read.
    const revision = Math.max(this.#held, Math.min(read, this.#node.revision));
    const context = this.#hosted.contexts((caller) => this.#node.contextOf(caller));
    const isSame = context.live === this.#contextText;
    this.#contextText = context.live;
    this.#held = revision;
    if (this.#state === "open" && news.changes.length === 0 && isSame) {
      this.#wake();
      return;
    }
    this.#unconfirmed.push(revision);
    this.#isSending = true;
    void this.#send(news.changes, revision, isSame ? undefined : context);
  }

  async #send(changes: readonly Change[], revision: number, context?: ChildContexts): Promise<void> {
    const isFirst = this.#state === "loading";
    const parts = partsOf(changes);
    for (const [index, part] of parts.entries()) {
      const isLast = index === parts.length - 1;
      const facts = {
        changes: `[${part.join(",")}]`,
        count: part.length,
        isLast,
        ...(isLast && context !== undefined ? { context } : {}),
      };
      this.#channel.send(
        isFirst
          ? { kind: "snapshot", revision, ...facts }
          : { kind: "delta", from: this.#sent, to: revision, ...facts },
      );
      await this.#channel.drained();
    }
    this.#sent = revision;
    if (isFirst && this.#state === "loading") this.#state = "open";
    this.#isSending = false;
    this.#node.refresh();
  }

  #hear(message: ChildMessage): void {
    if ((message.kind === "hello") !== (this.#state === "greeting")) throw new GateFault("out_of_state");
    switch (message.kind) {
      case "hello":
        this.#greet(message.protocol);
        return;
      case "confirm":
        this.#confirm(message.revision);
        return;
      case "heartbeat":
        this.#beat(message.beat);
        return;
      case "branch":
      case "branch_bytes":
      case "branch_taken":
      case "branch_end":
        if (this.#confirmed < 0) throw new GateFault("out_of_state");
        this.#branches.hear(message);
        return;
      case "imported":
        this.#options.onAsked?.({ kind: "import", name: message.name, evidence: message.evidence });
        return;
      case "ask":
      case "inquire":
      case "cancel":
      case "event":
        if (this.#confirmed < 0) throw new GateFault("out_of_state");
        this.#tell(message);
        this.#asks.hear(message);
    }
  }

  #tell(message: ChildMessage): void {
    const { onAsked } = this.#options;
    if (onAsked === undefined) return;
    // WHY: a look that registers nothing is no need of the program.
    if (message.kind === "ask" && message.registerRequest !== false)
      onAsked({ kind: "access", words: message.words });
    if (message.kind === "event") for (const { words } of message.entries) onAsked({ kind: "access", words });
  }

  #greet(protocol: number): void {
    if (protocol !== bounds.PROTOCOL_VERSION) throw new GateFault("wrong_version");
    this.#stopGreeting();
    this.#state = "loading";
    const { leaseMs, heartbeatMs, memory } = this.#node;
    const nonce = this.#node.newNonce();
    const { imports = [], onAsked } = this.#options;
    const evidence = onAsked !== undefined;
    this.#channel.send({
      kind: "hello",
      protocol,
      nonce,
      leaseMs,
      heartbeatMs,
      // WHY: whoever learns from a child hears of everything, and before it is done.
      memory: evidence ? "nothing" : memory,
      ...(imports.length === 0 ? {} : { imports }),
      ...this.#hosted.terms(),
      ...(evidence ? { evidence } : {}),
    });
    this.#node.refresh();
  }

  #confirm(revision: number): void {
    if (this.#unconfirmed[0] !== revision) throw new GateFault("out_of_state");
    this.#unconfirmed.shift();
    this.#confirmed = revision;
    this.#wake();
  }

  #beat(beat: number): void {
    if (beat !== this.#lastBeat + 1) throw new GateFault("out_of_state");
    this.#lastBeat = beat;
    const { isLive, revision, clock, leaseMs } = this.#node;
    const nowMs = clock.monotonicMs();
    if (this.#behind !== null && this.reached >= this.#behind.revision) this.#behind = null;
    if (this.reached < revision) this.#behind ??= { sinceMs: nowMs, revision };
    const isInTime = this.#behind === null || nowMs - this.#behind.sinceMs < leaseMs;
    const isRenewed = isLive && this.#state === "open" && isInTime;
    if (isRenewed) this.#leaseEndMs = nowMs + leaseMs;
    this.#channel.send({ kind: "heartbeat", beat, live: isRenewed });
  }

  #closed(fault: GateFault, by: "self" | "peer"): void {
    this.#state = "closed";
    this.#stopGreeting();
    this.#asks.close();
    this.#branches.close();
    // INVARIANT: who ended it itself relies on nothing any more; who was cut off may not have seen it yet.
    if (by === "peer") this.#gone();
    void this.fenced().then(() => this.#node.children.remove(this));
    if (by === "self" && isProtocolViolation(fault))
      void recordProtocolViolation(this.#node.service, this.#caller, fault);
    this.#options.onClosed?.(fault);
  }

  #gone(): void {
    this.#leaseEndMs = Number.NEGATIVE_INFINITY;
    this.#wake();
  }

  /** Resolves when something was confirmed or ended, or the lease has run out. */
  #moved(): Promise<void> {
    return new Promise((resolve) => {
      const leftMs = Math.max(1, Math.ceil(this.#leaseEndMs - this.#node.clock.monotonicMs()));
      const stop = this.#node.timers.after(leftMs, () => wake());
      const wake = (): void => {
        stop();
        this.#waiting.delete(wake);
        resolve();
      };
      this.#waiting.add(wake);
    });
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#node.children.moved();
  }
}
