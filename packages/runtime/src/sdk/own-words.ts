/**
 * Reads the arguments of guarded code: own properties only, each once, and no key that is not a word of the call.
 * Never throws, whatever getters and proxies do.
 */
import { type Fault, fault } from "@sallyport/contract";

export type Words = ReadonlyMap<string, unknown>;

/** Facts of the host that somebody may try to hand over. */
const HOST_FACTS: ReadonlySet<string> = new Set([
  "user",
  "userId",
  "organizationId",
  "sessionKey",
  "session",
  "taskId",
  "mode",
  "interactive",
]);
const SHOWN_MAX = 64;

/** `undefined` stands for no words at all. */
export function ownWords(from: unknown, allowed: ReadonlySet<string>): Words | Fault {
  if (from === undefined) return new Map();
  try {
    if (typeof from !== "object" || from === null)
      return problem("arguments", "arguments must be one object with named fields");
    const words = new Map<string, unknown>();
    for (const key of Reflect.ownKeys(from)) {
      if (typeof key !== "string") return problem("arguments", "arguments must not have symbols for names");
      if (!allowed.has(key)) return problem(shown(key), unknownWord(key));
      words.set(key, Reflect.get(from, key));
    }
    return words;
  } catch {
    return problem("arguments", "arguments could not be read: hand over a plain object");
  }
}

function problem(field: string, message: string): Fault {
  return fault("invalid_operation", field, message);
}

function unknownWord(key: string): string {
  const name = `\`${shown(key)}\``;
  if (HOST_FACTS.has(key)) return `${name} comes from the runtime context and is no argument: leave it out`;
  if (/allowed|approved|trusted|declared/i.test(key))
    return `${name} is no argument: what is allowed is decided by the service, so leave it out`;
  return `${name} is no argument of this call: leave it out`;
}

function shown(key: string): string {
  return key.replaceAll(/[^\w.-]/g, "?").slice(0, SHOWN_MAX);
}

export function isFault(value: Words | Fault): value is Fault {
  return !(value instanceof Map);
}
