/**
 * Decides where a connection goes, and to which addresses. A name is not even looked up before it was decided on, since
 * a look-up tells the name to others. Then every address is checked with the name; only those that pass are dialled.
 * INVARIANT: one use of an approval is spent, however many addresses a name has.
 */
import { type Host, foldLocalHost, isLocalAddress } from "@sallyport/contract";
import type { AccessPart } from "../access-part.ts";
import { type CallFacts, invalidError } from "../blocked-call.ts";
import { append, bare, beginsWith, freeze } from "../captured.ts";
import type { Decider } from "../decide-call.ts";
import { type Endpoint, type HostEndpoint, resolveName } from "./endpoint.ts";

export interface EndpointQuestion {
  readonly endpoint: Endpoint;
  readonly family: unknown;
  /** What has to pass, for a name that has this address. */
  readonly part: (address: Host | undefined) => AccessPart;
  readonly facts: CallFacts;
}

/** Calls back with an error, or with the addresses that may be dialled; none for a unix socket. */
export type EndpointDecided = (error: unknown, addresses: readonly Host[]) => void;

const NONE: readonly Host[] = freeze([]);

export function decideEndpoint(decider: Decider, question: EndpointQuestion, done: EndpointDecided): void {
  const { endpoint, part, facts } = question;
  switch (endpoint.kind) {
    case "unix":
      decider.later([part(undefined)], facts, (blocked) => done(blocked, NONE));
      return;
    case "address":
      decider.later([part(undefined)], facts, (blocked) => done(blocked, freeze([endpoint.host])));
      return;
    case "name":
      if (decider.wouldPass(part(undefined))) resolved(decider, question, endpoint, false, done);
      else
        decider.later([part(undefined)], facts, (blocked) => {
          if (blocked !== undefined) done(blocked, NONE);
          else resolved(decider, question, endpoint, true, done);
        });
  }
}

/** @param isSpent the name was decided on as such; an address may only take away from that */
function resolved(
  decider: Decider,
  { family, part, facts }: EndpointQuestion,
  { host }: HostEndpoint,
  isSpent: boolean,
  done: EndpointDecided,
): void {
  resolveName(host, family, (error, found) => {
    const head = found[0];
    if (error !== null || head === undefined) {
      done(error ?? noAddress(host), NONE);
      return;
    }
    const passing: Host[] = [];
    for (let index = 0; index < found.length; index++) {
      const address = found[index] as Host;
      const said = decider.codeOf(part(address));
      // WHY: the name was decided on. Where the service is not heard a moment later, its rules are in memory; else the
      // one use of an approval would be spent for nothing.
      const code = (isSpent && said === "unavailable" ? decider.remembered(part(address)) : said) ?? said;
      // WHY: the one use of an approval may be spent by now; an address that needs no rule of its own adds nothing.
      const isCovered = !isLocalAddress(address) || foldLocalHost(address) === foldLocalHost(host);
      const isAsked = code === "approval_required" && isSpent && isCovered;
      if (isAsked || beginsWith(code, "allowed_")) append(passing, address);
    }
    const first = passing[0] ?? head;
    if (isSpent && passing.length > 0) done(undefined, passing);
    else
      decider.later([part(first)], facts, (blocked) => {
        done(blocked, passing.length > 0 ? passing : freeze([first]));
      });
  });
}

function noAddress(host: Host): Error {
  return invalidError(
    `\`${host}\` has no address that can be dialled: see that the name is right`,
    bare({ syscall: "getaddrinfo", path: host }),
  );
}
