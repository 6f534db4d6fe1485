/**
 * One question on its way to the policy: read, normalized at the edge, asked as the caller of now. What a question
 * says about identity is nothing; the caller comes from the ground.
 */
import type { Access, Ask, ExternalAccessCheck, Fault, RequestedForm } from "@sallyport/contract";
import { type RawQuestion, normalizeAccess } from "@sallyport/gate/targets";
import { ownField } from "../registry/host-input.ts";
import type { ReadInput } from "./access-input.ts";
import type { SdkGround } from "./sdk-ground.ts";
import { twinOf } from "./twin-access.ts";

export interface Normalized extends Pick<Ask, "access" | "address" | "aliases" | "twin"> {
  readonly access: Access | Fault;
}

export function normalized({ targets }: SdkGround, question: RawQuestion | Fault): Normalized {
  if (isFault(question)) return { access: question, address: undefined, aliases: undefined, twin: undefined };
  const { parseUrl, realPath, names, nowMs, cwd } = targets;
  const ports = { parseUrl, realPath, names, nowMs: nowMs(), cwd: cwd() };
  const found = normalizeAccess(question, ports);
  const { access } = found;
  // INVARIANT: every extra is an own field, `undefined` included: a polluted prototype stands for none of them.
  const [address, aliases] = [ownField(found, "address"), ownField(found, "aliases")];
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

/** WHY: own, since every object could inherit a code. */
function isFault(value: object): value is Fault {
  return Object.hasOwn(value, "code");
}

export interface EnforcedOptions {
  readonly requested: RequestedForm;
  readonly exists?: boolean | undefined;
  /** Only looks: spends nothing and leaves no request. */
  readonly passive?: boolean | undefined;
}

/** For what the SDK itself is about to do with an access that it normalized. */
export function askEnforced(
  ground: SdkGround,
  what: Normalized,
  options: EnforcedOptions,
): Promise<ExternalAccessCheck> {
  const isPassive = ownField(options, "passive") === true;
  return ground.policy.check(ground.caller(), {
    access: what.access,
    address: ownField(what, "address"),
    aliases: ownField(what, "aliases"),
    twin: ownField(what, "twin"),
    named: undefined,
    wait: undefined,
    requested: options.requested,
    exists: ownField(options, "exists"),
    attestedBy: isPassive ? "service" : "guard",
    enforced: !isPassive,
    registerRequest: isPassive ? false : undefined,
  });
}
