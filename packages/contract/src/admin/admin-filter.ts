/** What lists of the administration API can be narrowed by. A field that is left out does not narrow; `null` does. */
import type { DecisionSource, Outcome } from "../decision.ts";
import type { Operation, ResourceType } from "../resource.ts";
import type { SubjectType } from "../subject.ts";
import type { RequestStatus } from "../wire/pending-request.ts";
import type { DELIVERY_STATES } from "./delivery-view.ts";
import type { JOB_VIEW_STATES } from "./run-view.ts";

export interface AdminIdentityFilter {
  readonly subjectType?: SubjectType | undefined;
  readonly subjectName?: string | undefined;
  readonly resourceType?: ResourceType | undefined;
  readonly operation?: Operation | undefined;
  readonly target?: string | undefined;
}

export interface AdminSessionFilter {
  readonly organizationId?: number | string | null | undefined;
  readonly userId?: number | string | null | undefined;
  readonly sessionKey?: string | null | undefined;
}

export interface AdminRequestFilter extends AdminIdentityFilter, AdminSessionFilter {
  readonly status?: RequestStatus | undefined;
  readonly taskId?: string | null | undefined;
}

export interface AdminApprovalFilter extends AdminIdentityFilter, AdminSessionFilter {
  readonly scope?: "session" | "permanent" | undefined;
  readonly requestId?: string | undefined;
}

export interface AdminJobFilter {
  readonly state?: (typeof JOB_VIEW_STATES)[number] | undefined;
  readonly requestId?: string | undefined;
  readonly approvalId?: string | undefined;
}

export interface AdminDeliveryFilter {
  readonly state?: (typeof DELIVERY_STATES)[number] | undefined;
}

export interface AdminEventFilter extends AdminIdentityFilter, AdminSessionFilter {
  readonly node?: string | undefined;
  readonly type?: string | undefined;
  readonly code?: string | undefined;
  readonly decision?: Outcome | undefined;
  readonly decisionSource?: DecisionSource | undefined;
  readonly taskId?: string | null | undefined;
  readonly requestId?: string | undefined;
  /** Inclusive. */
  readonly fromMs?: number | undefined;
  /** Exclusive. */
  readonly toMs?: number | undefined;
}

export interface AdminProfileFilter {
  readonly subjectType?: SubjectType | undefined;
  readonly subjectName?: string | undefined;
}
