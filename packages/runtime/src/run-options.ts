/**
 * What the host says when it enters a subject. Own properties only; what is left out is taken from the context around,
 * else from what holds for the whole host, else it is nothing.
 */
import type { HostFacts } from "@sallyport/context";
import type { CallerUser, OperationOf, PermissionMode, Phase, SandboxProfile } from "@sallyport/contract";
import { ownField } from "./registry/host-input.ts";

export interface RunUser {
  /** Kept as given: `21` and `"21"` are two. */
  readonly id: number | string;
  readonly roles?: readonly string[] | undefined;
  readonly accessLevel?: string | null | undefined;
}

export interface ContextOptions {
  readonly user?: RunUser | null | undefined;
  /** Zero is an organization. */
  readonly organizationId?: number | string | null | undefined;
  readonly sessionKey?: string | null | undefined;
  readonly taskId?: string | null | undefined;
  /** A person can be asked now. */
  readonly interactive?: boolean | undefined;
  readonly mode?: PermissionMode | null | undefined;
  readonly modeExpiresAtMs?: number | null | undefined;
  /** Records only; deny rules and denials hold. */
  readonly observe?: boolean | undefined;
  readonly sandboxProfile?: SandboxProfile | null | undefined;
  /** The OS sandbox enforces everything that was asked of it. */
  readonly confined?: boolean | undefined;
}

export interface OneOffUrl {
  readonly url: string | URL;
  /** `receive` unless said. */
  readonly operation?: OperationOf<"network"> | undefined;
}

export interface RunOptions extends ContextOptions {
  /** `runtime` unless said. */
  readonly phase?: Phase | undefined;
  /** A URL that the subject may use for this one call. */
  readonly oneOff?: OneOffUrl | undefined;
}

/** Everything but the user, which is copied with what it leaves out. */
const PLAIN_FACTS = [
  "organizationId",
  "sessionKey",
  "taskId",
  "interactive",
  "mode",
  "modeExpiresAtMs",
  "observe",
  "confined",
  "sandboxProfile",
] as const satisfies readonly (keyof ContextOptions)[];

export function factsOf(options: ContextOptions): Partial<HostFacts> {
  const facts: Record<string, unknown> = {};
  for (const name of PLAIN_FACTS) {
    const value = ownField(options, name);
    if (value !== undefined) facts[name] = value;
  }
  const user = ownField(options, "user");
  if (user !== undefined) facts["user"] = user === null ? null : userOf(user);
  return facts;
}

function userOf(user: RunUser): CallerUser {
  return {
    id: user.id,
    roles: ownField(user, "roles") ?? [],
    accessLevel: ownField(user, "accessLevel") ?? null,
  };
}
