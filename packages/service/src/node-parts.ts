/**
 * What the verbs of the service share on one node. Made once by the composition root; nobody else makes one.
 */
import type { Subject, UrlParser } from "@sallyport/contract";
import type { HashSeed, HookAnswer } from "@sallyport/policy";
import type { AccessStore } from "@sallyport/store";
import type { ActionRegistry } from "./actions.ts";
import type { AuthorityNames } from "./authority/resolve-authority.ts";
import type { AuditLog } from "./audit-log.ts";
import type { Ask, CallerContext } from "./caller-context.ts";
import type { LiveSnapshot } from "./live-snapshot.ts";
import type { NewId, NodeClock } from "./node-clock.ts";
import type { KeyRing } from "./seal/key-ring.ts";
import type { RepeatBook } from "./repeat-book.ts";
import type { Waiters } from "./wait.ts";

/** Whether the subject may make one more request now. Takes from its budget. */
export interface RequestRate {
  take(subject: Subject): boolean;
}

export interface ServiceLimits {
  /** Pending requests of one subject; 100 unless said. */
  readonly pendingMax: number;
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
  requestTtlMs: 7 * 24 * 3_600_000,
  attemptsMax: 5,
  jobLeaseMs: 30_000,
  backoffMs: 1000,
  backoffMaxMs: 300_000,
  waiterGraceMs: 5000,
});

/** One decision source of the host; never an override. */
export type DecisionHook = (caller: CallerContext, ask: Ask) => Promise<HookAnswer | undefined>;

export interface NodeParts {
  readonly store: AccessStore;
  readonly nodeId: string;
  readonly clock: NodeClock;
  readonly newId: NewId;
  readonly seed: HashSeed;
  readonly parseUrl: UrlParser;
  readonly maskingKey: Uint8Array;
  readonly live: LiveSnapshot;
  readonly audit: AuditLog;
  readonly repeats: RepeatBook;
  readonly waiters: Waiters;
  readonly actions: ActionRegistry;
  readonly limits: ServiceLimits;
  readonly rate: RequestRate;
  readonly authorityNames: AuthorityNames;
  /** As it is now: a rotation takes effect at once. */
  readonly keyRing: () => KeyRing;
  readonly hook: DecisionHook | undefined;
  readonly classifier: DecisionHook | undefined;
  /** Blocks allowlist hits too while the log cannot be written. */
  readonly strictAudit: boolean;
  /** The host started set-up in this process. */
  readonly setupStarted: boolean;
  /** For the host's own log: what was answered as `unavailable`, or tried again in silence. */
  readonly faulted: (error: unknown) => void;
  /** Tells the executor of this node that jobs may be there. */
  readonly jobsMade: () => void;
}
