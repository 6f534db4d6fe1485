/**
 * The check: decides on the node's view of the store, confirms limited approvals, registers what a person has to
 * decide, waits where the caller may, and records every answer. Never throws when blocked.
 * INVARIANT: a fault of the store or of the log is `unavailable`, and never an allow outside the allowlist.
 */
import type { ExternalAccessCheck } from "@sallyport/contract";
import type { UnchainedEvent } from "./access-events.ts";
import { type Ask, type CallerContext, isAccess, sessionOf } from "./caller-context.ts";
import { Judge, type Judged } from "./judge.ts";
import { tellNetworkAllowed } from "./network-allowed.ts";
import type { NodeParts } from "./node-parts.ts";
import { type ResumeDraft, registerRequest } from "./register-request.ts";
import { confirmApprovals } from "./spend-approval.ts";
import { waitForApproval } from "./wait-for-approval.ts";
import { watchedCheck } from "./watched.ts";

/** How often an answer may be overtaken by changes before it is given up. */
const ROUNDS_MAX = 64;

export class Checker {
  readonly #parts: NodeParts;
  readonly #judge: Judge;

  constructor(parts: NodeParts) {
    this.#parts = parts;
    this.#judge = new Judge(parts);
  }

  async check(
    caller: CallerContext,
    ask: Ask,
    resume: ResumeDraft | null = null,
  ): Promise<ExternalAccessCheck> {
    return watchedCheck(this.#parts, "sallyport.check", { caller, ask }, async () => {
      try {
        return await this.#check(caller, ask, resume);
      } catch (error) {
        this.#parts.faulted(error);
        return this.#unavailable(caller, ask);
      }
    });
  }

  async #check(caller: CallerContext, ask: Ask, resume: ResumeDraft | null): Promise<ExternalAccessCheck> {
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const judged = await this.#judge.judge(caller, ask, resume !== null);
      const { verdict } = judged;
      if (verdict.allowed) {
        const check = await this.#allowed(judged);
        if (check !== null) return check;
      } else if (verdict.registers && judged.subject !== null) {
        const check = await this.#register(judged, resume);
        if (check !== null) return check;
        await this.#parts.live.catchUp();
      } else {
        return this.#blocked(judged, judged.answer(null));
      }
    }
    return this.#unavailable(caller, ask);
  }

  /** `null`: the approval is gone; decide again. */
  async #allowed(judged: Judged): Promise<ExternalAccessCheck | null> {
    const { audit, strictAudit } = this.#parts;
    const { verdict, caller, ask } = judged;
    const check = judged.answer(null);
    const event = (): UnchainedEvent => this.#judge.event(judged, check, ask.times);
    if (verdict.limited) {
      const given = await confirmApprovals(this.#parts, { verdict, enforced: ask.enforced, event });
      if (!given) return null;
      tellNetworkAllowed(this.#parts, judged, check);
      return check;
    }
    const isDeclared = verdict.code === "allowed_sandbox";
    if (isDeclared && !check.decision.destructive) {
      if (strictAudit && !audit.writable) return this.#unavailable(caller, ask);
      audit.record(event());
      tellNetworkAllowed(this.#parts, judged, check);
      return check;
    }
    try {
      await audit.recordDurably(event());
    } catch (error) {
      // INVARIANT: only what the subject declared goes on without a record, and not even that where the host says so.
      if (!isDeclared || strictAudit) throw error;
      audit.record(event());
    }
    tellNetworkAllowed(this.#parts, judged, check);
    return check;
  }

  /** `null`: the store moved on; decide again. */
  async #register(judged: Judged, resume: ResumeDraft | null): Promise<ExternalAccessCheck | null> {
    const { caller, ask, subject, context, answer, revision } = judged;
    const { access, wait } = ask;
    if (!isAccess(access) || subject === null) return answer(null);
    const isWaiting = wait !== undefined && caller.interactive;
    const asked = { caller, ask, subject, access, context, answer, revision };
    const registered = await registerRequest(this.#parts, { ...asked, resume, isWaiting });
    switch (registered.kind) {
      case "stale":
        return null;
      case "session_ended":
        return this.#blocked(judged, answer(null, "this session has ended, start a new one and ask there"));
      case "limited": {
        const limited = this.#judge.instead(judged, "request_limit", "denied", "limit");
        return this.#blocked(limited, limited.answer(null));
      }
      case "registered": {
        if (!isWaiting) return answer(registered.requestId);
        const given = await waitForApproval(this.#parts, this.#judge, judged, { ...registered, wait });
        if (given !== null) return given;
        await this.#parts.live.catchUp();
        // WHY: passive, because an approval that was used up meanwhile must not become a second request by itself.
        return this.#check(caller, { ...judged.asked, wait: undefined, registerRequest: false }, null);
      }
    }
  }

  /** A refusal stands whether or not it can be recorded; what cannot be recorded now is kept to be. */
  async #blocked(judged: Judged, check: ExternalAccessCheck): Promise<ExternalAccessCheck> {
    const { audit, repeats } = this.#parts;
    const make = (count: number): UnchainedEvent => this.#judge.event(judged, check, count);
    if (!repeats.isFirst(repeatFields(judged), make)) return check;
    const event = make(1);
    if (check.code === "unavailable") audit.record(event);
    else await audit.recordDurably(event).catch(() => audit.record(event));
    return check;
  }

  #unavailable(caller: CallerContext, ask: Ask): Promise<ExternalAccessCheck> {
    const judged = this.#judge.unavailable(caller, ask);
    return this.#blocked(judged, judged.answer(null));
  }
}

function repeatFields({ caller, ask, verdict, subject }: Judged) {
  const { access, requested, attestedBy } = ask;
  const { organizationId, userId, sessionKey } = sessionOf(caller);
  return [
    verdict.code,
    subject?.type ?? null,
    subject?.name ?? null,
    isAccess(access) ? access.resourceType : (requested?.type ?? null),
    isAccess(access) ? access.operation : (requested?.operation ?? null),
    isAccess(access) ? access.target.text : (requested?.target ?? null),
    organizationId,
    userId,
    sessionKey,
    attestedBy,
    ask.enforced ? 1 : 0,
  ];
}
