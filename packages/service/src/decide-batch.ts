/**
 * Several decisions of one person in one transaction: all of them, or none where one is refused. Every item has its
 * own answer. INVARIANT: nothing of a batch that was refused is left behind, neither decisions nor events.
 */
import type { CallerContext } from "./caller-context.ts";
import { announce, decideInside } from "./decide-request.ts";
import type { Aim } from "./decision-aim.ts";
import type { Decision, DecisionKind } from "./decision-request.ts";
import type { NodeParts } from "./node-parts.ts";
import { requireAuthority } from "./require-authority.ts";
import { watchedAct } from "./watched.ts";

export interface BatchItem extends Aim {
  readonly kind: DecisionKind;
}

export interface DecidedBatch {
  /** `false`: nothing was decided. */
  readonly committed: boolean;
  /** In the order of the items. */
  readonly answers: readonly Decision[];
}

/** Carries the answers out of the transaction that they undo. */
class Undone extends Error {
  readonly answers: readonly Decision[];

  constructor(answers: readonly Decision[]) {
    super("an item of the batch was refused");
    this.answers = answers;
  }
}

export async function decideBatch(
  parts: NodeParts,
  caller: CallerContext,
  items: readonly BatchItem[],
): Promise<DecidedBatch> {
  // WHY for each kind: the refusal is recorded for what was tried.
  for (const kind of new Set(items.map((item) => item.kind))) await requireAuthority(parts, caller, kind);
  let answers: readonly Decision[];
  try {
    answers = await parts.audit.transaction(async (tx, record) => {
      const made: Decision[] = [];
      // WHY one after the other: an item that an earlier one covers is answered as said before.
      for (const { kind, by, words } of items)
        made.push(await decideInside(parts, tx, record, caller, kind, { by, words }));
      if (made.some(({ ok }) => !ok)) throw new Undone(made);
      return made;
    });
  } catch (error) {
    if (!(error instanceof Undone)) throw error;
    return Object.freeze({ committed: false, answers: Object.freeze(error.answers) });
  }
  for (const answer of answers) {
    if (!answer.ok) continue;
    await watchedAct(parts, answer.kind, async () => {
      await announce(parts, answer);
      return answer;
    });
  }
  return Object.freeze({ committed: true, answers: Object.freeze(answers) });
}
