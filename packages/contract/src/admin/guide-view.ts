/** A guided example of the host, step by step, for whoever meets the console for the first time. */
import { z } from "zod";
import { type WireType, defineWire } from "../wire/define-wire.ts";
import { messageSchema, requestIdSchema } from "../wire/identifier.ts";

/** `waiting`: for a person. `went_on`: what was blocked was approved and is done. `refused`: it was told no. */
export const GUIDE_STATES = ["waiting", "went_on", "refused"] as const;

const STEPS_MAX = 16;

export const guideWire = defineWire(
  z.strictObject({
    steps: z
      .array(
        z.strictObject({
          title: messageSchema,
          /** Null until it has asked. */
          request_id: requestIdSchema.nullable(),
          state: z.enum(GUIDE_STATES),
          /** What came of it. */
          told: messageSchema.nullable(),
        }),
      )
      .max(STEPS_MAX),
  }),
);
export type GuideView = WireType<typeof guideWire>;
