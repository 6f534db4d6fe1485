/**
 * The access-policy service as a child reaches it: questions over the socket that it inherited. Of the caller only the
 * frames that were made up in this child are sent; who the child is, the other end of the socket knows.
 */
import type { AccessAsking, Ask, CallerContext } from "@sallyport/contract";
import type { GateClient } from "@sallyport/gate";
import { type AskWords, gateBounds } from "@sallyport/gate/targets";

const TEXT_MAX = gateBounds.TEXT_LENGTH_MAX;

/** What keeps the process alive while an answer is awaited, and not longer. */
export interface Liveness {
  ref(): void;
  unref(): void;
}

export type AskedGate = Pick<GateClient, "check" | "require" | "decided" | "state">;

/** @param own how many frames of a caller are those that the host entered: they are never sent */
export function gatePolicy(client: AskedGate, liveness: Liveness, own: number): AccessAsking {
  let open = 0;
  const awaited = async <T>(answer: Promise<T>): Promise<T> => {
    if (++open === 1) liveness.ref();
    try {
      return await answer;
    } finally {
      if (--open === 0) liveness.unref();
    }
  };
  return {
    check: async (caller, ask) => {
      const { registerRequest } = ask;
      const words = wordsOf(enteredOf(caller, own), ask);
      return awaited(client.check(words, { ...waiting(ask), registerRequest }));
    },
    require: async (caller, ask) => {
      const { resumeAction, resumeContext } = ask;
      const options = { ...waiting(ask), resumeAction, resumeContext };
      return awaited(client.require(wordsOf(enteredOf(caller, own), ask), options));
    },
    wait: (_, requestId, { timeoutMs, signal }) =>
      awaited(client.decided(requestId, wholeMs(timeoutMs), signal as AbortSignal | undefined)),
    state: (caller) => awaited(client.state(enteredOf(caller, own))),
  };
}

type Entered = NonNullable<AskWords["entered"]> | undefined;

function enteredOf({ frames }: CallerContext, own: number): Entered {
  const entered = frames.slice(own).map(({ subject }) => ({
    subject: { type: subject.type, name: subject.name },
    contracts: [],
  }));
  return entered.length === 0 ? undefined : entered;
}

/** The gate counts whole milliseconds; what is no time is none. */
function wholeMs(timeoutMs: number): number {
  return timeoutMs > 0 ? Math.min(Math.ceil(timeoutMs), Number.MAX_SAFE_INTEGER) : 0;
}

function waiting({ wait }: Pick<Ask, "wait">) {
  const waitMs = wait === undefined ? undefined : wholeMs(wait.timeoutMs);
  return { waitMs, signal: wait?.signal as AbortSignal | undefined };
}

function wordsOf(entered: Entered, ask: Omit<Ask, "registerRequest">): AskWords {
  const { address, aliases, twin, named, exists, enforced } = ask;
  const words = {
    ...askedWords(ask),
    address,
    aliases,
    twin:
      twin === undefined
        ? undefined
        : { resourceType: twin.resourceType, operation: twin.operation, target: twin.target.text },
    named: named === undefined ? undefined : { type: named.type, name: named.name },
    entered,
    exists,
    enforced,
  };
  return Object.fromEntries(Object.entries(words).filter(([, value]) => value !== undefined)) as AskWords;
}

/** A question that is wrong is sent as it was written, with what is wrong, so that the service records it. */
function askedWords({ access, requested: written }: Omit<Ask, "registerRequest">) {
  if ("code" in access) {
    const { code, field, message } = access;
    const { type = "", operation = "", target = "" } = written ?? {};
    const fault = { code, field: field.slice(0, TEXT_MAX), message: message.slice(0, TEXT_MAX) };
    return { resourceType: type, operation, target, fault };
  }
  const { resourceType, operation, target } = access;
  const requested = target.requested === target.text ? undefined : target.requested;
  return { resourceType, operation, target: target.text, requested };
}
