/**
 * Notifications as a person sees them: those that wait for their next try, and those that were given up. What was
 * delivered leaves nothing behind.
 */
import { z } from "zod";
import { type WireType, defineWire } from "../wire/define-wire.ts";
import { messageSchema, requestIdSchema, timestampSchema } from "../wire/identifier.ts";
import { pageSchema } from "./admin-page.ts";

/** `waiting`: is tried (again) at `next_at`. `given_up`: was tried too often, or its webhook is gone. */
export const DELIVERY_STATES = ["waiting", "given_up"] as const;

const deliveryViewSchema = z.strictObject({
  id: z.string().min(1).max(128),
  /** The id of the webhook in the host's settings; never its URL, which may hold a secret. */
  webhook: z.string().max(256),
  /** Whether the host still has that webhook; a retry needs it. */
  configured: z.boolean(),
  /** What it tells of; null where an older version kept it. */
  request_id: requestIdSchema.nullable(),
  state: z.enum(DELIVERY_STATES),
  attempts: z.int().min(0),
  last_error: messageSchema.nullable(),
  created_at: timestampSchema,
  /** Null where nothing will happen without a retry. */
  next_at: timestampSchema.nullable(),
});
export const deliveryViewWire = defineWire(deliveryViewSchema);
export type DeliveryView = WireType<typeof deliveryViewWire>;
export const deliveryPageWire = defineWire(pageSchema(deliveryViewSchema));
