/**
 * The words in which guarded code asks. User, organization, session and "already allowed" are no words of it: they do
 * not compile, and what comes in untyped is refused by `access-input.ts`.
 */
import type { Access, OperationOf, Parsed, ResourceType, SubjectType, WaitSignal } from "@sallyport/contract";

export const EXTERNAL_RESOURCE_NETWORK = "network";
export const EXTERNAL_RESOURCE_FILESYSTEM = "filesystem";
export const EXTERNAL_RESOURCE_SYSTEM_DEPENDENCY = "system_dependency";

interface TargetInput {
  readonly network: string | URL;
  readonly filesystem: string | URL | Uint8Array;
  readonly system_dependency: string;
}

/** One member per resource type, so that an illegal pair does not compile. */
export type PlainAccess = {
  [R in ResourceType]: {
    readonly resourceType: R;
    readonly operation: OperationOf<R>;
    readonly target: TargetInput[R];
  };
}[ResourceType];

/** What `network.receive(…)` and its like give. */
export type BuiltAccess = Parsed<Access>;

declare const nobodyHasOne: unique symbol;
/** The names are what the compiler says: no value is of these types. */
interface ComesFromTheContext {
  readonly [nobodyHasOne]: "context";
}
interface DecidedByTheService {
  readonly [nobodyHasOne]: "service";
}

/** The host's own facts: never arguments of a check. */
interface HostWords {
  readonly user?: ComesFromTheContext;
  readonly userId?: ComesFromTheContext;
  readonly organizationId?: ComesFromTheContext;
  readonly sessionKey?: ComesFromTheContext;
  readonly allowed?: DecidedByTheService;
  readonly alreadyAllowed?: DecidedByTheService;
}

interface Named {
  /** A subject on the active chain; it only narrows. Both or none. */
  readonly subjectType?: SubjectType | undefined;
  readonly subjectName?: string | undefined;
}

export interface WaitInput {
  readonly timeoutMs: number;
  readonly signal?: WaitSignal | undefined;
}

export interface CheckOptions extends Named, HostWords {
  /** `false`: leaves no request. */
  readonly registerRequest?: boolean | undefined;
  /** How long to wait for a person, where one can be asked. */
  readonly wait?: WaitInput | undefined;
}

interface Resuming {
  readonly resumeAction: string;
  /** Plain JSON of at most 16 KiB: stable ids, no secrets. */
  readonly resumeContext?: unknown;
}

interface NotResuming {
  readonly resumeAction?: undefined;
  readonly resumeContext?: undefined;
}

interface RequireWords extends Named, HostWords {
  readonly registerRequest?: never;
  readonly wait?: WaitInput | undefined;
}

export type RequireOptions = RequireWords & (Resuming | NotResuming);

export type CheckInput = PlainAccess & CheckOptions;
export type RequireInput = PlainAccess & RequireOptions;
