/**
 * Requests as an approver sees them: the record, when it ends and who decided; for a single one also what it could be
 * widened to, why it was asked, what is granted already and what nearly covers it. For persons with authority.
 * INVARIANT: targets are masked here, those of widenings too; `rawWidening` finds again what a person chose.
 */
import type { Approval, RequestRecord } from "@sallyport/contract";
import type { RequestDetail, RequestView } from "@sallyport/contract/admin";
import type { Page, PageRequest, RequestFilter, RequestRow, StoreReader } from "@sallyport/store";
import { maskMessage, maskRequested, maskTarget } from "./audit/event-masking.ts";
import { readCounted } from "./authorized-read.ts";
import type { CallerContext } from "./caller-context.ts";
import { accessOfTuple } from "./coverage.ts";
import type { DecisionWords } from "./decision-request.ts";
import { nearMisses } from "./near-miss.ts";
import { timestampOf } from "./node-clock.ts";
import type { NodeParts } from "./node-parts.ts";
import { approvalRecord, deciderId } from "./policy-rows.ts";
import { requestRecord } from "./request-record.ts";
import { requireAuthority } from "./require-authority.ts";
import { suggestWidenings } from "./widening/suggest-widening.ts";
import type { Suggestion } from "./widening/suggestion.ts";

const GRANTS_READ_MAX = 500;
const GRANTED_MAX = 20;

export async function listRequestViews(
  parts: NodeParts,
  caller: CallerContext,
  filter: RequestFilter,
  page: PageRequest,
): Promise<Page<RequestView>> {
  return readCounted(parts, caller, async (tx) => {
    const { rows, next } = await tx.requests.list(filter, page);
    const views: RequestView[] = [];
    for (const row of rows) views.push(await viewOf(parts, tx, row));
    return { rows: views, next };
  });
}

/** `null` where there is none. */
export async function requestDetail(
  parts: NodeParts,
  caller: CallerContext,
  id: string,
): Promise<RequestDetail | null> {
  await requireAuthority(parts, caller, "list");
  await parts.audit.flush();
  return readCounted(parts, caller, async (tx) => {
    const row = await tx.requests.get(id);
    if (row === null) return null;
    const { rows: approvals } = await tx.approvals.list(
      { subjectType: row.subject.type, subjectName: row.subject.name },
      { limit: GRANTS_READ_MAX },
    );
    const masked = (approval: Approval): Approval => maskedApproval(parts, approval);
    return Object.freeze({
      request: await viewOf(parts, tx, row),
      targetRequested: maskRequested(row.resourceType, row.operation, row.targetRequested, parts.maskingKey),
      widenings: suggestions(parts, row).map((suggestion) => ({
        ...suggestion,
        target: maskTarget(row.resourceType, suggestion.target, parts.maskingKey),
      })),
      asked: await askedOf(tx, row),
      // WHY only while it is pending: what was given for a request would be named as why it was asked.
      nearMisses: (row.status === "pending" ? nearMisses(parts, row, approvals) : []).map((near) => ({
        approval: masked(approvalRecord(near.row)),
        why: near.why,
        message: near.message,
      })),
      granted: approvals
        .filter((approval) => approval.scope === "permanent" || approval.sessionKey === row.sessionKey)
        .slice(0, GRANTED_MAX)
        .map((approval) => masked(approvalRecord(approval))),
    });
  });
}

/** What a person chose among masked widenings, as it was before it was masked. Left alone where nothing was masked. */
export async function rawWidening(
  parts: NodeParts,
  requestId: string,
  widen: NonNullable<DecisionWords["widen"]>,
): Promise<NonNullable<DecisionWords["widen"]>> {
  const row = await parts.store.read((tx) => tx.requests.get(requestId));
  if (row === null) return widen;
  const chosen = suggestions(parts, row).find(
    ({ match, target }) =>
      match === widen.match && maskTarget(row.resourceType, target, parts.maskingKey) === widen.target,
  );
  return chosen === undefined ? widen : { match: chosen.match, target: chosen.target };
}

export function maskedApproval<Held extends { readonly resource: Approval["resource"] }>(
  { maskingKey }: Pick<NodeParts, "maskingKey">,
  held: Held,
): Held {
  const { resource } = held;
  return {
    ...held,
    resource: { ...resource, target: maskTarget(resource.type, resource.target, maskingKey) },
  };
}

function suggestions(parts: NodeParts, row: RequestRow): readonly Suggestion[] {
  const access = accessOfTuple(row, parts);
  if (!access.ok) return [];
  const { parseUrl, maskingKey } = parts;
  const show = (text: string): string => maskTarget(access.value.resourceType, text, maskingKey);
  return suggestWidenings(access.value, { parseUrl, show });
}

async function viewOf(parts: NodeParts, tx: StoreReader, row: RequestRow): Promise<RequestView> {
  const record: RequestRecord = requestRecord(row, await tx.continuations.listOf(row.id), parts);
  return Object.freeze({
    ...record,
    expiresAt: timestampOf(row.expiresAtMs),
    decidedBy: deciderId(row.decidedBy) as RequestView["decidedBy"],
    decidedAt: row.decidedAtMs === null ? null : timestampOf(row.decidedAtMs),
    decisionReason: row.decisionReason === null ? null : maskMessage(row.decisionReason, parts.maskingKey),
    approvalId: row.approvalId as RequestView["approvalId"],
  });
}

/** In the words of the event that was recorded when it was asked for first. */
async function askedOf(tx: StoreReader, row: RequestRow): Promise<RequestDetail["asked"]> {
  const filter = { requestId: row.id, type: "permission.requested" };
  const { rows } = await tx.events.search(filter, { limit: 1, order: "oldest" });
  const facts = row.destructive as Readonly<Record<string, unknown>>;
  const known = {
    mode: row.mode,
    decisionSource: facts["decision_source"] as RequestDetail["asked"]["decisionSource"],
  };
  const decision = decisionIn(rows[0]?.body);
  return {
    ...known,
    ruleRefs: (decision?.rule_refs ?? []) as RequestDetail["asked"]["ruleRefs"],
    reason: decision?.decision_reason ?? null,
  };
}

interface RecordedDecision {
  readonly rule_refs?: readonly string[];
  readonly decision_reason?: string;
}

function decisionIn(body: string | undefined): RecordedDecision | undefined {
  if (body === undefined) return undefined;
  const event = JSON.parse(body) as {
    readonly data?: { readonly permission_decision?: RecordedDecision };
  };
  return event.data?.permission_decision;
}
