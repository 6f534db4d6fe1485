/**
 * `sdk.permission`: what guarded code may know of itself and of the decisions about it. Reads facts; nothing here can
 * change one.
 */
import type { ContextFacts } from "@sallyport/context";
import type { PermissionDecision, PermissionState } from "@sallyport/contract";
import type { DecisionBook } from "./decision-book.ts";
import type { SdkGround } from "./sdk-ground.ts";

export interface SdkPermission {
  /** Who acts; `undefined` where nobody does. */
  facts(): ContextFacts | undefined;
  /**
   * The mode, the rules that can meet the subject chain in this session, the kinds of policy that take part, and
   * whether a person can be asked. `undefined` where nobody acts, or the service cannot be asked.
   */
  state(): Promise<PermissionState | undefined>;
  /** A decision that was made for the subject of now a short while ago. */
  decision(id: string): PermissionDecision | undefined;
}

export function sdkPermission(ground: SdkGround, book: DecisionBook): SdkPermission {
  return Object.freeze<SdkPermission>({
    facts: () => ground.facts(),
    state: () => ground.policy.state(ground.caller()),
    decision: (id) => book.find(ground.caller(), id),
  });
}
