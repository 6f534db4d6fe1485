/**
 * What the sessions of the gate need of their node.
 */
import type { ExternalAccessCheck, Subject, UrlParser } from "@sallyport/contract";
import type { GateTimers } from "@sallyport/gate";
import type { Context } from "@sallyport/policy";
import type { Ask, CallerContext } from "../caller-context.ts";
import type { NodeClock } from "../node-clock.ts";
import type { RequireAsk } from "../require.ts";
import type { HeldByNode } from "./child-facts.ts";
import type { Children } from "./children.ts";

/** The two verbs of the service that a child may use. */
export interface AskedService {
  check(caller: CallerContext, ask: Ask): Promise<ExternalAccessCheck>;
  require(caller: CallerContext, ask: RequireAsk): Promise<ExternalAccessCheck>;
}

export interface GateNode {
  readonly clock: NodeClock;
  readonly timers: GateTimers;
  readonly parseUrl: UrlParser;
  readonly service: AskedService;
  readonly children: Children;
  readonly held: HeldByNode;
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  readonly memory: "allowlist" | "nothing";
  /** This node can vouch for its view. */
  readonly isLive: boolean;
  /** The newest revision that this node knows. */
  readonly revision: number;
  contextOf(caller: CallerContext): Context;
  newNonce(): string;
  /** Whether one more event of this subject may be recorded now. */
  mayReport(subject: Subject): boolean;
  /** Sends every child what it has not heard yet. */
  refresh(): void;
}
