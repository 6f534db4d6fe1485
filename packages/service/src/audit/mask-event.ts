/** A whole event with every target and message masked: what enters the log, and what leaves the process. */
import type { EventEnvelope } from "./event-chain.ts";
import { type MaskingKey, maskMessage, maskTarget } from "./event-masking.ts";

/** Fields of an event that hold words in which a target may stand. */
const MESSAGES: ReadonlySet<string> = new Set(["decision_reason", "impact_scope", "rollback_advice"]);
/** Fields that hold file paths. */
const PATHS: ReadonlySet<string> = new Set(["cwd", "read_roots", "write_roots"]);
const MESSAGE_LENGTH_MAX = 2000;

export function maskEvent(event: EventEnvelope, key: MaskingKey): EventEnvelope {
  return masked(event, key) as EventEnvelope;
}

function masked(value: unknown, key: MaskingKey): unknown {
  if (Array.isArray(value)) return value.map((member) => masked(member, key));
  if (typeof value !== "object" || value === null) return value;
  const { type } = value as { readonly type?: unknown };
  const entries = Object.entries(value).map(([name, held]): [string, unknown] => {
    if (name === "target" && typeof held === "string") return [name, maskTarget(String(type), held, key)];
    if (PATHS.has(name)) return [name, maskedPaths(held, key)];
    const isMessage = MESSAGES.has(name) && typeof held === "string";
    return [name, isMessage ? maskMessage(held, key).slice(0, MESSAGE_LENGTH_MAX) : masked(held, key)];
  });
  return Object.fromEntries(entries);
}

function maskedPaths(held: unknown, key: MaskingKey): unknown {
  if (Array.isArray(held)) return held.map((path) => maskedPaths(path, key));
  return typeof held === "string" ? maskTarget("filesystem", held, key) : held;
}
