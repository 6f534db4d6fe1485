/**
 * The resolvers of `dns` that ask name servers by themselves: stand-alone name resolution, so network connect to the name.
 * Another name server is a socket to it: network connect to its address and port. By callback, by promise, and by
 * instances of `Resolver`.
 */
import dns from "node:dns";
import { isIpLiteral, parseHost } from "@sallyport/contract";
import { capturedUrl } from "@sallyport/gate";
import { type AccessPart, connectPart } from "../access-part.ts";
import { type CallFacts, invalidError } from "../blocked-call.ts";
import {
  append,
  apply,
  bare,
  beginsWith,
  getOwnPropertyDescriptor,
  getPrototypeOf,
  newPromise,
  ownKeys,
  settled,
  withArgument,
} from "../captured.ts";
import { failing } from "../fs/call-drivers.ts";
import type { Ground } from "../ground.ts";
import { replaceExport } from "../replace-export.ts";
import { namesOf, portOf } from "./endpoint.ts";
import { askingFor, guardResolverClass, settingServers } from "./resolver-handle.ts";

type Callback = (error: unknown, ...values: unknown[]) => void;
const DNS_PORT = 53;

interface Query {
  readonly parts: readonly AccessPart[];
  readonly args: readonly unknown[];
  readonly facts: CallFacts;
}

export function guardResolver(ground: Ground): void {
  guardResolverClass();
  guardQueries(ground, dns, "callback");
  guardQueries(ground, dns.promises, "promise");
  for (const [exports, form] of [
    [dns, "callback"],
    [dns.promises, "promise"],
  ] as const) {
    guardQueries(ground, exports.Resolver.prototype, form);
    // WHY: both share a class that is not exported.
    const base = getPrototypeOf(exports.Resolver.prototype);
    if (base !== null && base !== Object.prototype) guardQueries(ground, base, form);
  }
}

function guardQueries(ground: Ground, holder: object, form: "callback" | "promise"): void {
  for (const key of ownKeys(holder)) {
    if (typeof key !== "string" || typeof getOwnPropertyDescriptor(holder, key)?.value !== "function")
      continue;
    if (key === "setServers") guardServers(ground, holder);
    else if (beginsWith(key, "resolve") || key === "reverse" || key === "lookupService")
      guardQuery(ground, holder, key, form);
  }
}

function guardQuery(ground: Ground, holder: object, key: string, form: "callback" | "promise"): void {
  const queryOf = (args: readonly unknown[]): Query =>
    key === "lookupService" ? serviceQuery(args) : nameQuery(args, key);
  replaceExport(holder, key, (original) =>
    form === "callback"
      ? function query(this: unknown, ...args: unknown[]) {
          const callback = args[args.length - 1];
          if (typeof callback !== "function") return apply(original, this, [""]);
          const { parts, args: own, facts } = queryOf(args);
          ground.decider.later(parts, facts, (blocked) => {
            if (blocked !== undefined) failing(callback as Callback)(blocked);
            else askingFor(own[0], () => apply(original, this, own as unknown[]));
          });
          return undefined;
        }
      : function query(this: unknown, ...args: unknown[]) {
          return newPromise((resolve, reject) => {
            const { parts, args: own, facts } = queryOf(args);
            ground.decider.later(parts, facts, (blocked) => {
              if (blocked !== undefined) reject(blocked);
              else
                settled(
                  askingFor(own[0], () => apply(original, this, own as unknown[])) as Promise<unknown>,
                  resolve,
                  reject,
                );
            });
          });
        },
  );
}

function nameQuery(args: readonly unknown[], key: string): Query {
  const name = args[0];
  const host = typeof name === "string" ? parseHost(name, capturedUrl) : undefined;
  if (host === undefined)
    throw invalidError(
      "a query needs a host name: hand over text such as `api.example.com`",
      factsOf(key, name),
    );
  const isSix = isIpLiteral(host) && beginsWith(host, "[");
  const asked = isSix ? (name as string) : host;
  const part = connectPart(host, name as string, bare({ aliases: namesOf(host) }));
  return bare({ parts: [part], args: withArgument(args, 0, asked), facts: factsOf(key, name) });
}

function serviceQuery(args: readonly unknown[]): Query {
  const address = args[0];
  const host = typeof address === "string" ? parseHost(address, capturedUrl) : undefined;
  const port = portOf(args[1]);
  if (host === undefined || port === undefined || !isIpLiteral(host))
    throw invalidError(
      "a look-up of a service needs an address and a port",
      factsOf("lookupService", address),
    );
  const part = connectPart(`${host}:${port}`, `${address as string}:${port}`);
  return bare({ parts: [part], args: withArgument(args, 1, port), facts: factsOf("lookupService", address) });
}

function factsOf(syscall: string, path: unknown): CallFacts {
  return bare({ syscall: syscall === "lookupService" ? "getnameinfo" : "query", path: String(path) });
}

function guardServers({ decider }: Ground, holder: object): void {
  replaceExport(
    holder,
    "setServers",
    (original) =>
      function setServers(this: unknown, servers: unknown) {
        if (!Array.isArray(servers)) return apply(original, this, [servers]);
        const own: string[] = [];
        const parts: AccessPart[] = [];
        for (let index = 0; index < servers.length; index++) {
          const server: unknown = servers[index];
          append(parts, serverPart(server));
          append(own, server as string);
        }
        decider.now(parts, factsOf("setServers", own.length === 0 ? "" : own[0]));
        return settingServers(parts, () => apply(original, this, [own]));
      },
  );
}

const SERVER = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+)|([0-9a-f:]+))(?::(\d{1,5}))?$/i;
const { exec } = RegExp.prototype as { exec: (text: string) => RegExpExecArray | null };

function serverPart(server: unknown): AccessPart {
  const text = typeof server === "string" ? server : "";
  const bareSix = parseHost(text, capturedUrl);
  const found = bareSix === undefined ? apply(exec, SERVER, [text]) : null;
  const host = bareSix ?? parseHost(found?.[1] ?? found?.[2] ?? "", capturedUrl);
  const port = found?.[4] === undefined ? DNS_PORT : portOf(found[4]);
  if (host === undefined || port === undefined || !isIpLiteral(host))
    throw invalidError("a name server is an address, with or without a port", factsOf("setServers", text));
  return connectPart(`${host}:${port}`, text);
}
