/**
 * `sdk.permission`: what guarded code may know of the decisions about it. Reads facts; nothing here can change one.
 */
import type { ContextFacts } from "@sallyport/context";
import type { PermissionDecision } from "@sallyport/contract";
import type { DecisionBook } from "./decision-book.ts";
import type { SdkGround } from "./sdk-ground.ts";

export interface SdkPermission {
  /** Who acts, in which mode, and whether a person can be asked; `undefined` where nobody acts. */
  state(): ContextFacts | undefined;
  /** A decision that was made for the subject of now a short while ago. */
  decision(id: string): PermissionDecision | undefined;
}

export function sdkPermission(ground: SdkGround, book: DecisionBook): SdkPermission {
  return Object.freeze<SdkPermission>({
    state: () => ground.facts(),
    decision: (id) => book.find(ground.caller(), id),
  });
}
