/**
 * The gate of one node: the children that were started for its callers, and what they have to hear.
 * A child is known by the socket that the host made when it started it; whoever holds the other end is that caller.
 */
import type { Duplex } from "node:stream";
import { randomBytes } from "node:crypto";
import { type GateTimers, gateBounds as bounds, systemTimers } from "@sallyport/gate";
import type { PermissionMode } from "@sallyport/contract";
import type { BuiltinDeny, Change } from "@sallyport/policy";
import { type CallerContext, policyContext } from "../caller-context.ts";
import type { NodeParts } from "../node-parts.ts";
import { nodeState } from "../node-state.ts";
import { ChildFacts } from "./child-facts.ts";
import { eventBudget } from "./event-budget.ts";
import type { AskedService, GateNode } from "./gate-node.ts";
import { type ChildOptions, GateSession } from "./gate-session.ts";

export interface GateServerOptions {
  readonly parts: NodeParts;
  readonly service: AskedService;
  readonly builtins: readonly BuiltinDeny[];
  readonly timers?: GateTimers | undefined;
}

export interface ChildPremises {
  readonly changes: readonly Change[];
  readonly mode: PermissionMode;
}

const NONCE_BYTES = 16;
const RETRY_MS = 100;

export class GateServer {
  readonly #parts: NodeParts;
  readonly #node: GateNode;
  readonly #sessions = new Set<GateSession>();
  #isReading = false;
  #isStale = false;
  #isClosed = false;

  constructor(options: GateServerOptions) {
    const { parts } = options;
    this.#parts = parts;
    this.#node = gateNode(options, {
      refresh: () => this.refresh(),
      attachBranch: (socket, caller, { onAsked }) => this.attachChild(socket, caller, { onAsked }),
    });
    parts.live.onAdvance(() => this.refresh());
    parts.children.onMoved(() => this.#confirm());
  }

  /**
   * Binds a caller to the service's end of a socket whose other end a child inherits.
   * @param caller what the child is, for as long as it lives; nothing that it sends changes it
   */
  attachChild(socket: Duplex, caller: CallerContext, options: ChildOptions = {}): GateSession {
    const session = new GateSession(this.#node, socket, caller, {
      ...options,
      onClosed: (fault) => {
        this.#sessions.delete(session);
        options.onClosed?.(fault);
      },
    });
    if (this.#isClosed) {
      session.close();
      return session;
    }
    this.#sessions.add(session);
    this.#parts.children.add(session);
    return session;
  }

  /** What a child of this caller would hear first: for a sandbox that is built before its child is there. */
  async factsOf(caller: CallerContext): Promise<ChildPremises> {
    const facts = new ChildFacts(caller);
    const { changes } = await this.#parts.store.read((tx) => facts.news(tx, this.#node.held));
    return { changes, mode: this.#node.contextOf(caller).mode };
  }

  /** Sends every child what it has not heard yet. One reading at a time, and one more for those who come meanwhile. */
  refresh(): void {
    this.#isStale = true;
    if (this.#isReading || this.#isClosed) return;
    this.#isReading = true;
    void this.#read().finally(() => {
      this.#isReading = false;
      if (this.#isStale) this.refresh();
    });
  }

  /** Cuts every child off and resolves when none relies on anything any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const sessions = [...this.#sessions];
    for (const session of sessions) session.close();
    await Promise.all(sessions.map((session) => session.fenced()));
  }

  async #read(): Promise<void> {
    this.#isStale = false;
    const hungry = [...this.#sessions].filter((session) => session.isHungry);
    if (hungry.length === 0) return;
    try {
      const { revision, heard } = await this.#parts.store.read(async (tx) => {
        const news = [];
        for (const session of hungry) news.push({ session, news: await session.news(tx) });
        return { revision: await tx.revisions.current(), heard: news };
      });
      for (const { session, news } of heard) session.take(news, revision);
    } catch (error) {
      // WHY: a child that does not hear is not renewed, and fences itself; this only brings it back.
      this.#parts.faulted(error);
      this.#node.timers.after(RETRY_MS, () => this.refresh());
    }
  }

  /** INVARIANT: this node tells the others of a revision only when its children rely on nothing older. */
  #confirm(): void {
    const { live, children, store, faulted } = this.#parts;
    if (store.engine === "sqlite" || !live.live || this.#isClosed) return;
    if (children.confirmable(live.revision) === live.revision) live.beat().catch(faulted);
  }
}

function gateNode(
  { parts, service, builtins, timers }: GateServerOptions,
  acts: Pick<GateNode, "refresh" | "attachBranch">,
): GateNode {
  const { live, clock, parseUrl, children, hook, strictAudit } = parts;
  return {
    clock,
    timers: timers ?? systemTimers,
    parseUrl,
    service,
    children,
    held: { builtins, contract: (id) => live.snapshot.contracts.get(id)?.contract },
    leaseMs: live.leaseMs,
    heartbeatMs: Math.min(bounds.HEARTBEAT_MS, Math.ceil(live.leaseMs / 4)),
    // WHY: a hook comes before the allowlist, and a strict log can block it; a child knows neither.
    memory: hook === undefined && !strictAudit ? "allowlist" : "nothing",
    get isLive() {
      return live.live && parts.audit.writable;
    },
    get revision() {
      return live.revision;
    },
    contextOf: (caller: CallerContext) => policyContext(caller, nodeState(parts)),
    newNonce: () => randomBytes(NONCE_BYTES).toString("hex"),
    mayReport: eventBudget(clock),
    ...acts,
  };
}
