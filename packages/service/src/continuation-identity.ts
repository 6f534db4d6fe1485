/** What a sealed context is bound to: one continuation of one request, of one user, for one action. */
import type { RequestRow, SessionIdentity } from "@sallyport/store";
import { resourceOfTuple } from "./policy-rows.ts";
import type { ContinuationIdentity } from "./seal/sealed-context.ts";

export function continuationIdentity(
  request: Pick<RequestRow, "id" | "subject" | "resourceType" | "operation" | "target">,
  continuationId: string,
  action: string,
  { organizationId, userId, sessionKey }: SessionIdentity,
): ContinuationIdentity {
  return {
    requestId: request.id,
    continuationId,
    subject: request.subject,
    resource: resourceOfTuple(request),
    organizationId,
    userId,
    sessionKey: sessionKey === "" ? null : sessionKey,
    action,
  };
}
