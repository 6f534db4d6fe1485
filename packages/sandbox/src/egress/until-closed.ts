/** Whoever asks for somebody stops asking when that one's stream has closed. */
import type { EventEmitter } from "node:events";

/** WHY one for all: Node makes an error with its stack for whoever names none, and nobody reads it. */
const CLOSED = Object.freeze(new Error("the stream has closed"));

export function untilClosed(stream: EventEmitter & { readonly destroyed: boolean }): AbortSignal {
  const closed = new AbortController();
  if (stream.destroyed) closed.abort(CLOSED);
  else stream.once("close", () => closed.abort(CLOSED));
  return closed.signal;
}
