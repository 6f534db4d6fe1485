/**
 * Words that all tables of the store share: identity, origin, JSON, pages.
 * Identity is kept as separate fields; nothing here joins them into one key.
 */
import type { Operation, ResourceType, Subject } from "@sallyport/contract";

/** An organization or user as the host gives it: `21` and `"21"` are two. */
export type PrincipalId = number | string;

/** Any JSON value. The store keeps it as text and gives back an equal value. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };

/** What a decision is about. */
export interface Tuple {
  readonly subject: Subject;
  readonly resourceType: ResourceType;
  readonly operation: Operation;
  /** Normalized. */
  readonly target: string;
}

/** Whose session. An empty session key is none, and comes back as `null`. */
export interface SessionIdentity {
  readonly organizationId: PrincipalId | null;
  readonly userId: PrincipalId | null;
  readonly sessionKey: string | null;
}

/** Where something came from. Recorded beside the tuple. */
export interface OriginColumns extends SessionIdentity {
  readonly taskId: string | null;
}

/** Equality by every identity field; a field that is left out (or `undefined`) does not narrow, `null` does. */
export interface IdentityFilter {
  readonly subjectType?: Subject["type"] | undefined;
  readonly subjectName?: string | undefined;
  readonly resourceType?: ResourceType | undefined;
  readonly operation?: Operation | undefined;
  readonly target?: string | undefined;
}

export interface SessionFilter {
  readonly organizationId?: PrincipalId | null | undefined;
  readonly userId?: PrincipalId | null | undefined;
  readonly sessionKey?: string | null | undefined;
}

/** A place in a list that is ordered by time and id; rows that arrive later never shift it. */
export interface Cursor {
  readonly timeMs: number;
  readonly id: string;
}

export interface PageRequest<C = Cursor> {
  /** 1 to 1000. */
  readonly limit: number;
  /** `newest` unless said otherwise. */
  readonly order?: "newest" | "oldest" | undefined;
  /** `next` of the page before. */
  readonly after?: C | null | undefined;
}

export interface Page<Row, C = Cursor> {
  readonly rows: readonly Row[];
  /** `null` on the last page. */
  readonly next: C | null;
}
