/**
 * The subjects that a child's program may run in its own process: taken from the registry before the child starts, and held
 * until it has ended.
 */
import type { CallerFrame } from "@sallyport/contract";
import { gateBounds } from "@sallyport/gate/targets";
import { SubjectRefusedError } from "../errors.ts";
import type { SubjectRegistry } from "../registry/subject-registry.ts";
import { type SubjectInput, subjectOf } from "../sdk/sdk.ts";

export interface HostedSubject {
  readonly frame: CallerFrame;
  /** Sensitive imports that its manifest lists. */
  readonly imports: readonly string[];
}

export interface HostedSubjects {
  readonly hosted: readonly HostedSubject[];
  readonly leave: () => void;
}

/** Throws `SubjectRefusedError` where one of them cannot be entered; then none is held. */
export function enterHosted(registry: SubjectRegistry, subjects: readonly SubjectInput[]): HostedSubjects {
  if (subjects.length > gateBounds.HOSTED_MAX)
    throw new RangeError(`at most ${gateBounds.HOSTED_MAX} subjects may share a process: start another one`);
  const hosted: HostedSubject[] = [];
  const leaves: (() => void)[] = [];
  const leave = (): void => leaves.splice(0).forEach((one) => one());
  for (const input of subjects) {
    const subject = subjectOf(input);
    const entry = subject.type === "core" ? CORE : registry.enter(subject, { use: "own" });
    if (!entry.ok) {
      leave();
      throw new SubjectRefusedError(entry);
    }
    leaves.push(entry.leave);
    hosted.push({ frame: entry.frame, imports: entry.allowedImports });
  }
  return { hosted, leave };
}

const CORE = Object.freeze({
  ok: false,
  reason: "invalid_subject",
  message: "`core:core` is the host: a process that it starts cannot run it",
  faults: Object.freeze([]),
} as const);
