/**
 * Grants that look as if they covered a request and do not, and why: what "asked again because …" is made from.
 * The engine is asked, not the spelling. Says nothing that decides.
 */
import type { NearMissReason } from "@sallyport/contract/admin";
import type { ApprovalRow, RequestRow } from "@sallyport/store";
import { coverageOf } from "./coverage.ts";
import type { NodeParts } from "./node-parts.ts";
import { tupleOf } from "./policy-rows.ts";

export interface NearMissRow {
  readonly row: ApprovalRow;
  readonly why: NearMissReason;
  readonly message: string;
}

const NEAR_MISSES_MAX = 5;

const WORDS: Readonly<Record<NearMissReason, string>> = {
  other_operation: "the grant is for another operation, and no operation implies another",
  other_target: "the grant is for another target",
  other_session: "the grant is for another session",
  other_user: "the grant is for another user or organization",
  expired: "the grant has expired",
  used_up: "the grant is used up",
};

/** Nearest first. `rows`: grants of the request's subject. */
export function nearMisses(
  parts: NodeParts,
  request: RequestRow,
  rows: readonly ApprovalRow[],
): readonly NearMissRow[] {
  const found: NearMissRow[] = [];
  for (const row of rows) {
    const why = reasonOf(parts, request, row);
    if (why !== undefined) found.push({ row, why, message: `asked again because ${WORDS[why]}` });
  }
  return found.toSorted((left, right) => RANK[left.why] - RANK[right.why]).slice(0, NEAR_MISSES_MAX);
}

const RANK: Readonly<Record<NearMissReason, number>> = {
  used_up: 0,
  expired: 1,
  other_session: 2,
  other_user: 3,
  other_operation: 4,
  other_target: 5,
};

function reasonOf(parts: NodeParts, request: RequestRow, row: ApprovalRow): NearMissReason | undefined {
  if (row.resourceType !== request.resourceType) return undefined;
  const isCovered = coversTarget(parts, request, row);
  if (!isCovered) {
    const isNear = row.operation === request.operation && isNeighbour(request, row);
    return isNear ? "other_target" : undefined;
  }
  if (row.operation !== request.operation) return "other_operation";
  if (row.scope === "session") {
    if (row.organizationId !== request.organizationId || row.userId !== request.userId) return "other_user";
    if (row.sessionKey !== request.sessionKey) return "other_session";
  }
  if (row.expiresAtMs !== null && row.expiresAtMs <= parts.clock.nowMs()) return "expired";
  return row.maxUses !== null && row.uses >= row.maxUses ? "used_up" : undefined;
}

/** Whether its target reaches the request's, were it for the same operation and for everybody. */
function coversTarget(parts: NodeParts, request: RequestRow, row: ApprovalRow): boolean {
  const coverage = coverageOf(parts, {
    kind: "approval_set",
    approval: {
      id: "scratch",
      ...tupleOf(request),
      target: row.target,
      match: row.match,
      scope: "permanent",
      organizationId: null,
      userId: null,
      sessionKey: null,
      expiresAtMs: null,
      usesLeft: null,
    },
  });
  const nobody = { organizationId: null, userId: null, sessionKey: null };
  return coverage.ok && coverage.covers(tupleOf(request), nobody);
}

/** The same folder, or the same host. WHY so little: a grant that is far away explains nothing. */
function isNeighbour(request: RequestRow, row: ApprovalRow): boolean {
  switch (request.resourceType) {
    case "filesystem":
      return folderOf(request.target) === folderOf(row.target);
    case "network":
      return hostOf(request.target) === hostOf(row.target);
    case "system_dependency":
      return false;
  }
}

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf("/") + 1);
const hostOf = (target: string): string =>
  URL.canParse(target) && target.includes("://") ? new URL(target).hostname : target.replace(/:[0-9]+$/, "");
