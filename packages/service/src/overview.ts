/**
 * What the server of persons shows and does beside deciding: lists with everything that a person needs to see, trials,
 * changes as they happen, acts on the record. Authority comes first wherever something is shown.
 * INVARIANT: targets are masked wherever they are shown.
 */
import type { Denial, PermissionState } from "@sallyport/contract";
import {
  type DeclaredUseView,
  type Grant,
  type RequestDetail,
  type RequestView,
  STATS_BUCKETS_MAX,
} from "@sallyport/contract/admin";
import type {
  ApprovalFilter,
  EventCount,
  EventCursor,
  EventFilter,
  EventRow,
  HeldSession,
  HeldSessionCursor,
  IdentityFilter,
  Page,
  PageRequest,
  RecordReader,
  RecordVerbs,
  RequestFilter,
  StoreReader,
  StoreTransaction,
} from "@sallyport/store";
import { actionFacts } from "./access-events.ts";
import { readAs, readRecorded, shownFilter } from "./authorized-read.ts";
import { resolveAuthority } from "./authority/resolve-authority.ts";
import { type Ask, type CallerContext, THE_SERVICE, policyContext } from "./caller-context.ts";
import { type Declared, declaredUse } from "./declared-use.ts";
import type { Decision, DecisionWords } from "./decision-request.ts";
import { type FollowWords, type Followed, followEvents } from "./follow-events.ts";
import { type Freeze, freezeNow } from "./freeze.ts";
import { type ServiceChange, liveChanges } from "./live-changes.ts";
import { timestampOf } from "./node-clock.ts";
import type { NodeParts } from "./node-parts.ts";
import { nodeState } from "./node-state.ts";
import { approvalRecord, denialRecord } from "./policy-rows.ts";
import {
  type Act,
  type RecordedAction,
  recordAct,
  recordRefusedSignIn,
  takeBackRecords,
} from "./record-act.ts";
import { isHostCode, requireAuthority } from "./require-authority.ts";
import { listRequestViews, maskedApproval, rawWidening, requestDetail } from "./request-view.ts";
import { isAlive } from "./spend-approval.ts";
import { type TrialAnswer, tryAccess } from "./trial.ts";

export interface ServiceState {
  readonly state: PermissionState;
  readonly mode: PermissionState["mode"];
  readonly modeExpiresAtMs: number | null;
  readonly freeze: Freeze;
  readonly live: boolean;
  readonly revision: number;
  readonly pending: number;
}

export class Overview {
  readonly #parts: NodeParts;

  constructor(parts: NodeParts) {
    this.#parts = parts;
  }

