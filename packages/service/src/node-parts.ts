/**
 * What the verbs of the service share on one node. Made once by the composition root; nobody else makes one.
 */
import type { Access, Host, Subject, UrlParser } from "@sallyport/contract";
import type { HashSeed, HookAnswer } from "@sallyport/policy";
import type { AccessStore, SessionIdentity } from "@sallyport/store";
import type { ActionRegistry } from "./actions.ts";
import type { AuthorityNames } from "./authority/resolve-authority.ts";
import type { AuditLog } from "./audit-log.ts";
import type { Ask, CallerContext } from "./caller-context.ts";
import type { Children } from "./gate/children.ts";
import type { CheckpointWriter } from "./checkpoint-writer.ts";
import type { LiveSnapshot } from "./live-snapshot.ts";
import type { NewId, NodeClock } from "./node-clock.ts";
import type { KeyRing } from "./seal/key-ring.ts";
import type { Confirmations } from "./propagation.ts";
import type { RepeatBook } from "./repeat-book.ts";
import type { RepeatedRequests } from "./repeated-requests.ts";
import type { SharedTransaction } from "./shared-transaction.ts";
import type { Telemetry } from "./telemetry.ts";
import type { Waiters } from "./wait.ts";

/** Whether the subject may make one more request now. Takes from its budget. */
export interface RequestRate {
  take(subject: Subject): boolean;
}

export interface ServiceLimits {
  /** Pending requests of one subject; 100 unless said. */
  readonly pendingMax: number;
  /** Continuations of one request; 100 unless said. */
  readonly continuationsMax: number;
  /** How long a request waits for a person; 7 days unless said. */
  readonly requestTtlMs: number;
  /** Jobs: claims before it is parked; 5 unless said. */
  readonly attemptsMax: number;
  readonly jobLeaseMs: number;
  readonly backoffMs: number;
  readonly backoffMaxMs: number;
  /** How long a job leaves the first word to a live waiter. */
  readonly waiterGraceMs: number;
}

export const DEFAULT_LIMITS: ServiceLimits = Object.freeze({
  pendingMax: 100,
  continuationsMax: 100,
  requestTtlMs: 7 * 24 * 3_600_000,
  attemptsMax: 5,
  jobLeaseMs: 30_000,
  backoffMs: 1000,
  backoffMaxMs: 300_000,
  waiterGraceMs: 5000,
});

/** Something else in the place of what was asked for. It is checked from the start, by the hook as well. */
export interface HookRewrite extends Pick<Ask, "address" | "aliases" | "twin" | "exists"> {
  readonly answer: "rewrite";
  /** Where the hook keeps the input that it made. */
  readonly ref: string;
  readonly access: Access;
}

/** One decision source of the host; never an override. */
export type DecisionHook = (caller: CallerContext, ask: Ask) => Promise<HookAnswer | HookRewrite | undefined>;

/** Decides what mode `auto` would ask. */
export type Classifier = (caller: CallerContext, ask: Ask) => Promise<HookAnswer | undefined>;

/** A network access that was let through, for whoever stands at the wall. */
export interface NetworkAllowed {
  readonly decisionId: string;
  readonly subject: Subject | null;
  readonly access: Access<"network">;
  /** The address that is dialled; `null` where the name was not resolved. */
  readonly address: Host | null;
  readonly session: SessionIdentity;
}

export interface NodeParts {
  readonly store: AccessStore;
  readonly nodeId: string;
  readonly clock: NodeClock;
  readonly newId: NewId;
  readonly seed: HashSeed;
  readonly parseUrl: UrlParser;
  readonly maskingKey: Uint8Array;
  readonly live: LiveSnapshot;
  /** Of the other nodes. */
  readonly confirmations: Confirmations;
  /** Guarded processes that hold facts of this node. */
  readonly children: Children;
  readonly audit: AuditLog;
  /** Where decisions are written, several at a time. */
  readonly decisions: SharedTransaction;
  /** `null`: nobody signs here. */
  readonly checkpoints: CheckpointWriter | null;
  readonly telemetry: Telemetry;
  readonly repeats: RepeatBook;
  readonly repeated: RepeatedRequests;
  readonly waiters: Waiters;
  readonly actions: ActionRegistry;
  readonly limits: ServiceLimits;
  readonly rate: RequestRate;
  readonly authorityNames: AuthorityNames;
  /** As it is now: a rotation takes effect at once. */
  readonly keyRing: () => KeyRing;
  readonly hook: DecisionHook | undefined;
  readonly classifier: Classifier | undefined;
  /** Tells a running OS sandbox. Must not throw; where it does, the host's log hears of it. */
  readonly networkAllowed: ((allowed: NetworkAllowed) => void) | undefined;
  /** Blocks allowlist hits too while the log cannot be written. */
  readonly strictAudit: boolean;
  /** The host started set-up in this process. */
  readonly setupStarted: boolean;
  /** For the host's own log: what was answered as `unavailable`, or tried again in silence. */
  readonly faulted: (error: unknown) => void;
  /** Tells the executor of this node that jobs may be there. */
  readonly jobsMade: () => void;
}
