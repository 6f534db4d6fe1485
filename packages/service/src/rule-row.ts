/** Rules as rows and as they are recorded. */
import type { Json, RuleRow } from "@sallyport/store";

export function ruleJson(rule: RuleRow): Json {
  const { id, effect, source, subject, resourceType, operation, target, match } = rule;
  const { organizationId, userId, sessionKey } = rule;
  return {
    id,
    effect,
    source,
    ...(subject === null ? {} : { subject: { type: subject.type, name: subject.name } }),
    resource_type: resourceType,
    operation,
    target,
    ...(match === null ? {} : { match }),
    ...(organizationId === null ? {} : { organization_id: organizationId }),
    ...(userId === null ? {} : { user_id: userId }),
    ...(sessionKey === null ? {} : { session_key: sessionKey }),
  };
}
