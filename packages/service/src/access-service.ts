/**
 * The access-policy service of one node: puts the parts together, starts and stops them, and is the one door to them.
 * Trusts its host for the caller's context, the clock, the key ring and its own places.
 */
import type { AccessPolicy, ExternalAccessCheck, PermissionState } from "@sallyport/contract";
import { type Change, builtinDenies } from "@sallyport/policy";
import type { KeyedSession } from "@sallyport/store";
import type { AuditLog } from "./audit-log.ts";
import { AuditTrail } from "./audit-trail.ts";
import type { Ask, CallerContext, Wait } from "./caller-context.ts";
import type { ChangeAnswer } from "./change-policy.ts";
import { Checker } from "./check.ts";
import { completeSetup } from "./complete-setup.ts";
import { composeNode } from "./compose-node.ts";
import { type BatchItem, type DecidedBatch, decideBatch } from "./decide-batch.ts";
import { decideRequest } from "./decide-request.ts";
import type {
  ApprovalWords,
  ByAccess,
  ByRequest,
  Decision,
  DecisionWords,
  SessionApprovalWords,
} from "./decision-request.ts";
import { endSession } from "./end-session.ts";
import { expireRequests } from "./expire-requests.ts";
import { type FreezeWords, setFreeze } from "./freeze.ts";
import { GateServer } from "./gate/gate-server.ts";
import { Listing } from "./listing.ts";
import type { NodeParts } from "./node-parts.ts";
import { Overview } from "./overview.ts";
import { permissionState } from "./permission-state.ts";
import { RemoteResumes } from "./remote-resumes.ts";
import { type RequireAsk, requireAccess } from "./require.ts";
import { ResumeExecutor } from "./resume-executor.ts";
import { retryResume } from "./retry-resume.ts";
import { type Revocation, removeRule, revokeApproval, revokeDenial } from "./revoke.ts";
import { recordSandbox } from "./sandbox-applied.ts";
import { type ModeWords, type RuleWords, setMode, setRule } from "./rules.ts";
import type { AccessServiceOptions } from "./service-options.ts";
import { type WaitAnswer, waitForRequest } from "./wait-for-request.ts";
import { watchedCheck } from "./watched.ts";

const SWEEP_MS = 10_000;

export class AccessService implements AccessPolicy {
  readonly executor: ResumeExecutor;
  /** For persons with authority. */
  readonly list: Listing;
  /** For persons with authority: verify, follow, export, remove old events. */
  readonly trail: AuditTrail;
  /** For the server of persons. */
  readonly overview: Overview;
  /** For remote hosts that run resumes. */
  readonly resumes: RemoteResumes;
  /** Where guarded processes are attached. */
  readonly gate: GateServer;
  readonly #parts: NodeParts;
  readonly #checker: Checker;
  readonly #runsResumes: boolean;
  #sweep: NodeJS.Timeout | null = null;
  #unobserve: () => void = () => undefined;

