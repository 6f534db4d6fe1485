/**
 * The first message of a gate, as a text that needs little to be loaded: so a process can say it first of all, and the
 * service answers while the process starts. The answer is heard by `gate-greeting.ts`.
 */
import { writeSync } from "node:fs";
import { PROTOCOL_VERSION } from "../protocol/bounds.ts";
import { encodeFrame } from "../protocol/frame.ts";
import { GateFault } from "../protocol/gate-fault.ts";

export const NOT_OPENED = "the gate could not be opened: see that the service runs";
export const HELLO_TEXT = `{"n":1,"kind":"hello","protocol":${PROTOCOL_VERSION}}`;

/** Throws a {@link GateFault} where nobody is at the other end. */
export function sayHello(fd: number): void {
  const frame = encodeFrame(HELLO_TEXT, HELLO_TEXT.length);
  try {
    // WHY in one piece: nothing was written before it, so it fits.
    if (writeSync(fd, frame) === frame.length) return;
  } catch {
    // WHY: what the system says of the descriptor is no help to whoever reads this.
  }
  throw new GateFault("closed", NOT_OPENED);
}
