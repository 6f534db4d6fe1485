/** What became of the registration of a request. */
export type Registered =
  | {
      readonly kind: "registered";
      readonly requestId: string;
      readonly continuationId: string | null;
      readonly isNew: boolean;
      readonly expiresAtMs: number;
    }
  /** Too many requests, too many continuations of one, or too fast. */
  | { readonly kind: "limited" }
  | { readonly kind: "session_ended" }
  /** The store moved on since the verdict: decide again. */
  | { readonly kind: "stale" };
