/**
 * Who may decide. An authority is a proof: it can only come from here, and whoever decides, revokes, lists or changes
 * policy takes one. The user comes from the runtime context, never from arguments.
 * Trusts that the host gave the user; trusts nothing about the shape of it: inherited, computed or look-alike facts
 * count for nothing.
 */
import { PermissionError, type RuntimeUser } from "@sallyport/contract";
import type { PrincipalId } from "@sallyport/policy";

/** The names that carry authority; exact text. */
export interface AuthorityNames {
  readonly roles: readonly string[];
  readonly accessLevels: readonly string[];
}

export const DEFAULT_AUTHORITY_NAMES: AuthorityNames = Object.freeze({
  roles: Object.freeze(["super"]),
  accessLevels: Object.freeze(["super"]),
});

/** Where an authority comes from. */
export type AuthorityGround = "role" | "access_level";

const MINT = Symbol("mint");

export class Authority {
  readonly #isGenuine = true;
  readonly ok = true;
  readonly userId: PrincipalId;
  readonly ground: AuthorityGround;
  readonly name: string;

  /** Only `resolveAuthority` has what this takes. */
  constructor(mint: typeof MINT, userId: PrincipalId, ground: AuthorityGround, name: string) {
    if (mint !== MINT) throw new TypeError("an authority is resolved, never made");
    this.userId = userId;
    this.ground = ground;
    this.name = name;
    Object.freeze(this);
  }

  /** Whether a value is a proof and not something shaped like one. */
  static isGenuine(value: unknown): value is Authority {
    return typeof value === "object" && value !== null && #isGenuine in value && value.#isGenuine;
  }
}

export const PERMISSION_FAULTS = {
  no_user: "nobody is acting",
  organization_scope: "the acting user is scoped to an organization",
  no_super: "the acting user has neither a super role nor a super access level",
} as const;

export type PermissionFaultReason = keyof typeof PERMISSION_FAULTS;

export interface PermissionFault {
  readonly ok: false;
  readonly code: "permission_error";
  /** For the audit log; the caller is told only what the error says. */
  readonly reason: PermissionFaultReason;
  readonly userId: PrincipalId | null;
  /** The error for what was tried, for example `approve requests`. */
  readonly toError: (action: string) => PermissionError;
}

/**
 * INVARIANT: only `null` is no organization. Zero is one, an empty text is a broken one, and a missing value is a host
 * that did not say: neither gives authority.
 */
export function resolveAuthority(
  user: RuntimeUser | null | undefined,
  organizationId: PrincipalId | null,
  names: AuthorityNames = DEFAULT_AUTHORITY_NAMES,
): Authority | PermissionFault {
  try {
    const userId = userIdOf(user);
    if (userId === undefined) return fault("no_user", null);
    if (organizationId !== null) return fault("organization_scope", userId);
    const role = firstNamed(ownValue(user, "roles"), names.roles);
    if (role !== undefined) return new Authority(MINT, userId, "role", role);
    const level = ownValue(user, "accessLevel");
    if (isNamed(level, names.accessLevels)) return new Authority(MINT, userId, "access_level", level);
    return fault("no_super", userId);
  } catch {
    return fault("no_user", null);
  }
}

function userIdOf(user: unknown): PrincipalId | undefined {
  const id = ownValue(user, "id");
  if (typeof id === "string") return id === "" ? undefined : id;
  return typeof id === "number" && Number.isSafeInteger(id) ? id : undefined;
}

function firstNamed(roles: unknown, names: readonly string[]): string | undefined {
  if (!Array.isArray(roles)) return undefined;
  for (let index = 0; index < roles.length; index++) {
    const role = ownValue(roles, String(index));
    if (isNamed(role, names)) return role;
  }
  return undefined;
}

function isNamed(value: unknown, names: readonly string[]): value is string {
  return typeof value === "string" && value !== "" && names.includes(value);
}

/** The value of an own property that holds one; getters and inherited properties hold none. */
function ownValue(object: unknown, property: string): unknown {
  if (typeof object !== "object" || object === null) return undefined;
  const descriptor = Object.getOwnPropertyDescriptor(object, property);
  return descriptor !== undefined && "value" in descriptor ? descriptor.value : undefined;
}

function fault(reason: PermissionFaultReason, userId: PrincipalId | null): PermissionFault {
  return Object.freeze({
    ok: false,
    code: "permission_error",
    reason,
    userId,
    toError: (action: string) => new PermissionError(action),
  });
}
