/** The decision facts of what no person decided: expiry, the end of a session. */
import {
  type DecisionId,
  type DecisionSource,
  type PermissionDecision,
  destructiveFacts,
} from "@sallyport/contract";
import type { Tuple } from "@sallyport/store";
import type { NodeParts } from "./node-parts.ts";

export function serviceDecision(
  { newId }: NodeParts,
  { resourceType, operation }: Tuple,
  decisionSource: DecisionSource,
  decisionReason: string,
): PermissionDecision {
  return {
    id: newId("decision") as DecisionId,
    decision: "denied",
    decisionReason,
    ruleRefs: [],
    updatedInputRef: null,
    approvalActionId: null,
    expiresAt: null,
    scope: null,
    ...destructiveFacts({ resourceType, operation }),
    decisionSource,
  };
}
