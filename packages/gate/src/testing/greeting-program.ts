/**
 * A process that says the first words of a gate at descriptor 3: `node program`. Prints one line of JSON: what it heard and
 * the message that it left to whoever takes over, or the code of the fault.
 */
import { readSync } from "node:fs";
import { GateGreeting } from "../client/gate-greeting.ts";
import { sayHello } from "../client/say-hello.ts";
import { GateFault } from "../protocol/gate-fault.ts";

const OPEN_MS = 60_000;
const HEADER_BYTES = 4;
const LEFT_BYTES_MAX = 4096;

/** WHY all that is there: the test writes what is left in one piece with what was heard. */
function leftText(): string {
  const bytes = Buffer.alloc(LEFT_BYTES_MAX);
  const length = readSync(3, bytes);
  return bytes.toString("utf8", HEADER_BYTES, length);
}

function greet(): object {
  try {
    sayHello(3);
    const greeting = new GateGreeting(3, OPEN_MS);
    greeting.listen();
    const { terms, facts, untilMs, link } = greeting.lease();
    const changes = facts.map((one) => one.changes);
    return { memory: terms.memory, changes, isLeased: untilMs > 0, link, left: leftText() };
  } catch (error) {
    return { fault: error instanceof GateFault ? error.code : String(error) };
  }
}

process.stdout.write(`${JSON.stringify(greet())}\n`);
