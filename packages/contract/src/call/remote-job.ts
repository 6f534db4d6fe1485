/**
 * Resumes as they travel between a server and a remote host that runs them. Who the host is, and whose session it serves,
 * stands in its credential and has no place here. A context travels as JSON text: its keys are the caller's own.
 */
import { z } from "zod";
import { defineWire } from "../wire/define-wire.ts";
import { messageSchema, taskIdSchema } from "../wire/identifier.ts";
import { subjectSchema } from "../wire/subject.ts";

export const OFFERED_ACTIONS_MAX = 256;
export const LENT_JOBS_MAX = 16;
const OPEN_TO_MAX = 256;

const textId = z.string().min(1).max(256);
const lending = { job_id: textId, lease_number: z.int().min(0) };

export const lendJobsWire = defineWire(
  z.strictObject({
    actions: z
      .array(
        z.strictObject({ name: textId, module: textId, open_to: z.array(subjectSchema).max(OPEN_TO_MAX) }),
      )
      .max(OFFERED_ACTIONS_MAX),
    /** Zero: only offers. */
    limit: z.int().min(0).max(LENT_JOBS_MAX),
  }),
);

export const lentJobsWire = defineWire(
  z.strictObject({
    lease_ms: z.int().min(1),
    jobs: z
      .array(
        z.strictObject({
          ...lending,
          action: textId,
          module: textId,
          idempotency_key: textId,
          task_id: taskIdSchema.nullable(),
          context: z.string().max(131_072),
        }),
      )
      .max(LENT_JOBS_MAX),
  }),
);

/** How a lent job goes on: it is kept, it is done, or it failed. */
export const settleJobWire = defineWire(
  z.discriminatedUnion("outcome", [
    z.strictObject({ outcome: z.literal("kept"), ...lending }),
    z.strictObject({ outcome: z.literal("done"), ...lending }),
    z.strictObject({ outcome: z.literal("failed"), ...lending, error: messageSchema }),
  ]),
);

/** `false`: the lease is lost; the host stops. */
export const settledJobWire = defineWire(z.strictObject({ held: z.boolean() }));
