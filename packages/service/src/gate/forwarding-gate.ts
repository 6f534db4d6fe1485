/**
 * The gate of a host that has no service of its own: its children are bound here as everywhere, and every question of
 * theirs goes on to the service that the host asks itself. Holds no facts, so that a child answers nothing from memory
 * and there is nothing to revoke in it.
 * Trusts the host for the caller that is bound to a socket; nothing that a child says.
 */
import { randomBytes } from "node:crypto";
import type { Duplex } from "node:stream";
import type { UrlParser } from "@sallyport/contract";
import { gateBounds as bounds, systemTimers } from "@sallyport/gate";
import { type CallerContext, policyContext } from "../caller-context.ts";
import { systemClock } from "../node-clock.ts";
import { Children } from "./children.ts";
import { eventBudget } from "./event-budget.ts";
import type { AskedService, GateNode } from "./gate-node.ts";
import { type ChildOptions, GateSession } from "./gate-session.ts";

export interface ForwardingGateOptions {
  readonly service: AskedService;
  readonly parseUrl: UrlParser;
}

const NONCE_BYTES = 16;
const NO_NEWS = Object.freeze({ changes: Object.freeze([]), accept: () => undefined });
const REVISION = 0;

export class ForwardingGate {
  readonly #node: GateNode;
  readonly #sessions = new Set<GateSession>();
  #isClosed = false;

  constructor({ service, parseUrl }: ForwardingGateOptions) {
    this.#node = {
      clock: systemClock,
      timers: systemTimers,
      parseUrl,
      service,
      children: new Children(),
      held: { builtins: [], contract: () => undefined },
      leaseMs: bounds.LEASE_MS,
      heartbeatMs: bounds.HEARTBEAT_MS,
      memory: "nothing",
      isLive: true,
      revision: REVISION,
      contextOf: (caller) => policyContext(withoutContracts(caller), NOTHING_KNOWN),
      newNonce: () => randomBytes(NONCE_BYTES).toString("hex"),
      mayReport: eventBudget(systemClock),
      refresh: () => this.#refresh(),
      attachBranch: (socket, caller) => this.attachChild(socket, caller),
    };
  }

  /**
   * Binds a caller to the host's end of a socket whose other end a child inherits.
   * @param caller what the child is, for as long as it lives; nothing that it sends changes it
   */
  attachChild(
    socket: Duplex,
    caller: CallerContext,
    { imports, hosted }: Pick<ChildOptions, "imports" | "hosted"> = {},
  ): GateSession {
    const session = new GateSession(this.#node, socket, caller, {
      imports,
      hosted,
      onClosed: () => this.#sessions.delete(session),
    });
    if (this.#isClosed) session.close();
    else this.#sessions.add(session);
    return session;
  }

  /** Cuts every child off. */
  close(): void {
    this.#isClosed = true;
    for (const session of this.#sessions) session.close();
  }

  #refresh(): void {
    for (const session of this.#sessions) if (session.isHungry) session.take(NO_NEWS, REVISION);
  }
}

const NOTHING_KNOWN = Object.freeze({
  live: true,
  setup: false,
  mode: "default",
  modeExpiresAtMs: null,
} as const);

/** WHY: the contracts are those of the service that is asked; a child that holds no facts knows none of them. */
function withoutContracts(caller: CallerContext): CallerContext {
  return { ...caller, frames: caller.frames.map((frame) => ({ ...frame, contracts: [] })) };
}
