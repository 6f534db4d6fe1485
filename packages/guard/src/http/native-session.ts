/** The native object below an HTTP/2 session: it asks for streams on behalf of the guard alone. */
import { refusedError } from "../blocked-call.ts";
import { SafeWeakSet, apply, bare, getPrototypeOf, hasOwn, ownKeys } from "../captured.ts";
import { replaceExport } from "../replace-export.ts";

let isNative = false;
const guarded = new SafeWeakSet();

/** Runs what was decided on. */
export function native<R>(work: () => R): R {
  const before = isNative;
  isNative = true;
  try {
    return work();
  } finally {
    isNative = before;
  }
}

/** WHY: its class is not to be had before a session is connected. */
export function guardNativeSession(session: object): void {
  const keys = ownKeys(session);
  for (let index = 0; index < keys.length; index++) {
    const value: unknown = (session as Record<PropertyKey, unknown>)[keys[index] as string];
    if (typeof value !== "object" || value === null) continue;
    const prototype = getPrototypeOf(value);
    if (prototype === null || guarded.has(prototype)) continue;
    if (!hasOwn(prototype, "request") || !hasOwn(prototype, "consume")) continue;
    guarded.add(prototype);
    replaceExport(
      prototype,
      "request",
      (original) =>
        function request(this: unknown, ...args: unknown[]) {
          if (!isNative)
            throw refusedError(
              "a native session asks for streams on behalf of the guard alone: use the session",
              bare({ syscall: "request" }),
            );
          return apply(original, this, args);
        },
    );
  }
}
