/**
 * The native object below a resolver: it asks for the name that was decided on, and is told of the name servers that were
 * decided on. Whoever has a resolver has it.
 */
import dns from "node:dns";
import { parseHost } from "@sallyport/contract";
import { capturedUrl } from "@sallyport/gate";
import type { AccessPart } from "../access-part.ts";
import { append, apply, beginsWith, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } from "../captured.ts";
import { nativePrototype } from "../native-class.ts";
import { replaceExport } from "../replace-export.ts";
import { refused } from "./handle-standing.ts";

/** What was decided on, while Node's own function runs. */
let askedName: unknown;
let decidedServers: readonly AccessPart[] | undefined;

/** Before the program runs. */
export function guardResolverClass(): void {
  const prototype = nativePrototype("cares_wrap", "ChannelWrap") ?? shownClass();
  for (const key of ownKeys(prototype)) {
    if (typeof key !== "string" || typeof getOwnPropertyDescriptor(prototype, key)?.value !== "function")
      continue;
    if (key === "setServers") guardServers(prototype);
    else if (beginsWith(key, "query") || key === "getHostByAddr") guardQuery(prototype, key);
  }
}

/** WHY: where Node hands out no internals, a resolver shows the class. */
function shownClass(): object {
  const { _handle: handle } = new dns.Resolver() as unknown as { readonly _handle: object };
  return getPrototypeOf(handle) as object;
}

/** Lets Node ask for this name, once. */
export function askingFor<R>(name: unknown, work: () => R): R {
  askedName = name;
  try {
    return work();
  } finally {
    askedName = undefined;
  }
}

/** Lets Node tell the native object of these servers. */
export function settingServers<R>(parts: readonly AccessPart[], work: () => R): R {
  decidedServers = parts;
  try {
    return work();
  } finally {
    decidedServers = undefined;
  }
}

/** (request, name). */
function guardQuery(prototype: object, key: string): void {
  replaceExport(
    prototype,
    key,
    (original) =>
      function query(this: object, request: unknown, name: unknown) {
        if (typeof name !== "string" || name !== askedName) throw refused();
        askedName = undefined;
        return apply(original, this, [request, name]);
      },
  );
}

/** ([[family, address, port], …]). */
function guardServers(prototype: object): void {
  replaceExport(
    prototype,
    "setServers",
    (original) =>
      function setServers(this: object, given: unknown) {
        if (!Array.isArray(given)) throw refused();
        const own: unknown[] = [];
        for (let index = 0; index < given.length; index++) append(own, decidedServer(given[index]));
        return apply(original, this, [own]);
      },
  );
}

/** A copy, which nobody else holds. */
function decidedServer(server: unknown): unknown[] {
  const { 0: family, 1: address, 2: port } = server as Readonly<Record<number, unknown>>;
  const host = typeof address === "string" ? parseHost(address, capturedUrl) : undefined;
  const count = decidedServers === undefined || host === undefined ? 0 : decidedServers.length;
  for (let index = 0; index < count; index++)
    if ((decidedServers as readonly AccessPart[])[index]?.target === `${host}:${port as number}`)
      return [family, address, port];
  throw refused();
}
