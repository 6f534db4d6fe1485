/**
 * What a person says when deciding, and what they get back, as the contract states it.
 */
import type { Refusal, RefusalCode } from "@sallyport/contract";

export type {
  ApprovalWords,
  ByAccess,
  ByRequest,
  Decided,
  Decision,
  DecisionKind,
  DecisionWords,
  Refusal,
  RefusalCode,
  SessionApprovalWords,
} from "@sallyport/contract";

export function refusal(
  code: RefusalCode,
  message: string,
  facts: Omit<Refusal, "ok" | "code" | "message"> = {},
): Refusal {
  return Object.freeze({ ok: false, code, message, ...facts });
}
