/**
 * The native object below a datagram socket: it sends, connects and binds only where the guard lets it, to the address
 * that was decided on. Whoever has a socket has it.
 */
import { SafeWeakSet, apply, getPrototypeOf, hasOwn } from "../captured.ts";
import { nativePrototype } from "../native-class.ts";
import { replaceExport } from "../replace-export.ts";
import { takeUse } from "./dial-permits.ts";
import { refused } from "./handle-standing.ts";

const guarded = new SafeWeakSet();
/** What was connected needs no address any more. */
const connected = new SafeWeakSet();

/** False where Node hands out no internals; then the first socket has to show the class. */
export function guardDatagramClass(): boolean {
  const prototype = nativePrototype("udp_wrap", "UDP");
  if (prototype !== undefined) guardClass(prototype);
  return prototype !== undefined;
}

export function guardDatagramHandle(handle: object): void {
  const prototype = getPrototypeOf(handle);
  if (prototype !== null) guardClass(prototype);
}

function guardClass(prototype: object): void {
  if (guarded.has(prototype)) return;
  guarded.add(prototype);
  for (const name of ["send", "send6"]) if (hasOwn(prototype, name)) guardSend(prototype, name);
  for (const name of ["connect", "connect6", "bind", "bind6"])
    if (hasOwn(prototype, name)) guardEnd(prototype, name, name === "connect" || name === "connect6");
  // WHY: it takes any descriptor by its number; binding to one is refused above.
  replaceExport(prototype, "open", () => open);
}

function open(): never {
  throw refused();
}

/** (request, list, count, port, address, hasCallback), or without an address where it is connected. */
function guardSend(prototype: object, name: string): void {
  replaceExport(
    prototype,
    name,
    (original) =>
      function send(this: object, ...args: unknown[]) {
        const mayPass =
          args.length >= 6 ? takeUse("datagram", args[4], args[3]) !== undefined : connected.has(this);
        if (!mayPass) throw refused();
        return apply(original, this, args);
      },
  );
}

/** (address, port, …). */
function guardEnd(prototype: object, name: string, isConnect: boolean): void {
  replaceExport(
    prototype,
    name,
    (original) =>
      function end(this: object, ...args: unknown[]) {
        if (takeUse("datagram", args[0], args[1]) === undefined) throw refused();
        if (isConnect) connected.add(this);
        return apply(original, this, args);
      },
  );
}
