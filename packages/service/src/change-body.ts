/**
 * What a row of the change log says: which facts moved, by id. A node that catches up reads the facts themselves in
 * the same moment of the store, so that the log can never disagree with the tables.
 */
import type { Json, SessionIdentity } from "@sallyport/store";

export const CHANGED_FACTS = ["approval", "denial", "rule", "setting"] as const;

export type ChangedFact =
  | { readonly kind: (typeof CHANGED_FACTS)[number]; readonly id: string }
  | {
      readonly kind: "session_ended";
      readonly organizationId: SessionIdentity["organizationId"];
      readonly userId: SessionIdentity["userId"];
      readonly sessionKey: string;
    };

export function changeBody(facts: readonly ChangedFact[]): Json {
  return {
    changed: facts.map((fact) =>
      fact.kind === "session_ended"
        ? {
            kind: fact.kind,
            organization_id: fact.organizationId,
            user_id: fact.userId,
            session_key: fact.sessionKey,
          }
        : { kind: fact.kind, id: fact.id },
    ),
  };
}

/** `undefined` where another version wrote something that is not understood here: take a whole snapshot. */
export function changedFacts(body: Json): readonly ChangedFact[] | undefined {
  const changed = field(body, "changed");
  if (!Array.isArray(changed)) return undefined;
  const facts: ChangedFact[] = [];
  for (const entry of changed as readonly Json[]) {
    const fact = changedFact(entry);
    if (fact === undefined) return undefined;
    facts.push(fact);
  }
  return facts;
}

function changedFact(entry: Json): ChangedFact | undefined {
  const kind = field(entry, "kind");
  if (kind === "session_ended") {
    const sessionKey = field(entry, "session_key");
    if (typeof sessionKey !== "string") return undefined;
    const organizationId = principal(field(entry, "organization_id"));
    const userId = principal(field(entry, "user_id"));
    return { kind, organizationId, userId, sessionKey };
  }
  const id = field(entry, "id");
  const known = CHANGED_FACTS.find((name) => name === kind);
  return known === undefined || typeof id !== "string" ? undefined : { kind: known, id };
}

function principal(value: Json | undefined): number | string | null {
  return typeof value === "number" || typeof value === "string" ? value : null;
}

function field(value: Json, key: string): Json | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const held = value as { readonly [key: string]: Json | undefined };
  return Object.hasOwn(held, key) ? held[key] : undefined;
}
