/**
 * A child that broke the protocol of the gate, on record as a violation of its own subject: whatever it wanted, it was
 * cut off for it. Decides nothing and never throws.
 */
import type { GateFault, GateFaultCode } from "@sallyport/gate";
import { fault as faultOf } from "@sallyport/contract";
import type { CallerContext } from "../caller-context.ts";
import type { AskedService } from "./gate-node.ts";

/** What only the child can be blamed for; the rest is an end like any other, or a fault of this side. */
const VIOLATIONS: Readonly<Record<GateFaultCode, boolean>> = Object.freeze({
  malformed_frame: true,
  oversized_frame: true,
  slow_frame: true,
  unknown_message: true,
  out_of_sequence: true,
  out_of_state: true,
  duplicate_id: true,
  wrong_version: true,
  slow_reader: true,
  no_hello: true,
  unsendable: false,
  refused_facts: false,
  closed: false,
});

export function isProtocolViolation({ code }: GateFault): boolean {
  return VIOLATIONS[code];
}

/** INVARIANT: written like a refused operation, so it is durable, counted where it is repeated, and never an allow. */
export async function recordProtocolViolation(
  service: AskedService,
  caller: CallerContext,
  { code, message }: GateFault,
): Promise<void> {
  const reason = `the gate was closed with \`${code}\`: ${message}`;
  await service
    .check(caller, {
      access: faultOf("invalid_operation", "gate", reason),
      requested: { type: "gate", operation: code, target: "" },
      attestedBy: "guard",
      enforced: true,
      registerRequest: false,
    })
    .catch(() => undefined);
}
