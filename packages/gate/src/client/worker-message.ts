/**
 * What the main thread of a guarded process and the worker of its gate say to each other.
 */
import type { MessagePort } from "node:worker_threads";
import type { ChildEvent } from "../protocol/message.ts";
import type { GateTerms, LinkAsk, LinkInquiry } from "./gate-link.ts";
import type { MirrorFacts } from "./gate-mirror.ts";

export interface WorkerStart {
  readonly fd: number;
  readonly memory: SharedArrayBuffer;
  readonly port: MessagePort;
  /** Says that something was posted to the other port, and nothing else. */
  readonly wake: MessagePort;
}

export type ToWorker =
  | { readonly kind: "ask"; readonly ticket: number; readonly isSync: boolean; readonly ask: LinkAsk }
  | { readonly kind: "inquire"; readonly ticket: number; readonly inquiry: LinkInquiry }
  | { readonly kind: "cancel"; readonly ticket: number }
  | { readonly kind: "report"; readonly event: ChildEvent }
  | { readonly kind: "close" };

export type FromWorker =
  | { readonly kind: "agreed"; readonly terms: GateTerms }
  | { readonly kind: "facts"; readonly facts: MirrorFacts }
  | { readonly kind: "answer"; readonly ticket: number; readonly text: string };

/** The ticket under which the worker says that the first lease is there. */
export const READY_TICKET = 1;
