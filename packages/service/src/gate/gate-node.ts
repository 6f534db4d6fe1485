/**
 * What the sessions of the gate need of their node.
 */
import type { Duplex } from "node:stream";
import type { AccessAsking, Subject, UrlParser } from "@sallyport/contract";
import type { AskWords, GateTimers } from "@sallyport/gate";
import type { Context } from "@sallyport/policy";
import type { CallerContext } from "../caller-context.ts";
import type { NodeClock } from "../node-clock.ts";
import type { HeldByNode } from "./child-facts.ts";
import type { Children } from "./children.ts";

/** What a child may use of the service: it asks, and never decides. */
export type AskedService = AccessAsking;

/** What a program that a child started has of that child. */
export interface BranchOptions {
  readonly onAsked: ((asked: AskedOfChild) => void) | undefined;
}

/** What a child asked, reported or loaded, as it said it; for whoever learns from it. */
export type AskedOfChild =
  | { readonly kind: "access"; readonly words: AskWords }
  | { readonly kind: "import"; readonly name: string; readonly evidence: string | undefined };

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
  /** Binds the caller to the gate of a program that one of its children started. */
  attachBranch(socket: Duplex, caller: CallerContext, options: BranchOptions): { close(): void };
}
