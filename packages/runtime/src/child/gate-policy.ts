/**
 * The access-policy service as a child reaches it: questions over the socket that it inherited. Of the caller only the
 * frames that were made up in this child are sent; who the child is, the other end of the socket knows.
 */
import type { Access, AccessAsking, Ask, CallerContext, ExternalAccessCheck } from "@sallyport/contract";
import type { AskWords, GateClient } from "@sallyport/gate";
import { faultCheck } from "./fault-check.ts";

/** What keeps the process alive while an answer is awaited, and not longer. */
export interface Liveness {
  ref(): void;
  unref(): void;
}

export function gatePolicy(client: GateClient, liveness: Liveness): AccessAsking {
  let open = 0;
  const awaited = async (answer: Promise<ExternalAccessCheck>): Promise<ExternalAccessCheck> => {
    if (++open === 1) liveness.ref();
    try {
      return await answer;
    } finally {
      if (--open === 0) liveness.unref();
    }
  };
  return {
    check: async (caller, ask) => {
      const { access, registerRequest } = ask;
      if ("code" in access) return faultCheck(access);
      return awaited(client.check(wordsOf(caller, access, ask), { ...waiting(ask), registerRequest }));
    },
    require: async (caller, ask) => {
      const { access, resumeAction, resumeContext } = ask;
      if ("code" in access) return faultCheck(access);
      const options = { ...waiting(ask), resumeAction, resumeContext };
      return awaited(client.require(wordsOf(caller, access, ask), options));
    },
    // WHY: the gate has no word for it; a child waits with the check itself.
    wait: async () => ({ outcome: "not_interactive" }),
  };
}

function waiting({ wait }: Pick<Ask, "wait">) {
  return { waitMs: wait?.timeoutMs, signal: wait?.signal as AbortSignal | undefined };
}

function wordsOf(
  { frames }: CallerContext,
  access: Access,
  { address, aliases, twin, named, exists, enforced }: Omit<Ask, "registerRequest">,
): AskWords {
  const { resourceType, operation, target } = access;
  const words = {
    resourceType,
    operation,
    target: target.text,
    requested: target.requested === target.text ? undefined : target.requested,
    address,
    aliases,
    twin:
      twin === undefined
        ? undefined
        : { resourceType: twin.resourceType, operation: twin.operation, target: twin.target.text },
    named: named === undefined ? undefined : { type: named.type, name: named.name },
    entered:
      frames.length === 0
        ? undefined
        : frames.map(({ subject }) => ({
            subject: { type: subject.type, name: subject.name },
            contracts: [],
          })),
    exists,
    enforced,
  };
  return Object.fromEntries(Object.entries(words).filter(([, value]) => value !== undefined)) as AskWords;
}
