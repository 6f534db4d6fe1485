/**
 * Deciding, by the host for the person who acts: `runtime.runAsHost({ user }, (sdk) => …)`. The acting user comes from
 * there and never from arguments; guarded code gets a `PermissionError`, whatever user it runs for.
 */
import type { Sdk } from "sallyport";

const REPORTS = { subjectType: "module", subjectName: "reports" } as const;

/** Until the session is over. Needs the pending request of that session. */
export function approveReportForSession(sdk: Sdk) {
  return sdk.access.approveForSession({
    ...REPORTS,
    resourceType: sdk.access.EXTERNAL_RESOURCE_NETWORK,
    operation: "receive",
    target: "https://api.example.com/v1/report",
  });
}

/** From now on, for everybody who runs this module. Also ahead of any request. */
export function approveReportPermanently(sdk: Sdk) {
  return sdk.access.approvePermanently({
    ...REPORTS,
    resourceType: sdk.access.EXTERNAL_RESOURCE_NETWORK,
    operation: "receive",
    target: "https://api.example.com/v1/report",
  });
}

/** It stays blocked, and nobody is asked again. */
export function denyUpload(sdk: Sdk) {
  return sdk.access.denyExternalAccess({
    ...REPORTS,
    resourceType: sdk.access.EXTERNAL_RESOURCE_NETWORK,
    operation: "send",
    target: "https://unapproved.example",
    reason: "uploads go to storage.example.com",
  });
}
