/**
 * A call in the words that travel. Of the caller only what narrows is sent: the names on its chain, its task, and that
 * nobody can be asked. Who it is stands in the credential.
 */
import {
  type Ask,
  type ByAccess,
  type ByRequest,
  type CallerContext,
  type RequireAsk,
  type SessionApprovalWords,
  fault,
  resourceOf,
} from "@sallyport/contract";
import {
  REMOTE_ALIASES_MAX,
  REMOTE_WAIT_MAX_MS,
  type RemoteCheck,
  type RemoteDecision,
  type RemoteRequire,
  plainJsonText,
  remoteCheckWire,
  remoteDecisionWire,
  remoteRequireWire,
  remoteStateWire,
  remoteWaitWire,
} from "@sallyport/contract/remote";

export function checkWords(caller: CallerContext, ask: Ask): object {
  const { registerRequest } = ask;
  return remoteCheckWire.format({
    ...askWords(caller, ask),
    ...(registerRequest === undefined ? {} : { registerRequest }),
  } as RemoteCheck);
}

export function requireWords(caller: CallerContext, ask: RequireAsk): object {
  const { resumeAction, resumeContext } = ask;
  const text = resumeContext === undefined ? undefined : plainJsonText(resumeContext);
  if (resumeContext !== undefined && text === undefined)
    return remoteRequireWire.format({ ...askWords(caller, { ...ask, ...notJson(ask) }) } as RemoteRequire);
  return remoteRequireWire.format({
    ...askWords(caller, ask),
    ...(resumeAction === undefined ? {} : { resumeAction }),
    ...(text === undefined ? {} : { resumeContext: text }),
  } as RemoteRequire);
}

export function waitWords(caller: CallerContext, requestId: string, timeoutMs: number): object {
  return remoteWaitWire.format({ ...standing(caller), requestId, wait: waitOf(timeoutMs) } as never);
}

export function stateWords(caller: CallerContext): object {
  return remoteStateWire.format(standing(caller) as never);
}

export function decisionWords(by: ByRequest | ByAccess, words: SessionApprovalWords): object {
  const { widen, reason, expiresAtMs, maxUses, sessionKey } = words;
  const said = { widen, reason, expiresAtMs, maxUses, sessionKey };
  const about =
    "requestId" in by
      ? { kind: "request", requestId: by.requestId, digest: by.digest }
      : { kind: "access", subject: by.subject, resource: resourceOf(by.access), session: by.session };
  return remoteDecisionWire.format({ by: about, words: said } as unknown as RemoteDecision);
}

function standing({ frames, taskId, interactive }: CallerContext) {
  const chain = frames.map(({ subject, phase, entry }) => ({ subject, phase, entry }));
  return { chain, taskId, interactive };
}

function askWords(caller: CallerContext, ask: Omit<Ask, "registerRequest">) {
  const { access, requested, address, aliases, twin, named, wait, attestedBy, enforced, exists } = ask;
  return {
    ...standing(caller),
    access:
      "code" in access
        ? { kind: "fault", code: access.code, field: access.field, message: access.message }
        : { kind: "access", resource: resourceOf(access), requested: access.target.requested },
    requested,
    address,
    aliases: aliases?.slice(0, REMOTE_ALIASES_MAX),
    twin: twin === undefined ? undefined : resourceOf(twin),
    named,
    wait: wait === undefined ? undefined : waitOf(wait.timeoutMs),
    attestedBy,
    enforced,
    exists,
  };
}

const waitOf = (timeoutMs: number) => ({
  timeoutMs:
    timeoutMs >= 0
      ? Math.min(timeoutMs, REMOTE_WAIT_MAX_MS)
      : Number.isNaN(timeoutMs)
        ? REMOTE_WAIT_MAX_MS
        : 0,
});

/** What cannot travel is answered as the service answers it: as a fault of the call, never registered. */
function notJson({ access, requested }: RequireAsk): Pick<RequireAsk, "access" | "requested"> {
  const shown =
    requested ??
    ("code" in access
      ? { type: "", operation: "", target: "" }
      : { type: access.resourceType, operation: access.operation, target: access.target.requested });
  return {
    access: fault("invalid_operation", "resume", "the resume context cannot be read: give plain JSON"),
    requested: shown,
  };
}
