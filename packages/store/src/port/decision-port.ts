/**
 * What persons and the host decided: approvals, denials, rules, ended sessions, settings.
 * The store keeps one live decision per identity; what a decision means is the service's to say.
 */
import type {
  ApprovalScope,
  Match,
  Operation,
  ResourceType,
  RuleEffect,
  RuleSource,
  Subject,
} from "@sallyport/contract";
import type {
  IdentityFilter,
  Json,
  Page,
  PageRequest,
  SessionFilter,
  SessionIdentity,
  Tuple,
} from "./vocabulary.ts";

interface DecisionColumns extends Tuple {
  readonly id: string;
  readonly match: Match;
  /** The action of the person that is recorded in the audit log. */
  readonly actionId: string;
  /** Wire form of the person. */
  readonly decidedBy: Json;
  readonly reason: string | null;
  readonly createdMs: number;
}

/** Organization, user and session are `null` where the scope is permanent. */
export interface ApprovalRow extends DecisionColumns, SessionIdentity {
  readonly scope: ApprovalScope;
  /** Dead at this instant. */
  readonly expiresAtMs: number | null;
  readonly maxUses: number | null;
  readonly uses: number;
  readonly requestId: string | null;
  readonly lastUsedMs: number | null;
}

export type NewApproval = Omit<ApprovalRow, "uses" | "lastUsedMs">;

export interface ApprovalFilter extends IdentityFilter, SessionFilter {
  readonly scope?: ApprovalScope | undefined;
  readonly requestId?: string | undefined;
}

/** `remaining` is `null` where the uses are not counted. */
export type SpentUse =
  | { readonly spent: true; readonly remaining: number | null }
  | { readonly spent: false };

export interface ApprovalReader {
  get(id: string): Promise<ApprovalRow | null>;
  /** In every scope and session. */
  findByTuple(tuple: Tuple): Promise<readonly ApprovalRow[]>;
  /** The permanent ones of these subjects and, where a session is given, its own. Dead ones too. */
  listForSubjects(
    subjects: readonly Subject[],
    session: SessionIdentity | null,
  ): Promise<readonly ApprovalRow[]>;
  /** By (created, id). */
  list(filter: ApprovalFilter, page: PageRequest): Promise<Page<ApprovalRow>>;
}

export interface ApprovalVerbs extends ApprovalReader {
  /** False where one with this tuple and scope (and session) exists, dead or alive: remove it first. */
  insert(approval: NewApproval): Promise<boolean>;
  /** What was removed. */
  remove(id: string): Promise<ApprovalRow | null>;
  removeByTuple(tuple: Tuple): Promise<readonly ApprovalRow[]>;
  removeOfSession(session: SessionIdentity): Promise<readonly ApprovalRow[]>;
  /** Counts one use, unless the approval is gone, expired at `nowMs` or used up. */
  spendUse(id: string, nowMs: number): Promise<SpentUse>;
}

export interface DenialRow extends DecisionColumns {
  readonly requestId: string | null;
}

export interface DenialReader {
  get(id: string): Promise<DenialRow | null>;
  findByTuple(tuple: Tuple): Promise<DenialRow | null>;
  listForSubjects(subjects: readonly Subject[]): Promise<readonly DenialRow[]>;
  /** By (created, id). */
  list(filter: IdentityFilter, page: PageRequest): Promise<Page<DenialRow>>;
}

export interface DenialVerbs extends DenialReader {
  /** False where the tuple is denied already. */
  insert(denial: DenialRow): Promise<boolean>;
  remove(id: string): Promise<DenialRow | null>;
  removeByTuple(tuple: Tuple): Promise<DenialRow | null>;
}

export interface RuleRow extends SessionIdentity {
  readonly id: string;
  readonly effect: RuleEffect;
  readonly source: RuleSource;
  /** `null`: every subject. */
  readonly subject: Subject | null;
  readonly resourceType: ResourceType;
  readonly operation: Operation;
  readonly target: string;
  /** Where the rule was made from a target rather than written as a pattern: says how wide it is. */
  readonly match: Match | null;
  readonly createdBy: Json;
  readonly createdMs: number;
}

export interface RuleReader {
  get(id: string): Promise<RuleRow | null>;
  /** All of them, by (created, id). */
  list(): Promise<readonly RuleRow[]>;
}

export interface RuleVerbs extends RuleReader {
  insert(rule: RuleRow): Promise<void>;
  remove(id: string): Promise<RuleRow | null>;
}

/** A session that can be ended has a key. */
export interface KeyedSession extends SessionIdentity {
  readonly sessionKey: string;
}

/** What a session holds now. */
export interface HeldSession extends KeyedSession {
  readonly approvals: number;
  readonly pending: number;
  /** The last use of an approval, or the last time that a request was asked for. */
  readonly lastSeenMs: number;
}

/** A place in the list of held sessions; the fields stay apart. */
export interface HeldSessionCursor extends KeyedSession {
  readonly timeMs: number;
}

export interface SessionReader {
  isEnded(session: KeyedSession): Promise<boolean>;
  /**
   * Those that hold an approval or wait for a decision, by (last seen, key, organization, user). A session that is seen
   * while somebody turns the pages may be met again or not at all.
   */
  listHeld(page: PageRequest<HeldSessionCursor>): Promise<Page<HeldSession, HeldSessionCursor>>;
}

export interface SessionVerbs extends SessionReader {
  /** False where it had ended before: the first end stands. */
  end(session: KeyedSession, nowMs: number): Promise<boolean>;
}

export interface SettingRow {
  readonly key: string;
  readonly value: Json;
  readonly changedMs: number;
}

export interface SettingReader {
  get(key: string): Promise<SettingRow | null>;
  list(): Promise<readonly SettingRow[]>;
}

export interface SettingVerbs extends SettingReader {
  set(key: string, value: Json, nowMs: number): Promise<void>;
  /** False where the key has a value. For what happens once and for good. */
  setIfAbsent(key: string, value: Json, nowMs: number): Promise<boolean>;
  remove(key: string): Promise<boolean>;
}
