/**
 * What the sessions of the gate need of their node.
 */
import type { AccessAsking, Subject, UrlParser } from "@sallyport/contract";
import type { GateTimers } from "@sallyport/gate";
import type { Context } from "@sallyport/policy";
import type { CallerContext } from "../caller-context.ts";
import type { NodeClock } from "../node-clock.ts";
import type { HeldByNode } from "./child-facts.ts";
import type { Children } from "./children.ts";

/** What a child may use of the service: it asks, and never decides. */
export type AskedService = AccessAsking;

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
