/**
 * What the main thread of a guarded process and the worker of its gate say to each other.
 */
import type { MessagePort } from "node:worker_threads";
import type { ChildEvent, HostedNames } from "../protocol/message.ts";
import type { LinkAsk, LinkInquiry } from "./gate-link.ts";
import type { GateTerms, LinkStart } from "./gate-terms.ts";
import type { MirrorFacts } from "./mirror-facts.ts";

export interface WorkerStart {
  /**
   * The gate that this process inherited, where the other thread says hello and hears the facts, and says with `taken_over`
   * how far it came; or the one that this thread was given.
   */
  readonly gate: number | MessagePort;
  readonly memory: SharedArrayBuffer;
  readonly port: MessagePort;
  /** Says that something was posted to the other port, and nothing else. */
  readonly wake: MessagePort;
  /** The text of how answers are read, as bytes, where this thread does not hold it. */
  readonly answers: Uint8Array<ArrayBuffer> | undefined;
}

export type ToWorker =
  /** The first one, where the gate is a descriptor. */
  | { readonly kind: "taken_over"; readonly start: LinkStart }
  | { readonly kind: "ask"; readonly ticket: number; readonly isSync: boolean; readonly ask: LinkAsk }
  | { readonly kind: "inquire"; readonly ticket: number; readonly inquiry: LinkInquiry }
  | { readonly kind: "cancel"; readonly ticket: number }
  | { readonly kind: "report"; readonly events: readonly ChildEvent[] }
  /** Answered when everything that was reported has left the process. */
  | { readonly kind: "drain"; readonly ticket: number }
  | { readonly kind: "imported"; readonly name: string; readonly evidence: string | undefined }
  /** A gate for a program that is about to start; answered with two descriptors, see `branch-pair.ts`. */
  | { readonly kind: "branch"; readonly ticket: number; readonly hosted: HostedNames }
  /** A gate for a thread that is about to start; answered when its port was posted. */
  | { readonly kind: "branch_port"; readonly ticket: number; readonly hosted: HostedNames }
  /** The program has its end, or never will: this process lets go of it. */
  | { readonly kind: "branched"; readonly ticket: number }
  | { readonly kind: "close" };

export type FromWorker =
  | { readonly kind: "branch_port"; readonly port: MessagePort }
  | { readonly kind: "agreed"; readonly terms: GateTerms }
  | { readonly kind: "facts"; readonly facts: MirrorFacts }
  | { readonly kind: "answer"; readonly ticket: number; readonly text: string };

/** The gate of a program that is about to start. */
export interface Branch {
  /** The program inherits this descriptor. */
  readonly fd: number;
  /** The gate's worker keeps this one. */
  readonly keptFd: number;
  /** To be called once the program has started, or has not. */
  readonly release: () => void;
}

/** The ticket under which the worker says that the first lease that it asked for is there. */
export const READY_TICKET = 1;
