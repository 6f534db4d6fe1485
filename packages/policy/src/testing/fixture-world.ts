/**
 * Plain facts for tests that are read by people: one subject, one target per resource type, one of each kind of fact.
 */
import {
  type Access,
  type Fault,
  type Operation,
  type ResourceOperation,
  type ResourceType,
  type Subject,
  parseAccess,
  parseSubject,
  whatwgUrl,
} from "@sallyport/contract";
import { ActiveContext } from "../active-context.ts";
import type { Change } from "../change.ts";
import {
  type Approval,
  type Context,
  type Denial,
  type Frame,
  type HostRule,
  PLAIN_CONTEXT,
  type Question,
} from "../question.ts";
import { Snapshot } from "../snapshot.ts";

export const SEED = [0x5a117, 0x90127] as const;
export const NOW_MS = 1_000_000;

export function subject(type: string, name: string): Subject {
  const parsed = parseSubject(type, name);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.value;
}

export const TOOL = subject("tool", "demo.read_file");
export const AGENT = subject("agent", "demo.reader_agent");
export const SYSTEM = subject("module", "system");
export const CORE = subject("core", "core");

export const TARGETS: Readonly<Record<ResourceType, string>> = {
  network: "https://api.example.com/v1/report",
  filesystem: "/mnt/imports/customer.csv",
  system_dependency: "ffmpeg",
};

export function access(resourceType: string, operation: string, target: string): Access | Fault {
  const parsed = parseAccess({ resourceType, operation, target }, whatwgUrl);
  return parsed.ok ? parsed.value : parsed;
}

export function question(
  resourceType: string,
  operation: string,
  target: string,
  more: Partial<Question> = {},
): Question {
  return { access: access(resourceType, operation, target), ask: "default", nowMs: NOW_MS, ...more };
}

export function questionOf(pair: ResourceOperation, more: Partial<Question> = {}): Question {
  return question(pair.resourceType, pair.operation, TARGETS[pair.resourceType], more);
}

export function frame(who: Subject, more: Partial<Frame> = {}): Frame {
  return { subject: who, phase: "runtime", entry: "host", contracts: [], ...more };
}

export function context(more: Partial<Context> = {}): Context {
  return {
    ...PLAIN_CONTEXT,
    frames: [frame(TOOL)],
    userId: 21,
    sessionKey: "sess-21",
    ...more,
  };
}

interface Aimed {
  readonly resourceType: ResourceType;
  readonly operation: Operation;
  readonly target: string;
}

export function approval(aimed: Aimed, more: Partial<Approval> = {}): Approval {
  return {
    id: "approval",
    subject: TOOL,
    match: "exact",
    scope: "permanent",
    organizationId: null,
    userId: null,
    sessionKey: null,
    expiresAtMs: null,
    usesLeft: null,
    ...aimed,
    ...more,
  };
}

export function sessionApproval(aimed: Aimed, more: Partial<Approval> = {}): Approval {
  return approval(aimed, {
    id: "session-approval",
    scope: "session",
    userId: 21,
    sessionKey: "sess-21",
    ...more,
  });
}

export function denial(aimed: Aimed, more: Partial<Denial> = {}): Denial {
  return { id: "denial", subject: TOOL, match: "exact", ...aimed, ...more };
}

export function rule(effect: HostRule["effect"], aimed: Aimed, more: Partial<HostRule> = {}): HostRule {
  return { id: `${effect}-rule`, effect, source: "host", ...aimed, ...more };
}

export function aimedAt(pair: ResourceOperation): Aimed {
  return { ...pair, target: TARGETS[pair.resourceType] };
}

export function snapshotOf(...changes: readonly Change[]): Snapshot {
  const snapshot = new Snapshot({ seed: SEED, parseUrl: whatwgUrl });
  for (const change of changes) {
    const taken = snapshot.apply(change);
    if (!taken.ok) throw new Error(`${change.kind}: ${taken.message}`);
  }
  return snapshot;
}

export function activate(more: Partial<Context>, ...changes: readonly Change[]): ActiveContext {
  return new ActiveContext(snapshotOf(...changes), context(more));
}
