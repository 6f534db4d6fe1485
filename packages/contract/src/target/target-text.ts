/** What a parser has made of a target, as a type that no other text has. */
import type { ResourceType } from "../resource.ts";

declare const normalized: unique symbol;
/** The normalized text of a target; only a parser of this folder makes one. */
export type TargetText<R extends ResourceType = ResourceType> = string & { readonly [normalized]: R };
