/**
 * Several decisions in one transaction: all of them, or where one is refused none of them. An answer for each.
 */
import { z } from "zod";
import { decisionWire, remoteDecisionWire } from "../call/remote-call.ts";
import { type WireType, defineWire } from "../wire/define-wire.ts";

export const BATCH_MAX = 200;

export const DECISION_KINDS = ["approve_for_session", "approve_permanently", "deny", "block"] as const;

export const decisionBatchWire = defineWire(
  z.strictObject({
    items: z
      .array(
        z.strictObject({
          kind: z.enum(DECISION_KINDS),
          by: remoteDecisionWire.schema.shape.by,
          words: remoteDecisionWire.schema.shape.words,
        }),
      )
      .min(1)
      .max(BATCH_MAX),
  }),
);
export type DecisionBatch = WireType<typeof decisionBatchWire>;

export const batchAnswerWire = defineWire(
  z.strictObject({
    /** `false`: nothing was decided; the answers say which item was in the way. */
    committed: z.boolean(),
    /** In the order of the items. Where nothing was committed, `ok` means that this one would have been. */
    answers: z.array(decisionWire.schema).max(BATCH_MAX),
  }),
);
export type BatchAnswer = WireType<typeof batchAnswerWire>;
