/**
 * A child's words as an ask of the service. Everything is parsed again; who asks is the caller of the socket.
 * Trusts the caller that the host bound at spawn, and nothing in the words.
 */
import type { AskMessage, AskWords } from "@sallyport/gate";
import {
  type Access,
  type Fault,
  type Host,
  type PermissionMode,
  type Subject,
  type UrlParser,
  fault,
  isIpLiteral,
  parseAccess,
  parseHost,
  parseSubject,
} from "@sallyport/contract";
import type { Frame } from "@sallyport/policy";
import type { Ask, CallerContext } from "../caller-context.ts";
import type { RequireAsk } from "../require.ts";

/** `guard`: code inside of the child. `sandbox`: a broker outside of it, for the kernel and for the gateway. */
export type Enforcer = "guard" | "sandbox";

export interface ChildAsk {
  readonly caller: CallerContext;
  readonly ask: Ask;
}

export function childAsk(
  caller: CallerContext,
  words: AskWords,
  parseUrl: UrlParser,
  { enforcer, ...rest }: Pick<Ask, "registerRequest" | "wait"> & { readonly enforcer: Enforcer },
): ChildAsk {
  const { resourceType: type, operation, target, exists, enforced } = words;
  const extras = extrasOf(words, parseUrl);
  const entered = enteredFrames(caller, words);
  const broken = faultOf(words) ?? ("code" in extras ? extras : "code" in entered ? entered : undefined);
  return {
    caller:
      broken === undefined ? { ...caller, frames: [...caller.frames, ...(entered as Frame[])] } : caller,
    ask: {
      access: broken ?? accessOf(words, parseUrl),
      requested: { type, operation, target: words.requested ?? target },
      attestedBy: enforcer === "guard" ? "guard" : type === "network" ? "gateway" : "kernel",
      enforced: enforced === true,
      exists: exists === true,
      ...(broken === undefined ? extras : {}),
      ...rest,
    },
  };
}

/**
 * INVARIANT: what reaches the broker of a sandbox lies outside of the confinement. Where undecided actions run confined,
 * this is the violation that becomes the request, and nothing runs by the mode.
 */
export function enforcedCaller(
  caller: CallerContext,
  enforcer: Enforcer,
  mode: PermissionMode,
): CallerContext {
  return enforcer === "sandbox" && mode === "on_failure" ? { ...caller, mode: "default" } : caller;
}

function faultOf({ fault: found }: AskWords): Fault | undefined {
  return found === undefined ? undefined : fault(found.code, found.field, found.message);
}

export function resumeOf({
  resumeAction,
  resumeContext,
}: AskMessage): Pick<RequireAsk, "resumeAction" | "resumeContext"> | Fault {
  if (resumeContext === undefined) return { resumeAction };
  try {
    return { resumeAction, resumeContext: JSON.parse(resumeContext) as unknown };
  } catch {
    return fault("invalid_operation", "resume_context", "a resume context must be JSON");
  }
}

function accessOf(words: AskWords, parseUrl: UrlParser): Access | Fault {
  const { resourceType, operation, target } = words;
  const parsed = parseAccess({ resourceType, operation, target }, parseUrl);
  return parsed.ok ? parsed.value : parsed;
}

type Extras = Pick<Ask, "address" | "aliases" | "twin" | "named">;

/** INVARIANT: an extra that cannot be read is a fault, never left out: what is left out could have been a deny. */
function extrasOf({ address, aliases, twin, named }: AskWords, parseUrl: UrlParser): Extras | Fault {
  const dialled = address === undefined ? undefined : parseHost(address, parseUrl);
  if (address !== undefined && (dialled === undefined || !isIpLiteral(dialled)))
    return fault("invalid_target", "address", "address to dial must be an IP address");
  const names = aliases?.map((alias) => parseHost(alias, parseUrl));
  if (names?.includes(undefined) === true)
    return fault("invalid_target", "aliases", "aliases must be host names");
  const who = named === undefined ? undefined : parseSubject(named.type, named.name);
  if (who?.ok === false) return fault("invalid_target", "named", who.message);
  const other = twin === undefined ? undefined : parseAccess(twin, parseUrl);
  return {
    address: dialled,
    aliases: names as readonly Host[] | undefined,
    // WHY: a twin that cannot be parsed names nothing that a rule could name, so there is none.
    twin: other?.ok === true ? other.value : undefined,
    named: who?.value,
  };
}

/** The caller of the socket with what the child made up on top of it. */
export function enteredCaller(caller: CallerContext, entered: AskWords["entered"]): CallerContext | Fault {
  const frames = enteredFrames(caller, { entered });
  return "code" in frames ? frames : { ...caller, frames: [...caller.frames, ...frames] };
}

/**
 * INVARIANT: whatever a child puts on top is made up, and bounded by the chain that the host entered. It may refer to
 * contracts of that chain only, so that it cannot borrow one of another subject.
 */
function enteredFrames(
  caller: CallerContext,
  { entered = [] }: { readonly entered?: AskWords["entered"] | undefined },
): readonly Frame[] | Fault {
  const known = new Set(caller.frames.flatMap((frame) => frame.contracts));
  const frames: Frame[] = [];
  for (const { subject, contracts } of entered) {
    const parsed = parseSubject(subject.type, subject.name);
    if (!parsed.ok) return fault("invalid_target", "entered", parsed.message);
    frames.push({
      subject: parsed.value satisfies Subject,
      phase: "runtime",
      entry: "guarded",
      contracts: contracts.filter((id) => known.has(id)),
    });
  }
  return frames;
}
