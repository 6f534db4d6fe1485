/**
 * What code may know of itself: who it is, what it stands under, why something was decided, and what really stands around
 * it. Facts to show or to log; changing them changes nothing.
 */
import type { Sdk } from "sallyport";

/** One line for a log. Never says "sandboxed" without the profile. */
export async function describeMyself(sdk: Sdk): Promise<string> {
  const active = sdk.permission.facts()?.subjectChain.at(-1)?.subject;
  const state = await sdk.permission.state();
  if (active === undefined || state === undefined) return "nobody acts";
  const profile = sdk.sandbox.profile();
  const boundary = profile === null ? "no sandbox" : `sandbox by ${profile.enforcedBy.join(", ")}`;
  const asking = state.interactive ? "a person can be asked" : "nobody can be asked";
  return `${active.type}:${active.name} in mode ${state.mode}, ${asking}, ${boundary}`;
}

/** Why the last answer was what it was. */
export async function explainFeed(sdk: Sdk): Promise<string> {
  const access = await sdk.access.checkExternalAccess({
    resourceType: sdk.access.EXTERNAL_RESOURCE_NETWORK,
    operation: "receive",
    target: "https://example.com/data.json",
    registerRequest: false,
  });
  const decision = sdk.permission.decision(access.decision.id);
  return `${decision?.decision} by ${decision?.decisionSource}: ${decision?.decisionReason}`;
}
