/**
 * `dns.lookup`: stand-alone name resolution, of which nobody knows the direction, so it is network connect to that host.
 * Resolved by the system's own resolver. The other functions of `dns` send to any server, and are refused.
 */
import dns from "node:dns";
import { isIpLiteral, parseHost } from "@sallyport/contract";
import { capturedUrl } from "@sallyport/gate";
import { connectPart } from "../access-part.ts";
import { invalidError } from "../blocked-call.ts";
import { apply, bare, newPromise, settled, withArgument } from "../captured.ts";
import { failing } from "../fs/call-drivers.ts";
import type { Ground } from "../ground.ts";
import { replaceExport } from "../replace-export.ts";
import { addressOf } from "./endpoint.ts";
import { closeLookups, requireOwnNames } from "./system-names.ts";

type Callback = (error: unknown, ...values: unknown[]) => void;

/** The part of a look-up, and the name that is looked up in place of the one that was written. */
function lookupOf(name: unknown) {
  const host = typeof name === "string" ? parseHost(name, capturedUrl) : undefined;
  if (host === undefined)
    throw invalidError(
      "a look-up needs a host name: hand over text such as `api.example.com`",
      bare({ syscall: "getaddrinfo" }),
    );
  const parts = isIpLiteral(host) ? [] : [connectPart(host, name as string)];
  return bare({
    host: addressOf(host).address,
    parts,
    facts: bare({ syscall: "getaddrinfo", path: name as string }),
  });
}

export function guardLookup({ decider }: Ground): void {
  closeLookups();
  replaceExport(dns, "lookup", (original) => (...args) => {
    const callback = args[args.length - 1] as Callback;
    if (typeof callback !== "function") return apply(original, dns, ["", callback]);
    const { host, parts, facts } = lookupOf(args[0]);
    decider.later(parts, facts, (blocked) => {
      try {
        if (blocked !== undefined) throw blocked;
        requireOwnNames(host);
      } catch (error) {
        failing(callback)(error);
        return;
      }
      apply(original, dns, withArgument(args, 0, host));
    });
    return undefined;
  });
  replaceExport(
    dns.promises,
    "lookup",
    (original) =>
      (...args) =>
        newPromise((resolve, reject) => {
          const { host, parts, facts } = lookupOf(args[0]);
          decider.later(parts, facts, (blocked) => {
            try {
              if (blocked !== undefined) throw blocked;
              requireOwnNames(host);
            } catch (error) {
              reject(error);
              return;
            }
            settled(
              apply(original, dns.promises, withArgument(args, 0, host)) as Promise<unknown>,
              resolve,
              reject,
            );
          });
        }),
  );
}
