/**
 * Requests and their continuations: what waits for a person, and what goes on afterwards.
 */
import type { Attester, PermissionMode, RequestStatus, Subject } from "@sallyport/contract";
import type {
  IdentityFilter,
  Json,
  OriginColumns,
  Page,
  PageRequest,
  SessionFilter,
  SessionIdentity,
  Tuple,
} from "./vocabulary.ts";

export interface RequestRow extends Tuple, OriginColumns {
  readonly id: string;
  /** As it was written, before normalization. */
  readonly targetRequested: string;
  /** Wire form (snake_case) of the frames. */
  readonly subjectChain: Json;
  readonly mode: PermissionMode;
  /** Wire form of the destructive facts. */
  readonly destructive: Json;
  readonly attestedBy: Attester;
  readonly status: RequestStatus;
  readonly count: number;
  readonly firstSeenMs: number;
  readonly lastSeenMs: number;
  readonly expiresAtMs: number;
  readonly decidedBy: Json;
  readonly decidedAtMs: number | null;
  readonly decisionReason: string | null;
  readonly approvalId: string | null;
}

/** What was asked for, by whom, and how it stands: all that a decision needs. What is only shown is left out. */
export type AskedRequest = Omit<
  RequestRow,
  | "targetRequested"
  | "mode"
  | "destructive"
  | "attestedBy"
  | "count"
  | "lastSeenMs"
  | "decidedAtMs"
  | "decisionReason"
>;

/** What is unknown when a request is made follows: it is pending, seen once, not decided. */
export type NewRequest = Omit<
  RequestRow,
  "status" | "count" | "lastSeenMs" | "decidedBy" | "decidedAtMs" | "decisionReason" | "approvalId"
>;

/** Tuple, organization, user and session: at most one pending request has it. */
export interface RequestIdentity extends Tuple, SessionIdentity {}

export interface Settlement {
  readonly from: "pending";
  readonly to: Exclude<RequestStatus, "pending">;
  readonly decidedBy: Json;
  readonly decidedAtMs: number;
  readonly reason: string | null;
  readonly approvalId: string | null;
}

export interface RequestFilter extends IdentityFilter, SessionFilter {
  readonly taskId?: string | null | undefined;
  readonly status?: RequestStatus | undefined;
}

export interface RequestReader {
  get(id: string): Promise<RequestRow | null>;
  findPending(identity: RequestIdentity): Promise<AskedRequest | null>;
  /** By (first seen, id). */
  list(filter: RequestFilter, page: PageRequest): Promise<Page<RequestRow>>;
  count(filter: RequestFilter): Promise<number>;
  countPending(subject: Subject): Promise<number>;
  /** Every pending request of the subject with this pair: what a widened decision may cover. */
  pendingOf(pair: Omit<Tuple, "target">): Promise<readonly AskedRequest[]>;
  /** Every pending request of the tuple, whatever its session. */
  pendingOfTuple(tuple: Tuple): Promise<readonly AskedRequest[]>;
  /** Pending requests whose time is over, oldest first. */
  due(nowMs: number, limit: number): Promise<readonly RequestRow[]>;
}

export interface RequestVerbs extends RequestReader {
  /** False where a pending request has this identity already: find it and touch it. */
  insert(request: NewRequest): Promise<boolean>;
  /** One more of the same. The new count, or null where the request is not pending any more. */
  touchPending(id: string, nowMs: number): Promise<number | null>;
  /** More of the same that were seen before and not counted one by one; whatever became of the request since. */
  countRepeats(
    id: string,
    repeats: { readonly times: number; readonly lastSeenMs: number },
  ): Promise<boolean>;
  /** Nobody else can change the row until this transaction ends. */
  lock(id: string): Promise<AskedRequest | null>;
  /** True for exactly one caller, however many race. */
  settle(id: string, settlement: Settlement): Promise<boolean>;
}

export const CONTINUATION_STATES = ["waiting", "taken_by_waiter", "job_made", "dropped"] as const;
export type ContinuationState = (typeof CONTINUATION_STATES)[number];

export interface ContinuationRow extends OriginColumns {
  readonly id: string;
  readonly requestId: string;
  readonly action: string | null;
  readonly sealedContext: Uint8Array | null;
  readonly keyId: string | null;
  readonly state: ContinuationState;
  readonly createdMs: number;
}

export interface ContinuationReader {
  get(id: string): Promise<ContinuationRow | null>;
  /** By (created, id). */
  listOf(requestId: string, state?: ContinuationState): Promise<readonly ContinuationRow[]>;
  countOf(requestId: string): Promise<number>;
}

export interface ContinuationVerbs extends ContinuationReader {
  insert(continuation: Omit<ContinuationRow, "state">): Promise<void>;
  /** True for exactly one caller, however many race. */
  setState(id: string, from: ContinuationState, to: ContinuationState): Promise<boolean>;
}
