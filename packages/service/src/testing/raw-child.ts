/** A child that says whatever a test makes it say, at a real session over a real socket, on a clock that is moved by hand. */
import { once } from "node:events";
import type { Socket } from "node:net";
import { type GateFault, type GateTimers, gateBounds as bounds } from "@sallyport/gate";
import { type CallerContext, policyContext } from "../caller-context.ts";
import { Children } from "../gate/children.ts";
import type { AskedService, GateNode } from "../gate/gate-node.ts";
import { GateSession } from "../gate/gate-session.ts";
import { socketPair } from "./gate-fixture.ts";
import { RawEnd } from "./raw-end.ts";
import { type Fixture, TestClock, callerOf, parseUrl } from "./service-fixture.ts";

export class ManualTimers implements GateTimers {
  readonly clock = new TestClock();
  #timers: { readonly atMs: number; readonly run: () => void }[] = [];

  after(delayMs: number, run: () => void): () => void {
    const timer = { atMs: this.clock.monotonicMs() + delayMs, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  advance(byMs: number): void {
    this.clock.advance(byMs);
    const due = this.#timers.filter(({ atMs }) => atMs <= this.clock.monotonicMs());
    this.#timers = this.#timers.filter((timer) => !due.includes(timer));
    for (const { run } of due) run();
  }
}

export interface RawOptions {
  readonly caller?: CallerContext;
  readonly service?: AskedService;
}

export class RawChild extends RawEnd {
  readonly timers = new ManualTimers();
  readonly children = new Children();
  readonly session: GateSession;
  readonly faults: GateFault[] = [];
  /** What the node of the session says of itself. */
  readonly #says = { isLive: true, revision: 0 };

  private constructor(fixture: Fixture, near: Socket, far: Socket, options: RawOptions) {
    super(far);
    this.#says.revision = fixture.service.revision;
    const node = this.#node(fixture, options.service ?? fixture.service);
    this.session = new GateSession(node, near, options.caller ?? callerOf(), {
      onClosed: (fault) => this.faults.push(fault),
    });
    this.children.add(this.session);
  }

  static async open(fixture: Fixture, options: RawOptions = {}): Promise<RawChild> {
    const { near, far } = await socketPair();
    return new RawChild(fixture, near, far, options);
  }

  #node(fixture: Fixture, service: AskedService): GateNode {
    const refresh = (): void => {
      void fixture.store
        .read((tx) => this.session.news(tx))
        .then((news) => this.session.take(news, this.#says.revision));
    };
    const says = this.#says;
    return {
      clock: this.timers.clock,
      timers: this.timers,
      parseUrl,
      service,
      children: this.children,
      held: { builtins: [], contract: () => undefined },
      leaseMs: bounds.LEASE_MS,
      heartbeatMs: bounds.HEARTBEAT_MS,
      memory: "allowlist",
      get isLive() {
        return says.isLive;
      },
      get revision() {
        return says.revision;
      },
      contextOf: (caller) =>
        policyContext(caller, { live: true, setup: false, mode: "default", modeExpiresAtMs: null }),
      newNonce: () => "nonce",
      mayReport: () => true,
      refresh,
      attachBranch: () => ({ close: () => undefined }),
    };
  }

  /** The node has heard of a newer revision. */
  moveTo(revision: number): void {
    this.#says.revision = revision;
  }

  /** Whether the node can vouch for its view. */
  vouch(isLive: boolean): void {
    this.#says.isLive = isLive;
  }

  /** The code that the session was ended with. */
  async ended(): Promise<string | undefined> {
    if (!this.socket.closed) await once(this.socket, "close");
    return this.faults[0]?.code;
  }
}
