/**
 * What a remote host asks, read again on this side: targets are parsed here and only normalized ones pass. A fault of
 * the target is an answer of the service, which records it; it is never a failed call.
 */
import {
  type Access,
  type Ask,
  type Fault,
  type Host,
  type RequireAsk,
  type Resource,
  type UrlParser,
  type Wait,
  accessOfResource,
  fault,
  parseHost,
  parseTarget,
} from "@sallyport/contract";
import type { RemoteCheck, RemoteRequire } from "@sallyport/contract/remote";
import { malformed } from "../problem.ts";

export interface AskParts {
  readonly parseUrl: UrlParser;
  /** Aborted when the remote host is gone. */
  readonly signal: AbortSignal;
  /** No wait goes past it. */
  readonly waitMaxMs: number;
}

export function checkAsk(remote: RemoteCheck, parts: AskParts): Ask {
  const { registerRequest } = remote;
  return { ...askOf(remote, parts), ...(registerRequest === undefined ? {} : { registerRequest }) };
}

export function requireAsk(remote: RemoteRequire, parts: AskParts): RequireAsk {
  const { resumeAction, resumeContext } = remote;
  const ask = askOf(remote, parts);
  const context = resumeContext === undefined ? undefined : contextOf(resumeContext);
  return {
    ...ask,
    ...(resumeAction === undefined ? {} : { resumeAction }),
    ...(context === undefined ? {} : { resumeContext: context.value }),
  };
}

export function waitOf(timeoutMs: number, { signal, waitMaxMs }: AskParts): Wait {
  return { timeoutMs: Math.min(timeoutMs, Math.max(0, waitMaxMs)), signal };
}

function askOf(remote: RemoteCheck | RemoteRequire, parts: AskParts): Omit<Ask, "registerRequest"> {
  const { access, requested, address, aliases, twin, named, wait, attestedBy, enforced, exists } = remote;
  const parsed = accessOf(access, parts.parseUrl);
  const shown = requested ?? (access.kind === "access" && "code" in parsed ? access.resource : undefined);
  return {
    access: parsed,
    attestedBy,
    enforced,
    ...(shown === undefined ? {} : { requested: shown }),
    ...(address === undefined ? {} : { address: hostOf(address, "/address", parts) }),
    ...(aliases === undefined
      ? {}
      : { aliases: aliases.map((name, index) => hostOf(name, `/aliases/${index}`, parts)) }),
    ...(twin === undefined ? {} : { twin: twinOf(twin, parts) }),
    ...(named === undefined ? {} : { named }),
    ...(wait === undefined ? {} : { wait: waitOf(wait.timeoutMs, parts) }),
    ...(exists === undefined ? {} : { exists }),
  };
}

function accessOf(remote: RemoteCheck["access"], parseUrl: UrlParser): Access | Fault {
  if (remote.kind === "fault") return fault(remote.code, remote.field, remote.message);
  const parsed = accessOfResource(remote.resource, parseUrl);
  if (!parsed.ok) return parsed;
  const access = parsed.value;
  const requested = requestedOf(remote, parseUrl);
  return Object.freeze({ ...access, target: Object.freeze({ ...access.target, requested }) }) as Access;
}

/** INVARIANT: a network target is shown as written only where that is another spelling of the same target. */
function requestedOf(
  { resource, requested }: Extract<RemoteCheck["access"], { readonly kind: "access" }>,
  parseUrl: UrlParser,
): string {
  if (resource.type !== "network") return requested;
  const parsed = parseTarget("network", requested, parseUrl);
  return parsed.ok && parsed.value.text === resource.target ? requested : resource.target;
}

function hostOf(text: string, pointer: string, { parseUrl }: AskParts): Host {
  const host = parseHost(text, parseUrl);
  if (host === undefined || host !== text)
    throw malformed(`\`${pointer}\` must be a host in its canonical form`);
  return host;
}

function twinOf(twin: Resource, { parseUrl }: AskParts): Access {
  const parsed = accessOfResource(twin, parseUrl);
  if (!parsed.ok) throw malformed("`/twin` must be a normalized resource");
  return parsed.value;
}

function contextOf(text: string): { readonly value: unknown } {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    throw malformed("`/resume_context` must be JSON as text");
  }
}
