/**
 * The result of every parser: a value or one fault. Parsers never throw.
 */
export const FAULT_CODES = [
  "invalid_target",
  "invalid_operation",
  "invalid_subject",
  "invalid_manifest",
] as const;
export type FaultCode = (typeof FAULT_CODES)[number];

export interface Fault {
  readonly ok: false;
  readonly code: FaultCode;
  /** The field at fault, as it is called on the wire. */
  readonly field: string;
  /** What is wrong and what to write instead; lower-case, no full stop. */
  readonly message: string;
}

export interface Ok<T> {
  readonly ok: true;
  readonly value: T;
}

export type Parsed<T> = Ok<T> | Fault;

export function ok<T>(value: T): Ok<T> {
  return { ok: true, value };
}

export function fault(code: FaultCode, field: string, message: string): Fault {
  return { ok: false, code, field, message };
}
