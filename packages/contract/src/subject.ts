/**
 * Who acts. A subject is the actor that touches the resource, never the convenient module around it.
 */
import { type Parsed, fault, ok } from "./parsed.ts";

export const SUBJECT_TYPES = ["module", "engine", "extractor", "agent", "tool", "pipeline", "core"] as const;
export type SubjectType = (typeof SUBJECT_TYPES)[number];

declare const subjectName: unique symbol;
/** A checked subject name: ASCII, so that no look-alike can stand for another subject. */
export type SubjectName = string & { readonly [subjectName]: true };

export interface Subject {
  readonly type: SubjectType;
  readonly name: SubjectName;
}

export const SUBJECT_NAME_LENGTH_MAX = 128;
export const SUBJECT_NAME = /^[A-Za-z0-9_@][A-Za-z0-9_@.+/-]*$/;

export function isSubjectType(value: unknown): value is SubjectType {
  return (SUBJECT_TYPES as readonly unknown[]).includes(value);
}

export function parseSubject(type: unknown, name: unknown): Parsed<Subject> {
  if (!isSubjectType(type)) {
    return fault("invalid_subject", "type", `subject type must be one of ${SUBJECT_TYPES.join(", ")}`);
  }
  if (typeof name !== "string" || name.length > SUBJECT_NAME_LENGTH_MAX || !SUBJECT_NAME.test(name)) {
    return fault(
      "invalid_subject",
      "name",
      `subject name must be 1 to ${SUBJECT_NAME_LENGTH_MAX} characters: letters, digits and any of _@.+/- (not first)`,
    );
  }
  if ((type === "core") !== (name === "core")) {
    return fault("invalid_subject", "name", "the host's own code is exactly `core:core`");
  }
  return ok(Object.freeze({ type, name: name as SubjectName }));
}

export function sameSubject(left: Subject, right: Subject): boolean {
  return left.name === right.name && left.type === right.type;
}

/** For messages only; never a key. */
export function subjectLabel(subject: Subject): string {
  return `${subject.type}:${subject.name}`;
}
