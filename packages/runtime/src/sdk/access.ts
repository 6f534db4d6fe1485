/**
 * `sdk.access`: asking for access, and deciding. Holds no authority: who asks and who decides is the context of now.
 * Blocked is a value; only `orThrow` throws. Deciding throws `PermissionError` for guarded code, whatever it says.
 */
import {
  type AccessConstructors,
  type CallerContext,
  type Decision,
  type Fault,
  type WaitAnswer,
  fault,
  filesystem,
  network,
  systemDependency,
} from "@sallyport/contract";
import { CHECK_WORDS, REQUIRE_WORDS, readAskInput } from "./access-input.ts";
import { type AccessResult, accessResult } from "./access-result.ts";
import { askOf } from "./ask-access.ts";
import {
  type ApprovalOptions,
  type BuiltDecision,
  type DecisionInput,
  type DecisionOptions,
  type SessionOptions,
  readDecision,
} from "./decision-input.ts";
import type { DecisionBook } from "./decision-book.ts";
import {
  type BuiltAccess,
  type CheckInput,
  type CheckOptions,
  EXTERNAL_RESOURCE_FILESYSTEM,
  EXTERNAL_RESOURCE_NETWORK,
  EXTERNAL_RESOURCE_SYSTEM_DEPENDENCY,
  type RequireInput,
  type RequireOptions,
  type WaitInput,
} from "./plain-access.ts";
import type { DecisionVerb, SdkGround } from "./sdk-ground.ts";

type Deciding<O> = (...words: [input: DecisionInput<O>] | BuiltDecision<O>) => Promise<Decision>;

export interface SdkAccess {
  readonly EXTERNAL_RESOURCE_NETWORK: typeof EXTERNAL_RESOURCE_NETWORK;
  readonly EXTERNAL_RESOURCE_FILESYSTEM: typeof EXTERNAL_RESOURCE_FILESYSTEM;
  readonly EXTERNAL_RESOURCE_SYSTEM_DEPENDENCY: typeof EXTERNAL_RESOURCE_SYSTEM_DEPENDENCY;
  readonly network: AccessConstructors<"network">;
  readonly filesystem: AccessConstructors<"filesystem">;
  readonly systemDependency: AccessConstructors<"system_dependency">;
  /** Before a resource outside the declared boundary is used. */
  checkExternalAccess(input: CheckInput | BuiltAccess, options?: CheckOptions): Promise<AccessResult>;
  /** The check, with what shall go on after an approval. */
  requireExternalAccess(input: RequireInput | BuiltAccess, options?: RequireOptions): Promise<AccessResult>;
  /** Resolves when a person has decided the request, or the time is over. */
  waitForDecision(request: string | Pick<AccessResult, "requestId">, wait: WaitInput): Promise<WaitAnswer>;
  readonly approveForSession: Deciding<SessionOptions>;
  readonly approvePermanently: Deciding<ApprovalOptions>;
  readonly denyExternalAccess: Deciding<DecisionOptions>;
}

/** INVARIANT: a subject that guarded code made up cannot lend it the actions of that subject's module. */
function madeUpFault({ frames }: CallerContext, resumeAction: string | undefined): Fault | undefined {
  if (resumeAction === undefined || frames.at(-1)?.entry !== "guarded") return undefined;
  return fault(
    "invalid_operation",
    "resume_action",
    "a resume action is named by a subject that the host entered: ask outside of `sdk.run`",
  );
}

export function sdkAccess(ground: SdkGround, book: DecisionBook): SdkAccess {
  const { policy } = ground;
  const deciding = <O>(verb: DecisionVerb): Deciding<O> => {
    return (input, options?: unknown) =>
      ground.decide(verb, () => readDecision(ground, verb, input, options));
  };
  return Object.freeze<SdkAccess>({
    EXTERNAL_RESOURCE_NETWORK,
    EXTERNAL_RESOURCE_FILESYSTEM,
    EXTERNAL_RESOURCE_SYSTEM_DEPENDENCY,
    network,
    filesystem,
    systemDependency,
    checkExternalAccess: async (input, options) => {
      const caller = ground.caller();
      const ask = askOf(ground, readAskInput(input, options, CHECK_WORDS));
      return accessResult(book.keep(caller, await policy.check(caller, ask)));
    },
    requireExternalAccess: async (input, options) => {
      const caller = ground.caller();
      const read = readAskInput(input, options, REQUIRE_WORDS);
      const { resumeAction, resumeContext } = read;
      const question = madeUpFault(caller, resumeAction) ?? read.question;
      const ask = { ...askOf(ground, { ...read, question }), resumeAction, resumeContext };
      return accessResult(book.keep(caller, await policy.require(caller, ask)));
    },
    waitForDecision: (request, { timeoutMs, signal }) => {
      const requestId = typeof request === "string" ? request : (request.requestId ?? "");
      return policy.wait(ground.caller(), requestId, { timeoutMs, signal });
    },
    approveForSession: deciding("approveForSession"),
    approvePermanently: deciding("approvePermanently"),
    denyExternalAccess: deciding("deny"),
  });
}