  requests(caller: CallerContext, filter: RequestFilter, page: PageRequest): Promise<Page<RequestView>> {
    return listRequestViews(this.#parts, caller, filter, page);
  }

  /** `null` where there is none. */
  request(caller: CallerContext, id: string): Promise<RequestDetail | null> {
    return requestDetail(this.#parts, caller, id);
  }

  /** What a person chose among masked widenings, as it is decided on. */
  rawWidening(requestId: string, widen: NonNullable<DecisionWords["widen"]>) {
    return rawWidening(this.#parts, requestId, widen);
  }

  /** A decision as it is answered: the target of what it made is masked. */
  shownDecision(decision: Decision): Decision {
    if (!decision.ok) return decision;
    const { approval, denial } = decision;
    return {
      ...decision,
      approval: approval === null ? null : maskedApproval(this.#parts, approval),
      denial: denial === null ? null : maskedApproval(this.#parts, denial),
    };
  }

  grants(caller: CallerContext, filter: ApprovalFilter, page: PageRequest): Promise<Page<Grant>> {
    return this.#read(caller, async (tx) => {
      const { rows, next } = await tx.approvals.list(filter, page);
      const nowMs = this.#parts.clock.nowMs();
      const grants = rows.map((row) =>
        Object.freeze<Grant>({
          approval: maskedApproval(this.#parts, approvalRecord(row)),
          lastUsedAt: row.lastUsedMs === null ? null : timestampOf(row.lastUsedMs),
          alive: isAlive(row, nowMs),
        }),
      );
      return { rows: grants, next };
    });
  }

  denials(caller: CallerContext, filter: IdentityFilter, page: PageRequest): Promise<Page<Denial>> {
    return this.#read(caller, async (tx) => {
      const { rows, next } = await tx.denials.list(filter, page);
      return { rows: rows.map((row) => maskedApproval(this.#parts, denialRecord(row))), next };
    });
  }

  /** Sessions that hold an approval or wait for a decision, the last seen first. */
  sessions(
    caller: CallerContext,
    page: PageRequest<HeldSessionCursor>,
  ): Promise<Page<HeldSession, HeldSessionCursor>> {
    return this.#read(caller, (tx) => tx.sessions.listHeld(page));
  }

  /** Throws `PermissionError`: for what the server shows of its own, and before work that is expensive. */
  authorize(caller: CallerContext): Promise<void> {
    return requireAuthority(this.#parts, caller, "list");
  }

  state(caller: CallerContext): Promise<ServiceState> {
    return this.#read(caller, async (tx) => ({
      ...this.stateUnchecked(),
      pending: await tx.requests.count({ status: "pending" }),
    }));
  }

  /** For whoever has seen to it that a person with authority is told. */
  stateUnchecked(): Omit<ServiceState, "pending"> {
    const { live } = this.#parts;
    const node = nodeState(this.#parts);
    const context = policyContext(THE_SERVICE, node);
    return {
      state: actionFacts(THE_SERVICE, context, live.facts).permissionState,
      mode: node.mode,
      modeExpiresAtMs: node.modeExpiresAtMs,
      freeze: freezeNow(this.#parts),
      live: node.live,
      revision: live.revision,
    };
  }

  /** For a monitor: a number and nothing else. */
  countPending(): Promise<number> {
    return this.#parts.store.read((tx) => tx.requests.count({ status: "pending" }));
  }

  /** Counts of decisions over time. */
  eventStats(caller: CallerContext, filter: EventFilter, bucketMs: number): Promise<readonly EventCount[]> {
    const shown = shownFilter(this.#parts, filter);
    return readRecorded(this.#parts, caller, (tx) =>
      tx.events.countByTime(shown, { bucketMs, limit: Math.min(1000, STATS_BUCKETS_MAX) }),
    );
  }

  /** Profiles as they were applied, newest first unless said. */
  profiles(
    caller: CallerContext,
    filter: Pick<EventFilter, "subjectType" | "subjectName">,
    page: PageRequest<EventCursor>,
  ): Promise<Page<EventRow, EventCursor>> {
    return readRecorded(this.#parts, caller, (tx) =>
      tx.events.search({ ...filter, type: "sandbox.applied" }, page),
    );
  }

  /** What a manifest declares, held against every recorded check of its subject. */
  async declaredUse(caller: CallerContext, declared: Declared): Promise<DeclaredUseView> {
    await requireAuthority(this.#parts, caller, "list");
    return declaredUse(this.#parts, declared);
  }

  /** What would happen. Registers, spends and records nothing. */
  tryAccess(
    caller: CallerContext,
    as: CallerContext,
    ask: Pick<Ask, "access" | "requested">,
    options: { readonly explain: boolean },
  ): Promise<TrialAnswer> {
    return tryAccess(this.#parts, caller, as, ask, options);
  }

  /** That something changed, on any node. For the host: it needs no person, and says nothing that needs one. */
  changes(signal: AbortSignal): AsyncGenerator<ServiceChange> {
    return liveChanges(this.#parts, signal);
  }

  /** Whether the service would let this person decide. Records nothing. */
  mayDecide(caller: CallerContext): boolean {
    const { authorityNames } = this.#parts;
    return (
      isHostCode(caller) && resolveAuthority(caller.user as never, caller.organizationId, authorityNames).ok
    );
  }

  act<T>(
    caller: CallerContext,
    action: RecordedAction,
    work: (tx: StoreTransaction) => Promise<Act<T> | null>,
  ): Promise<T | null> {
    return recordAct(this.#parts, caller, action, work);
  }

  refusedSignIn(caller: CallerContext, reason: string): Promise<void> {
    return recordRefusedSignIn(this.#parts, caller, reason);
  }

  get nodeId(): string {
    return this.#parts.nodeId;
  }

  get engine(): string {
    return this.#parts.store.engine;
  }

  /** The records of the server of persons, and nothing else of the store. */
  readRecords<T>(work: (records: RecordReader) => Promise<T>): Promise<T> {
    return this.#parts.store.read((tx) => work(tx.records));
  }

  writeRecords<T>(work: (records: RecordVerbs) => Promise<T>): Promise<T> {
    return this.#parts.store.transaction((tx) => work(tx.records));
  }

  /** For what may be held in memory by `standing`: acknowledged once no live node goes by it any more. */
  takeBackRecords<T>(work: (records: RecordVerbs) => Promise<T | null>): Promise<T | null> {
    return takeBackRecords(this.#parts, work);
  }

  /**
   * How long what was read of the records may be kept: while this answers the same, nothing was taken back.
   * `null`: this node cannot vouch for anything now; read the store. Ask before reading, not after.
   */
  standing(): number | null {
    const { live } = this.#parts;
    return live.live ? live.revision : null;
  }

  /** The log of this node from a place on. For the host: what it makes of it is for persons with authority. */
  follow(words: FollowWords): Promise<AsyncGenerator<Followed>> {
    return followEvents(this.#parts, words);
  }

  #read<T>(caller: CallerContext, work: (tx: StoreReader) => Promise<T>): Promise<T> {
    return readAs(this.#parts, caller, work);
  }
}
