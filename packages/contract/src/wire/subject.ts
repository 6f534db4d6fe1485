/**
 * Subjects as they travel: `{"type": …, "name": …}`, and the frames of a subject chain.
 * The rule for names is that of `parseSubject`; this file only states it as a schema.
 */
import { z } from "zod";
import { PHASES } from "../decision.ts";
import {
  SUBJECT_NAME,
  SUBJECT_NAME_LENGTH_MAX,
  SUBJECT_TYPES,
  type SubjectName,
  type SubjectType,
} from "../subject.ts";
import { type WireType, defineWire } from "./define-wire.ts";
import { contractIdSchema } from "./identifier.ts";

const NAME_MESSAGE = `must be a subject name of 1 to ${SUBJECT_NAME_LENGTH_MAX} characters: letters, digits and any of _@.+/-`;
const CORE_MESSAGE = "must not be `core`: the host's own code is exactly `core:core`";

type GuardedType = Exclude<SubjectType, "core">;
const GUARDED_TYPES = SUBJECT_TYPES.filter((type): type is GuardedType => type !== "core");

/** A checked name of guarded code. */
export const subjectNameSchema = z
  .string()
  .max(SUBJECT_NAME_LENGTH_MAX, { error: NAME_MESSAGE })
  .regex(SUBJECT_NAME, { error: NAME_MESSAGE })
  .refine((name) => name !== "core", { error: CORE_MESSAGE }) as unknown as z.ZodType<SubjectName, string>;

const coreNameSchema = z.literal("core", {
  error: "must be `core`: the host's own code is exactly `core:core`",
}) as unknown as z.ZodType<SubjectName, "core">;

export const subjectSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.enum(GUARDED_TYPES), name: subjectNameSchema }),
  z.strictObject({ type: z.literal("core"), name: coreNameSchema }),
]);
export const subjectWire = defineWire(subjectSchema);

/** `host`: the runtime took the rules from its registry. `guarded`: guarded code made the frame up itself. */
export const FRAME_ENTRIES = ["host", "guarded"] as const;
export type FrameEntry = (typeof FRAME_ENTRIES)[number];

export const SUBJECT_CHAIN_LENGTH_MAX = 64;

export const subjectFrameSchema = z.strictObject({
  subject: subjectSchema,
  phase: z.enum(PHASES),
  entry: z.enum(FRAME_ENTRIES),
  /** The allowlists of the frame: its own contract first, then one-off contracts. */
  contracts: z.array(contractIdSchema).max(SUBJECT_CHAIN_LENGTH_MAX),
});
export const subjectFrameWire = defineWire(subjectFrameSchema);
export type SubjectFrame = WireType<typeof subjectFrameWire>;

/** From the outermost frame in; the last one is active. */
export const subjectChainSchema = z.array(subjectFrameSchema).max(SUBJECT_CHAIN_LENGTH_MAX);
