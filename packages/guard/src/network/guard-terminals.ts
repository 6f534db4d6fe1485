/**
 * Streams of terminals. Node makes one of any descriptor that is a stream, by its number, also where it is no terminal: so never
 * of the guard's own, nor of a connection that only decided things leave by.
 */
import process from "node:process";
import { apply, bare, construct, getPrototypeOf, put } from "../captured.ts";
import { requireForeign } from "../fs/descriptor-calls.ts";
import type { Ground } from "../ground.ts";
import { nativePrototype } from "../native-class.ts";
import { refuseConstructor } from "../refused/native-constructors.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- classes of any signature are wrapped
type AnyClass = (new (...args: any[]) => object) & ((...args: any[]) => unknown);

let isHeld = false;

/** WHY now and not when it is loaded: nothing below it would refuse a number. */
export function guardTerminals(ground: Ground): void {
  const native = nativePrototype("tty_wrap", "TTY");
  if (native !== undefined) holdNative(native);
  const exports = process.getBuiltinModule("tty") as unknown as Record<string, AnyClass>;
  for (const name of ["ReadStream", "WriteStream"]) {
    const Native = exports[name] as AnyClass;
    const guarded = new Proxy(
      Native,
      bare({
        construct: (_target: AnyClass, args: readonly unknown[], newTarget: AnyClass): object =>
          shown(
            construct(Native, checked(ground, args), newTarget === guarded ? Native : (newTarget as never)),
          ),
        apply: (_target: AnyClass, self: unknown, args: readonly unknown[]): unknown =>
          shown(apply(Native, self, checked(ground, args)) ?? self),
      }),
    );
    put((Native as unknown as { readonly prototype: object }).prototype, "constructor", guarded, false);
    put(exports, name, guarded);
  }
}

/** What is no number Node refuses by itself. @throws for a descriptor that is no business of the program's */
function checked(ground: Ground, args: readonly unknown[]): unknown[] {
  const fd = args[0];
  if (typeof fd === "number") requireForeign(ground, fd, "open");
  return [fd, args[1]];
}

/** WHY: where Node hands out no internals, the first stream shows the class. */
function shown(stream: unknown): object {
  const { _handle: handle } = stream as { readonly _handle?: unknown };
  if (!isHeld && typeof handle === "object" && handle !== null) holdNative(getPrototypeOf(handle) as object);
  return stream as object;
}

function holdNative(prototype: object): void {
  isHeld = true;
  refuseConstructor(prototype, "TTY", "it makes a stream of any descriptor: use `tty`");
}
