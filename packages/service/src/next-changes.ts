/**
 * What the change log has behind a view, read in one moment. A log only grows: one that is shorter than the view, or whose change
 * at the view's own revision is another one, is that of another store, and the view does not go on from it.
 */
import type { ChangeRow, StoreReader } from "@sallyport/store";
import { changedFacts } from "./change-body.ts";
import { type CurrentFact, readFact } from "./held-facts.ts";

/** How far a view has come. */
export interface Reached {
  readonly revision: number;
  /** The change that made this revision, where the log had it. */
  readonly newest: ChangeRow | undefined;
}

export type NextChanges =
  | {
      readonly kind: "changes";
      readonly facts: readonly CurrentFact[];
      readonly reached: Reached;
      readonly isLast: boolean;
    }
  /** The log was trimmed, or says what is not understood here. */
  | { readonly kind: "gap" }
  | { readonly kind: "another_store"; readonly what: string };

const CHANGES_LIMIT = 500;

export async function nextChanges(tx: StoreReader, reached: Reached): Promise<NextChanges> {
  const { revision, newest } = reached;
  if (revision < 0) return { kind: "gap" };
  const log = await tx.revisions.changesAfter(revision - 1, CHANGES_LIMIT + 1);
  const own = log[0]?.revision === revision ? log[0] : undefined;
  // WHY not where it is missing: it may have been trimmed.
  if (own !== undefined && newest !== undefined && !isSameChange(own, newest))
    return { kind: "another_store", what: `has another change at revision ${revision} than before` };
  const rows = own === undefined ? log : log.slice(1);
  const last = rows.at(-1);
  if (last === undefined) {
    const current = await tx.revisions.current();
    if (current < revision) return wentBack(revision, current);
    return current === revision ? { kind: "changes", facts: [], reached, isLast: true } : { kind: "gap" };
  }
  if (rows.some((row, index) => row.revision !== revision + 1 + index)) return { kind: "gap" };
  const facts: CurrentFact[] = [];
  for (const row of rows) {
    const changed = changedFacts(row.body);
    if (changed === undefined) return { kind: "gap" };
    for (const fact of changed) facts.push(await readFact(tx, fact));
  }
  const isLast = rows.length < CHANGES_LIMIT;
  return { kind: "changes", facts, reached: { revision: last.revision, newest: last }, isLast };
}

/** Where the log ends, for a view that is made anew; a store that is behind the view is another one. */
export async function endOfLog(
  tx: StoreReader,
  { revision }: Reached,
): Promise<Reached | ReturnType<typeof wentBack>> {
  const current = await tx.revisions.current();
  if (current < revision) return wentBack(revision, current);
  const [newest] = await tx.revisions.changesAfter(current - 1, 1);
  return { revision: current, newest };
}

function wentBack(from: number, to: number) {
  return { kind: "another_store", what: `went back from revision ${from} to ${to}` } as const;
}

/** WHY the body too: it names what was changed by ids that are never given twice. */
function isSameChange(one: ChangeRow, other: ChangeRow): boolean {
  return one.createdMs === other.createdMs && JSON.stringify(one.body) === JSON.stringify(other.body);
}
