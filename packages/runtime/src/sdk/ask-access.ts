/**
 * One question on its way to the policy: read, normalized at the edge, asked as the caller of now. What a question
 * says about identity is nothing; the caller comes from the ground.
 */
import type { Access, Ask, ExternalAccessCheck, Fault, RequestedForm } from "@sallyport/contract";
import { type RawQuestion, normalizeAccess } from "@sallyport/gate";
import type { ReadInput } from "./access-input.ts";
import type { SdkGround } from "./sdk-ground.ts";
import { twinOf } from "./twin-access.ts";

export interface Normalized extends Pick<Ask, "access" | "address" | "aliases" | "twin"> {
  readonly access: Access | Fault;
}

export function normalized({ targets }: SdkGround, question: RawQuestion | Fault): Normalized {
  if ("code" in question) return { access: question };
  const { parseUrl, realPath, names, nowMs, cwd } = targets;
  const ports = { parseUrl, realPath, names, nowMs: nowMs(), cwd: cwd() };
  const { access, address, aliases } = normalizeAccess(question, ports);
  return { access, address, aliases, twin: twinOf(access, targets) };
}

export function askOf(ground: SdkGround, read: ReadInput): Ask {
  const { requested, named, registerRequest, wait } = read;
  return {
    ...normalized(ground, read.question),
    requested,
    named,
    registerRequest,
    wait,
    attestedBy: "service",
    enforced: false,
  };
}

export interface EnforcedOptions {
  readonly requested: RequestedForm;
  readonly exists?: boolean | undefined;
  readonly address?: Ask["address"];
  /** Only looks: spends nothing and leaves no request. */
  readonly passive?: boolean | undefined;
}

/** For what the SDK itself is about to do with an access that it normalized. */
export function askEnforced(
  ground: SdkGround,
  what: Normalized,
  { requested, exists, address, passive = false }: EnforcedOptions,
): Promise<ExternalAccessCheck> {
  return ground.policy.check(ground.caller(), {
    ...what,
    ...(address === undefined ? {} : { address }),
    requested,
    exists,
    attestedBy: passive ? "service" : "guard",
    enforced: !passive,
    ...(passive ? { registerRequest: false } : {}),
  });
}
