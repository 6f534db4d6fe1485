/**
 * The body of a failed call: problem details (RFC 9457) with the project's own stable code.
 * Must never carry the text of a driver, a stack or a secret.
 */
import { z } from "zod";
import { ERROR_CODES, type ErrorCode } from "../errors.ts";
import { type WireType, defineWire } from "./define-wire.ts";
import { messageSchema, requestIdSchema } from "./identifier.ts";
import { FAULTS_MAX } from "./json-value.ts";

const pointedFaultSchema = z.strictObject({
  pointer: z.string().max(65_536),
  message: messageSchema,
  /** What to write in its place. */
  instead: messageSchema.exactOptional(),
});

export const errorBodySchema = z
  .strictObject({
    type: z.string().regex(/^urn:sallyport:error:[A-Za-z_]{1,64}$/, {
      error: "must be `urn:sallyport:error:` and the code",
    }),
    title: messageSchema,
    status: z.int().min(400).max(599),
    detail: messageSchema,
    code: z.enum(Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]]),
    request_id: requestIdSchema.exactOptional(),
    faults: z
      .array(pointedFaultSchema)
      .max(FAULTS_MAX + 1)
      .exactOptional(),
  })
  .refine(({ type, code }) => type === `urn:sallyport:error:${code}`, {
    path: ["type"],
    error: "must end in `code`",
  });
export const errorBodyWire = defineWire(errorBodySchema);
export type ErrorBody = WireType<typeof errorBodyWire>;
