/**
 * Declarations held against what was recorded: how often each allowed something, and what no declaration covers.
 */
import { z } from "zod";
import { CHECK_CODES, type CheckCode, PHASES } from "../decision.ts";
import { FILESYSTEM_TARGET_BYTES_MAX } from "../target/filesystem.ts";
import { type WireType, defineWire } from "../wire/define-wire.ts";
import { timestampSchema } from "../wire/identifier.ts";
import { accessRuleSchema } from "../wire/resource.ts";
import { subjectSchema } from "../wire/subject.ts";
import { OPERATIONS, RESOURCE_TYPES } from "../resource.ts";

/** The most targets of a subject that are told apart, and the most that are listed as not declared. */
export const USE_TARGETS_MAX = 20_000;
export const USE_UNDECLARED_MAX = 100;

const operations = [...new Set(Object.values(OPERATIONS).flat())];
const codes = Object.keys(CHECK_CODES) as [CheckCode, ...CheckCode[]];
const count = z.int().min(0);

export const declaredUseWire = defineWire(
  z.strictObject({
    subject: subjectSchema,
    phase: z.enum(PHASES),
    /** In the order of the manifest. */
    declared: z
      .array(
        z.strictObject({
          rule: accessRuleSchema,
          /** Recorded checks that the allowlist allowed and this entry alone would have. */
          count,
          last_seen: timestampSchema.nullable(),
        }),
      )
      .max(10_000),
    /** What the allowlist did not allow, the most frequent first; masked as everywhere. */
    undeclared: z
      .array(
        z.strictObject({
          resource_type: z.enum(RESOURCE_TYPES),
          operation: z.enum(operations as [(typeof operations)[number], ...(typeof operations)[number][]]),
          target: z.string().max(FILESYSTEM_TARGET_BYTES_MAX),
          /** What became of it. */
          code: z.enum(codes),
          count,
          last_seen: timestampSchema,
        }),
      )
      .max(USE_UNDECLARED_MAX),
    /** Recorded checks that were looked at. */
    checks: count,
    /** `false`: the subject met more targets than are told apart; those beyond were left out. */
    complete: z.boolean(),
  }),
);
export type DeclaredUseView = WireType<typeof declaredUseWire>;
