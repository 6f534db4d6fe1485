/**
 * What the runtime throws by itself: a subject that cannot be entered, and nothing to act as.
 */
import type { RegistryRefusal } from "./registry/registry-answer.ts";

/** The registry does not know the subject, or the policy did not take what it needs. */
export class SubjectRefusedError extends Error {
  override readonly name = "SubjectRefusedError";
  readonly refusal: RegistryRefusal;

  constructor(refusal: RegistryRefusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}
