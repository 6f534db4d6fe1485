/**
 * The answer to a check, with one way to turn it into an exception. A frozen copy: changing it changes nothing.
 */
import { AccessPendingError, type ExternalAccessCheck, ExternalAccessError } from "@sallyport/contract";

export type AccessResult = ExternalAccessCheck & {
  /** Nothing where it is allowed; else throws `AccessPendingError` for a registered request, `ExternalAccessError`. */
  orThrow(): void;
};

export function accessResult(check: ExternalAccessCheck): AccessResult {
  const result = { ...check };
  // WHY: not enumerable, so that the value compares and serializes as what it is on the wire.
  Object.defineProperty(result, "orThrow", { value: () => throwBlocked([check]), enumerable: false });
  return Object.freeze(result) as AccessResult;
}

/** All parts of a call at once; pending where every blocked part waits for a person. */
export function throwBlocked(checks: readonly ExternalAccessCheck[]): void {
  const [first, ...further] = checks.filter(({ allowed }) => !allowed);
  if (first === undefined) return;
  const isPending = [first, ...further].every(
    ({ code, requestId }) => code === "approval_required" && requestId !== undefined,
  );
  if (isPending && first.requestId !== undefined)
    throw new AccessPendingError({ check: first, requestId: first.requestId }, ...further);
  throw new ExternalAccessError(first, ...further);
}
