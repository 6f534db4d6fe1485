/**
 * Small worlds written by hand, as short as a line of the specification, and the model's answer in them.
 */
import {
  type Access,
  type CheckCode,
  type Fault,
  type Subject,
  parseAccess,
  parseSubject,
  whatwgUrl,
} from "@sallyport/contract";
import type { AccessRule, Approval, Context, Denial, Frame, HostRule, Question } from "../question.ts";
import { type ReferenceVerdict, type World, referenceDecide } from "./reference-decide.ts";

export const NOW = 1000;
export const TOOL = subject("tool", "demo.read_file");
export const AGENT = subject("agent", "demo.reader_agent");
export const SYSTEM = subject("module", "system");
export const CORE = subject("core", "core");

function subject(type: string, name: string): Subject {
  const parsed = parseSubject(type, name);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.value;
}

/** `receive https://a.example/` and so on: the operation says the resource type, `run` is a bare name. */
export function pair(text: string): AccessRule {
  const space = text.indexOf(" ");
  const [word, target] = [text.slice(0, space), text.slice(space + 1)];
  if (word === "run") return { resourceType: "system_dependency", operation: "execute", target };
  const isNetwork = ["connect", "receive", "send"].includes(word);
  const resourceType = isNetwork ? "network" : "filesystem";
  return { resourceType, operation: word as AccessRule["operation"], target };
}

export function access(text: string): Access | Fault {
  const parsed = parseAccess(pair(text), whatwgUrl);
  return parsed.ok ? parsed.value : parsed;
}

export function frame(of: Subject, entry: Frame["entry"] = "host", contracts: readonly string[] = []): Frame {
  return { subject: of, phase: "runtime", entry, contracts };
}

export function rule(effect: HostRule["effect"], text: string, more: Partial<HostRule> = {}): HostRule {
  return { id: "r", effect, source: "host", ...pair(text), ...more };
}

export function approval(text: string, more: Partial<Approval> = {}): Approval {
  const nobody = { organizationId: null, userId: null, sessionKey: null };
  const endless = { expiresAtMs: null, usesLeft: null };
  return {
    id: "a",
    subject: TOOL,
    ...pair(text),
    match: "exact",
    scope: "permanent",
    ...nobody,
    ...endless,
    ...more,
  };
}

export function sessionApproval(text: string, more: Partial<Approval> = {}): Approval {
  return approval(text, { scope: "session", userId: 21, sessionKey: "s", ...more });
}

export function denial(text: string, more: Partial<Denial> = {}): Denial {
  return { id: "d", subject: TOOL, ...pair(text), match: "exact", ...more };
}

interface Scene {
  readonly world?: Partial<World>;
  readonly context?: Partial<Context>;
  readonly question?: Partial<Question>;
}

export function decide(text: string, scene: Scene = {}): ReferenceVerdict {
  const world: World = {
    contracts: [],
    registrations: [],
    rules: [],
    builtins: [],
    approvals: [],
    denials: [],
    ...scene.world,
  };
  const context: Context = {
    frames: [frame(TOOL)],
    organizationId: null,
    userId: 21,
    sessionKey: "s",
    mode: "default",
    modeExpiresAtMs: null,
    setup: false,
    observe: false,
    confined: false,
    live: true,
    ...scene.context,
  };
  return referenceDecide(world, context, {
    access: access(text),
    ask: "default",
    nowMs: NOW,
    ...scene.question,
  });
}

/** The code for a tool that declares one rule. */
export function declaring(declared: string, asked: string, question: Partial<Question> = {}): CheckCode {
  const contracts = [{ id: "c", access: [pair(declared)] }];
  return decide(asked, { world: { contracts }, context: { frames: [frame(TOOL, "host", ["c"])] }, question })
    .code;
}

/** The code for a tool that holds one permanent approval. */
export function holding(approved: string, match: Approval["match"], asked: string): CheckCode {
  return decide(asked, { world: { approvals: [approval(approved, { match })] } }).code;
}

export const ALLOWED = "allowed_sandbox";
export const ASKED = "approval_required";
export const URL_TEXT = "receive https://a.example/v1/reports";
