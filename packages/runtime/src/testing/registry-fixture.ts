/**
 * A registry over a real snapshot and real folders, and the question whether a frame may do something by its contracts.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type CallerFrame,
  type CheckCode,
  type Subject,
  parseAccess,
  parseSubject,
  whatwgUrl,
} from "@sallyport/contract";
import { ActiveContext, PLAIN_CONTEXT, Snapshot, decide } from "@sallyport/policy";
import type {
  Registered,
  RegistryChange,
  RegistryEvent,
  RegistryRefusal,
  SubjectEntry,
} from "../registry/registry-answer.ts";
import {
  type EnterOptions,
  SubjectRegistry,
  type SubjectRegistryOptions,
} from "../registry/subject-registry.ts";

export const entry = (resource_type: string, operation: string, target: unknown) => ({
  resource_type,
  operation,
  target,
});
export const receive = (target: unknown) => entry("network", "receive", target);
export const read = (target: unknown) => entry("filesystem", "read", target);

export function subject(type: string, name: string): Subject {
  const parsed = parseSubject(type, name);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.value;
}

export interface Fixture {
  /** Real path of a folder that is removed by `close`. */
  readonly folder: string;
  readonly snapshot: Snapshot;
  readonly registry: SubjectRegistry;
  readonly events: RegistryEvent[];
  /** Changes of these kinds are not taken. */
  readonly refused: Set<RegistryChange["kind"]>;
  /** Makes a folder below the fixture's. */
  readonly make: (...names: readonly string[]) => string;
  readonly close: () => void;
}

export function openFixture(options: Partial<SubjectRegistryOptions> = {}): Fixture {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sallyport-registry-")));
  const make = (...names: readonly string[]) => {
    const made = join(folder, ...names);
    mkdirSync(made, { recursive: true });
    return made;
  };
  const snapshot = new Snapshot({ seed: [0x5a117, 0x90127], parseUrl: whatwgUrl });
  const events: RegistryEvent[] = [];
  const refused = new Set<RegistryChange["kind"]>();
  const registry = new SubjectRegistry({
    parseUrl: whatwgUrl,
    variables: { workspace: make("workspace"), data: make("data") },
    apply: (change) => {
      if (refused.has(change.kind)) throw new Error(`${change.kind} is not taken`);
      const taken = snapshot.apply(change);
      if (!taken.ok) throw new Error(taken.message);
    },
    onEvent: (event) => events.push(event),
    ...options,
  });
  const close = () => rmSync(folder, { recursive: true, force: true });
  return { folder, snapshot, registry, events, refused, make, close };
}

export function registered(answer: Registered | RegistryRefusal): Subject {
  if (!answer.ok) throw new Error(answer.message);
  return answer.subject;
}

export function entered({ registry }: Fixture, who: Subject, options?: EnterOptions): SubjectEntry {
  const answer = registry.enter(who, options);
  if (!answer.ok) throw new Error(answer.message);
  return answer;
}

/** The answer of the policy for a chain of frames that the host entered. */
export function codeOf(
  { snapshot }: Fixture,
  frames: CallerFrame | readonly CallerFrame[],
  [resourceType, operation, target]: readonly [string, string, string],
): CheckCode {
  const access = parseAccess({ resourceType, operation, target }, whatwgUrl);
  const context = new ActiveContext(snapshot, {
    frames: Array.isArray(frames) ? (frames as readonly CallerFrame[]) : [frames as CallerFrame],
    ...PLAIN_CONTEXT,
  });
  return decide(context, {
    access: access.ok ? access.value : access,
    ask: "default",
    nowMs: 0,
  }).code;
}

/** Whether a subject may do something in a phase, as things stand. */
export function may(
  fixture: Fixture,
  who: Subject,
  access: readonly [string, string, string],
  options?: EnterOptions,
): boolean {
  const { frame, leave } = entered(fixture, who, options);
  const code = codeOf(fixture, frame, access);
  leave();
  if (code !== "allowed_sandbox" && code !== "approval_required") throw new Error(code);
  return code === "allowed_sandbox";
}
