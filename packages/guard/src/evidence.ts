/**
 * Where in the program a question comes from, for people who learn what a program needs. Only where the host asked for
 * it. Decides nothing: foreign code can change what is told here, and nothing else.
 */
import { beginsWith, charCodeAt, slice } from "./captured.ts";

// oxlint-disable-next-line typescript/unbound-method -- it has no receiver
const { captureStackTrace } = Error;
const LENGTH_MAX = 400;
const NEWLINE = 0x0a;
const FRAMES = 40;

/** The first line of the stack that is neither of the guard nor of Node. @param guard what the guard is called there */
export function callSite(guard: string): string | undefined {
  const limit = Error.stackTraceLimit;
  let stack: unknown;
  try {
    Error.stackTraceLimit = FRAMES;
    const holder: { stack?: unknown } = {};
    captureStackTrace(holder);
    stack = holder.stack;
  } catch {
    return undefined;
  } finally {
    Error.stackTraceLimit = limit;
  }
  return typeof stack === "string" ? firstForeign(stack, guard) : undefined;
}

function firstForeign(stack: string, guard: string): string | undefined {
  let start = 0;
  for (let index = 0; index <= stack.length; index++) {
    if (index < stack.length && charCodeAt(stack, index) !== NEWLINE) continue;
    const line = slice(stack, start, index);
    start = index + 1;
    if (beginsWith(line, "    at ") && !contains(line, guard) && !contains(line, "node:"))
      return slice(line, "    at ".length, LENGTH_MAX);
  }
  return undefined;
}

function contains(text: string, part: string): boolean {
  for (let index = 0; index + part.length <= text.length; index++)
    if (slice(text, index, index + part.length) === part) return true;
  return false;
}
