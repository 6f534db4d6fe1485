/**
 * Where a request came from, what goes on after it is approved, and the user who acts.
 * Recorded beside the identity of a decision, never part of it.
 */
import { z } from "zod";
import { type WireType, defineWire } from "./define-wire.ts";
import {
  HOST_ID_LENGTH_MAX,
  organizationIdSchema,
  sessionKeySchema,
  taskIdSchema,
  userIdSchema,
} from "./identifier.ts";

/** A field that does not apply is null or left out. */
export const originSchema = z.strictObject({
  user_id: userIdSchema.nullable().exactOptional(),
  organization_id: organizationIdSchema.nullable().exactOptional(),
  session_key: sessionKeySchema.nullable().exactOptional(),
  task_id: taskIdSchema.nullable().exactOptional(),
});
export const originWire = defineWire(originSchema);
export type Origin = WireType<typeof originWire>;

export const RESUME_ACTION_LENGTH_MAX = 128;

/** The context never travels: the word `encrypted` says that there is one. */
export const resumeSchema = z
  .strictObject({
    action: z
      .string()
      .regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/, {
        error: "must be an action name such as `system.resume_import`: letters, digits and any of _.-",
      })
      .brand<"ResumeAction">(),
    context: z.literal("encrypted").nullable(),
  })
  .nullable();
export const resumeWire = defineWire(resumeSchema);
export type Resume = WireType<typeof resumeWire>;

const roleName = z.string().min(1).max(HOST_ID_LENGTH_MAX);

export const runtimeUserSchema = z.strictObject({
  id: userIdSchema,
  roles: z.array(roleName).max(100),
  access_level: roleName.nullable(),
});
export const runtimeUserWire = defineWire(runtimeUserSchema);
export type RuntimeUser = WireType<typeof runtimeUserWire>;
