/**
 * What the facade stands on: who calls now, who answers, and how a target is read. The host's runtime gives one over
 * its context keeper, a child one over its socket. Trusted whole; never handed to guarded code.
 */
import type {
  AccessAsking,
  AccessDeciding,
  ByAccess,
  ByRequest,
  CallerContext,
  Decision,
  RealPathPort,
  SandboxProfile,
  SessionApprovalWords,
  Subject,
  UrlParser,
} from "@sallyport/contract";
import type { ContextFacts } from "@sallyport/context";
import type { NameCache, Resolver } from "@sallyport/gate/targets";

/** How targets are read and reached. */
export interface TargetPorts {
  readonly parseUrl: UrlParser;
  readonly realPath: RealPathPort;
  readonly resolver: Resolver;
  readonly names: NameCache;
  readonly nowMs: () => number;
  /** Authorities that are trusted beside those of Node, as PEM. */
  readonly ca: readonly string[] | undefined;
  /** Absolute folder that relative paths start from: that of the subject, else of the process. */
  readonly cwd: () => string;
}

export type DecisionVerb = keyof AccessDeciding;

export interface DecisionAim {
  readonly by: ByRequest | ByAccess;
  readonly words: SessionApprovalWords;
}

export interface SdkGround {
  readonly policy: AccessAsking;
  /** The guard of this process decides what Node does: the SDK leaves what it does to it. */
  readonly isGuarded: boolean;
  readonly targets: TargetPorts;
  /** The caller of now; without frames where nobody acts. */
  caller(): CallerContext;
  facts(): ContextFacts | undefined;
  profile(): SandboxProfile | null;
  /** Throws `PermissionError` for guarded code, whatever it asks about. */
  decide(verb: DecisionVerb, aim: () => DecisionAim | Extract<Decision, { ok: false }>): Promise<Decision>;
  /** Runs `fn` as a subject that guarded code makes up; bounded by the frames around it. */
  enterMadeUp<R>(subject: Subject, fn: () => R): R;
  registerAction(action: HostAction): void;
}

/** A resume action as the host's service takes it. */
export interface HostAction {
  readonly name: string;
  /** `undefined`: the module whose code runs now. */
  readonly module: string | undefined;
  readonly openTo: readonly Subject[];
  readonly handler: (
    context: unknown,
    run: { readonly idempotencyKey: string; readonly signal: AbortSignal },
  ) => Promise<void>;
}