  constructor(options: AccessServiceOptions) {
    this.#parts = composeNode(options, () => this.executor.nudge());
    this.#checker = new Checker(this.#parts);
    this.executor = new ResumeExecutor(this.#parts, options.enterCaller);
    this.resumes = new RemoteResumes(this.#parts);
    this.list = new Listing(this.#parts);
    this.trail = new AuditTrail(this.#parts);
    this.overview = new Overview(this.#parts);
    const builtins = builtinDenies(options.ownPlaces);
    this.gate = new GateServer({ parts: this.#parts, service: this, builtins });
    this.#runsResumes = options.runsResumes ?? true;
  }

  async start(): Promise<void> {
    const { live, waiters } = this.#parts;
    live.onAdvance(() => waiters.notify());
    await live.start();
    this.#parts.checkpoints?.start();
    this.#unobserve = this.#parts.telemetry.observePending(() =>
      this.#parts.store.read((tx) => tx.requests.count({ status: "pending" })),
    );
    if (this.#runsResumes) this.executor.start();
    this.#sweep = setInterval(() => {
      this.sweep().catch(() => undefined);
    }, SWEEP_MS).unref();
  }

  async stop(): Promise<void> {
    const { live, waiters, audit, repeated } = this.#parts;
    if (this.#sweep !== null) clearInterval(this.#sweep);
    this.#unobserve();
    await this.gate.close();
    waiters.close();
    await this.executor.stop();
    for (const event of this.#parts.repeats.sweep()) audit.record(event);
    const closed = await Promise.allSettled([repeated.close(), audit.close()]);
    closed.push(...(await Promise.allSettled([this.#parts.checkpoints?.close()])));
    await live.stop();
    for (const part of closed) if (part.status === "rejected") throw part.reason;
  }

  /** Approvals and denials can be vouched for now. */
  get live(): boolean {
    return this.#parts.live.live && this.#parts.audit.writable;
  }

  get revision(): number {
    return this.#parts.live.revision;
  }

  get audit(): AuditLog {
    return this.#parts.audit;
  }

  /** Contracts and registrations of the host. */
  applyHost(change: Extract<Change, { readonly kind: `contract_${string}` | `subject_${string}` }>): void {
    this.#parts.live.applyHost(change);
    this.gate.refresh();
  }

  /** Expires what is due and writes counted repeats. Happens by itself now and then. */
  async sweep(): Promise<number> {
    for (const event of this.#parts.repeats.sweep()) this.#parts.audit.record(event);
    await this.#parts.repeated.flush();
    return expireRequests(this.#parts);
  }

  /** Renews this node's lease and catches up. Happens by itself. */
  beat(): Promise<void> {
    return this.#parts.live.beat();
  }

  /** This node's view holds at least this revision. */
  atLeast(revision: number): Promise<void> {
    return this.#parts.live.atLeast(revision);
  }

  check(caller: CallerContext, ask: Ask): Promise<ExternalAccessCheck> {
    return this.#checker.check(caller, ask);
  }

  require(caller: CallerContext, ask: RequireAsk): Promise<ExternalAccessCheck> {
    return watchedCheck(this.#parts, "sallyport.require", { caller, ask }, () =>
      requireAccess(this.#parts, this.#checker, caller, ask),
    );
  }

  wait(caller: CallerContext, requestId: string, wait: Wait): Promise<WaitAnswer> {
    return waitForRequest(this.#parts, caller, requestId, wait);
  }

  async state(caller: CallerContext): Promise<PermissionState | undefined> {
    return permissionState(this.#parts, caller);
  }

  /** Puts the sandbox of this caller on record; the program starts after it. */
  recordSandbox(caller: CallerContext): Promise<void> {
    return recordSandbox(this.#parts, caller);
  }

  approveForSession(
    caller: CallerContext,
    by: ByRequest | ByAccess,
    words: SessionApprovalWords = {},
  ): Promise<Decision> {
    return decideRequest(this.#parts, caller, "approve_for_session", { by, words });
  }

  approvePermanently(
    caller: CallerContext,
    by: ByRequest | ByAccess,
    words: ApprovalWords = {},
  ): Promise<Decision> {
    return decideRequest(this.#parts, caller, "approve_permanently", { by, words });
  }

  deny(caller: CallerContext, by: ByRequest | ByAccess, words: DecisionWords = {}): Promise<Decision> {
    return decideRequest(this.#parts, caller, "deny", { by, words });
  }

  /** A deny rule, which beats declarations too. */
  block(caller: CallerContext, by: ByRequest | ByAccess, words: DecisionWords = {}): Promise<Decision> {
    return decideRequest(this.#parts, caller, "block", { by, words });
  }

  /** All or none, in one transaction. */
  decideBatch(caller: CallerContext, items: readonly BatchItem[]): Promise<DecidedBatch> {
    return decideBatch(this.#parts, caller, items);
  }

  revokeApproval(caller: CallerContext, revocation: Revocation): Promise<ChangeAnswer> {
    return revokeApproval(this.#parts, caller, revocation);
  }

  revokeDenial(caller: CallerContext, revocation: Revocation): Promise<ChangeAnswer> {
    return revokeDenial(this.#parts, caller, revocation);
  }

  setRule(caller: CallerContext, words: RuleWords): ReturnType<typeof setRule> {
    return setRule(this.#parts, caller, words);
  }

  removeRule(caller: CallerContext, revocation: Revocation): Promise<ChangeAnswer> {
    return removeRule(this.#parts, caller, revocation);
  }

  setMode(caller: CallerContext, words: ModeWords): Promise<ChangeAnswer> {
    return setMode(this.#parts, caller, words);
  }

  /** Everything outside the allowlist is refused at once, on every node. */
  setFreeze(caller: CallerContext, words: FreezeWords): Promise<ChangeAnswer> {
    return setFreeze(this.#parts, caller, words);
  }

  endSession(caller: CallerContext, session: KeyedSession): Promise<ChangeAnswer> {
    return endSession(this.#parts, caller, session);
  }

  completeSetup(caller: CallerContext): Promise<ChangeAnswer> {
    return completeSetup(this.#parts, caller);
  }

  retryResume(caller: CallerContext, jobId: string): Promise<ChangeAnswer> {
    return retryResume(this.#parts, caller, jobId);
  }
}
