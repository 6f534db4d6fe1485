/**
 * Declarations held against the log: which entry of a manifest allowed how much, and what it does not cover. Asked of the
 * engine itself, with each entry alone; changes nothing and allows nothing.
 * WHY by target: a subject asks for the same again and again, and each target is asked of the engine once.
 */
import { type Subject, type WireAccessRule, parseAccess } from "@sallyport/contract";
import { type DeclaredUseView, USE_TARGETS_MAX, USE_UNDECLARED_MAX } from "@sallyport/contract/admin";
import { ActiveContext, PLAIN_CONTEXT, Snapshot, decide } from "@sallyport/policy";
import type { TargetCount } from "@sallyport/store";
import { timestampOf } from "./node-clock.ts";
import type { NodeParts } from "./node-parts.ts";

export interface Declared {
  readonly subject: Subject;
  readonly phase: DeclaredUseView["phase"];
  readonly access: readonly WireAccessRule[];
}

/** A check leaves one of these: the second where it was asked for. */
const CHECKED = ["permission.evaluated", "permission.requested"] as const;
const BY_DECLARATION = "allowed_sandbox";
const PAGE_ROWS = 1000;

/** For whoever has been asked for authority. */
export async function declaredUse(parts: NodeParts, declared: Declared): Promise<DeclaredUseView> {
  const { subject, phase, access } = declared;
  // WHY: plain hits of the allowlist are written in batches.
  await parts.audit.flush();
  const { counts, complete } = await everyCount(parts, subject);
  const allowed = counts.filter(({ code }) => code === BY_DECLARATION);
  return {
    subject,
    phase,
    declared: access.map((rule) => ({ rule, ...seen(coveredBy(parts, rule, allowed)) })),
    undeclared: counts
      .filter(({ code }) => code !== BY_DECLARATION)
      .toSorted((left, right) => right.count - left.count || right.lastMs - left.lastMs)
      .slice(0, USE_UNDECLARED_MAX)
      .map(({ lastMs, ...count }) => ({ ...count, lastSeen: timestampOf(lastMs) }))
      .map((count) => count as DeclaredUseView["undeclared"][number]),
    checks: counts.reduce((sum, { count }) => sum + count, 0),
    complete,
  };
}

async function everyCount(
  { store }: Pick<NodeParts, "store">,
  { type: subjectType, name: subjectName }: Subject,
): Promise<{ readonly counts: readonly TargetCount[]; readonly complete: boolean }> {
  const counts: TargetCount[] = [];
  for (const type of CHECKED) {
    let after: TargetCount | null = null;
    do {
      if (counts.length >= USE_TARGETS_MAX) return { counts, complete: false };
      const place: TargetCount | null = after;
      const page: readonly TargetCount[] = await store.read((tx) =>
        tx.events.countByTarget({ subjectType, subjectName, type }, { limit: PAGE_ROWS, after: place }),
      );
      counts.push(...page);
      after = page.length < PAGE_ROWS ? null : (page.at(-1) ?? null);
    } while (after !== null);
  }
  return { counts, complete: true };
}

function seen(
  counts: readonly TargetCount[],
): Pick<DeclaredUseView["declared"][number], "count" | "lastSeen"> {
  const lastMs = Math.max(...counts.map((one) => one.lastMs), 0);
  return {
    count: counts.reduce((sum, { count }) => sum + count, 0),
    lastSeen: counts.length === 0 ? null : timestampOf(lastMs),
  };
}

/** What this entry alone would have allowed. An entry that the engine does not take covers nothing. */
function coveredBy(
  { seed, parseUrl }: Pick<NodeParts, "seed" | "parseUrl">,
  rule: WireAccessRule,
  counts: readonly TargetCount[],
): readonly TargetCount[] {
  const { resourceType, operation } = rule;
  const asked = counts.filter((one) => one.resourceType === resourceType && one.operation === operation);
  if (asked.length === 0) return [];
  const snapshot = new Snapshot({ seed, parseUrl });
  const taken = snapshot.apply({ kind: "contract_set", contract: { id: CONTRACT, access: [rule] } });
  if (!taken.ok) return [];
  const active = new ActiveContext(snapshot, ALONE);
  return asked.filter(({ target }) => {
    const parsed = parseAccess({ resourceType, operation, target }, parseUrl);
    if (!parsed.ok) return false;
    return decide(active, { access: parsed.value, ask: "passive", nowMs: 0 }).code === BY_DECLARATION;
  });
}

const CONTRACT = "declared";
/** WHY not the subject itself: host code would be allowed without any entry. */
const ALONE = {
  frames: [
    {
      subject: { type: "tool", name: "declared" } as unknown as Subject,
      phase: "runtime",
      entry: "host",
      contracts: [CONTRACT],
    },
  ],
  ...PLAIN_CONTEXT,
} as const;
