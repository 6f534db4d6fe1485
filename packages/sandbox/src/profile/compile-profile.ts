/**
 * The profile compiler: the rules of a subject into what the kernel is told. Pure: what it knows of the machine is an
 * argument. A rule that cannot be enforced here is a fault, never a weaker wall.
 */
import type { ExpandedRule, SandboxEnforcer } from "@sallyport/contract";
import type { TrapSet } from "../trap-set.ts";
import type {
  Compiled,
  Confinement,
  Grant,
  PathRight,
  ProfileFault,
  ProfileFaultCode,
} from "./confinement.ts";
import {
  DEVICE_CONTROL,
  type FileOperation,
  LANDLOCK_VERSION_MIN,
  OPERATION_RIGHTS,
  REFER,
  START_RIGHT,
  TRUNCATE,
  handledRights,
  handledScopes,
} from "./landlock-right.ts";
import { type Cover, type Covered, coverRules, isWithin } from "./covered-path.ts";
import { loopbackPorts } from "./loopback-port.ts";
import { DEVICE_OPERATIONS, SYSTEM_DEVICES } from "./system-place.ts";

export interface MachineWall {
  /** 0: there is none. */
  readonly landlockVersion: number;
  readonly hasNamespaces: boolean;
  readonly hasNotification: boolean;
  /** Connections can be caught for a gateway. */
  readonly hasCapture: boolean;
}

export interface ProfileInput {
  /** By real paths, as a manifest is registered with. */
  readonly allow: readonly ExpandedRule[];
  /** Deny and ask rules, denials and built-in denies: no grant may cover them. */
  readonly withheld: readonly ExpandedRule[];
  readonly trapSet: TrapSet;
  readonly wall: MachineWall;
  /** Read without a question, by real paths: what the loader needs; a trailing slash means all below. */
  readonly systemReads: readonly string[];
  /** Real paths of the programs that have this name. */
  readonly programPaths: (name: string) => readonly string[];
  readonly kindOf: (path: string) => "directory" | "file" | "missing";
  /** Absent: there is no network. */
  readonly network?: Confinement["network"] | undefined;
  /** Places that are hidden, unless a rule reaches into them. */
  readonly secretPlaces: readonly string[];
  /** Places that are hidden whatever the rules say: Sallyport's own. */
  readonly ownPlaces: readonly string[];
}

/** Never enforced by any wall of this kind, and always said. */
const NEVER_ENFORCED = ["stat", "interpreter_choice"] as const;
const NOT_ASKED = ["read_not_asked", "write_not_asked", "execute_not_asked"] as const;
const ENFORCED_BY: readonly SandboxEnforcer[] = ["landlock", "seccomp", "namespaces"];
const ENFORCED_WITH_GATEWAY: readonly SandboxEnforcer[] = [...ENFORCED_BY, "gateway"];
const WRITING: readonly FileOperation[] = ["create", "modify", "delete"];

export function compileProfile(input: ProfileInput): Compiled {
  const faults = [...wallFaults(input.wall), ...networkFaults(input)];
  const covered = coverRules(allowed(input), input.withheld, input.programPaths);
  faults.push(...covered.faults.map((message) => profileFault("bad_rule", message)));
  faults.push(...covered.blind.map(blindFault), ...untrappedFaults(covered, input));
  if (faults.length > 0) return Object.freeze({ ok: false, faults: Object.freeze(faults) });
  const grants = [
    ...covered.grants.map((grant) => grantOf(grant, input)),
    ...SYSTEM_DEVICES.map(deviceGrant),
  ];
  const masks = maskedPlaces(input, covered.grants);
  const writable = grants.filter((grant) => isWritable(grant, input));
  const isModified = writable.every(({ landlocked }) => landlocked.includes("modify"));
  const withReads = isModified && input.trapSet !== "none" ? TRUNCATE : 0n;
  return Object.freeze({
    ok: true,
    confinement: Object.freeze({
      trapSet: input.trapSet,
      grants: Object.freeze(grants),
      rights: Object.freeze(grants.flatMap((grant) => rightsOf(grant, withReads, input))),
      handledRights: handledRights(input.wall.landlockVersion),
      scopes: handledScopes(input.wall.landlockVersion),
      writable: Object.freeze(writable.map(({ path }) => path)),
      masks: Object.freeze(masks),
      network: input.network ?? "none",
      forwardedPorts: Object.freeze(input.network === "gateway" ? loopbackPorts(input.allow).ports : []),
      enforcedBy: input.network === "gateway" ? ENFORCED_WITH_GATEWAY : ENFORCED_BY,
      notEnforced: Object.freeze(notEnforced(input.trapSet, grants)),
    }),
  });
}

function notEnforced(trapSet: TrapSet, grants: readonly Grant[]): readonly string[] {
  const isReadable = (path: string): boolean =>
    grants.some(
      (grant) => grant.reach === "tree" && grant.landlocked.includes("read") && isWithin(path, grant.path),
    );
  const hasBlindStart = grants.some(
    ({ path, landlocked }) => landlocked.includes("execute") && !isReadable(path),
  );
  const implied = hasBlindStart ? ["execute_implies_read"] : [];
  switch (trapSet) {
    case "all":
      return [...NEVER_ENFORCED, "execute_race", ...implied];
    case "writes":
      return [...NEVER_ENFORCED, "execute_race", "read_not_asked", ...implied];
    case "none":
      return [...NEVER_ENFORCED, ...NOT_ASKED, "destructive_not_recorded", ...implied];
  }
}

function wallFaults({
  landlockVersion,
  hasNamespaces,
  hasNotification,
}: MachineWall): readonly ProfileFault[] {
  const faults: ProfileFault[] = [];
  if (landlockVersion === 0)
    faults.push(profileFault("no_landlock", "the kernel has no Landlock: start it with `lsm=landlock,…`"));
  else if (landlockVersion < LANDLOCK_VERSION_MIN) {
    const message = `Landlock is version ${landlockVersion}, at least ${LANDLOCK_VERSION_MIN} is needed: use Linux 6.2 or newer`;
    faults.push(profileFault("landlock_too_old", message));
  }
  if (!hasNamespaces)
    faults.push(profileFault("no_namespaces", "user namespaces cannot be made: see `sallyport doctor`"));
  if (!hasNotification)
    faults.push(profileFault("no_notification", "seccomp cannot notify: use Linux 5.19 or newer"));
  return faults;
}

/** INVARIANT: without a gateway nothing is let out, and nobody is told otherwise. */
function networkFaults({ allow, network, wall }: ProfileInput): readonly ProfileFault[] {
  const rules = allow.filter(({ resourceType }) => resourceType === "network");
  if (network !== "gateway")
    return rules.map(({ operation, target }) =>
      profileFault(
        "network_without_gateway",
        `network ${operation} of \`${target}\` needs the egress gateway, which this profile has not: open the sandbox with it, or remove the rule`,
      ),
    );
  const { faults, anyPort } = loopbackPorts(rules);
  if (!wall.hasCapture && wall.hasNamespaces) {
    const message =
      "connections cannot be caught for a gateway on this machine: see `sallyport doctor`, or run without network";
    return [profileFault("network_without_gateway", message)];
  }
  return [
    ...faults.map((message) => profileFault("bad_rule", message)),
    ...anyPort.map((target) =>
      profileFault(
        "loopback_without_port",
        `\`${target}\` names no port, and the program has a loopback of its own: write \`${target}:PORT\``,
      ),
    ),
  ];
}

function allowed({ allow, systemReads }: ProfileInput): readonly ExpandedRule[] {
  const reads = systemReads.map(
    (target) => ({ resourceType: "filesystem", operation: "read", target }) as const,
  );
  return [...allow.filter(({ resourceType }) => resourceType !== "network"), ...reads];
}

/** INVARIANT: no right that is given for a start lets Landlock pass a read that is withheld. */
function blindFault({ path }: Covered): ProfileFault {
  const message = `execute of \`${path}\` would let Landlock pass a read that is withheld there: withhold execute too, or narrow either rule`;
  return profileFault("execute_without_read", message);
}

/** What only the supervisor can hold, of operations that do not stop at it. */
function untrappedFaults(
  { grants, excepted }: Cover,
  { kindOf, trapSet, systemReads }: ProfileInput,
): readonly ProfileFault[] {
  const faults = excepted
    .filter(({ operation }) => !isTrapped(trapSet, operation))
    .map(({ path, operation }) =>
      profileFault(
        "exception_without_traps",
        `${operation} of \`${path}\` is allowed but for a part of it, which Landlock cannot express: use trap set \`all\``,
      ),
    );
  const system = new Set(systemReads.map((path) => (path.endsWith("/") ? path.slice(0, -1) : path)));
  for (const { path, reach, operations } of grants) {
    const untrapped = operations.filter((operation) => !isTrapped(trapSet, operation));
    const changes = untrapped.filter((operation) => WRITING.includes(operation));
    if (reach === "tree" && changes.length > 0 && !changes.includes("modify")) {
      const message = `\`${path}\` allows ${changes.join(" and ")} without modify, which Landlock cannot express: use trap set \`writes\` or \`all\``;
      faults.push(profileFault("create_without_modify", message));
    }
    if (untrapped.length === 0 || system.has(path)) continue;
    const kind = kindOf(path);
    const isFile = kind === "file" && !untrapped.includes("create") && !untrapped.includes("delete");
    if (reach === "exact" && !isFile) {
      const message = `\`${path}\` is a rule for one path that Landlock cannot express: use trap set \`all\`, or a rule that ends in \`/\``;
      faults.push(profileFault("single_path_without_traps", message));
    } else if (reach === "tree" && kind !== "directory") {
      const message = `\`${path}/\` is not there, and Landlock cannot name it before it is: make the folder, or use trap set \`all\``;
      faults.push(profileFault("missing_without_traps", message));
    }
  }
  return faults;
}

/** Whether an operation stops at the supervisor. */
function isTrapped(trapSet: TrapSet, operation: FileOperation): boolean {
  return trapSet === "all" || (trapSet === "writes" && operation !== "read");
}

/**
 * WHY no exact path is landlocked while calls are trapped: a rule of Landlock follows the file, not its name, and is
 * lost when the file is replaced.
 */
function grantOf({ path, reach, operations }: Covered, { kindOf, trapSet }: ProfileInput): Grant {
  const kind = kindOf(path);
  const isHeld = reach === "tree" ? kind === "directory" : kind === "file";
  const held = operations.filter(
    (operation) => reach === "tree" || operation === "execute" || !isTrapped(trapSet, operation),
  );
  return Object.freeze({ path, reach, operations, landlocked: Object.freeze(isHeld ? held : []) });
}

function deviceGrant(path: string): Grant {
  return Object.freeze({
    path,
    reach: "exact",
    operations: DEVICE_OPERATIONS,
    landlocked: DEVICE_OPERATIONS,
  });
}

/**
 * @param withReads what goes along with every right to read. WHY the right to truncate may: an open ends its walk where it finds
 * that right, and goes on up to the root where it does not. INVARIANT: it is given so only where all that the view holds
 * writable may be modified: elsewhere the view is read-only, and nothing can be truncated whatever Landlock says. A file that
 * came as a descriptor lies outside of the view: there only the traps hold, so that without them no read has it.
 */
function rightsOf(grant: Grant, withReads: bigint, { trapSet, wall }: ProfileInput): readonly PathRight[] {
  const { path, reach, landlocked } = grant;
  if (landlocked.length === 0) return [];
  let rights = landlocked.reduce((sum, operation) => sum | OPERATION_RIGHTS[operation], 0n);
  // WHY: a start cannot be done on behalf, so while it is trapped Landlock lets start whatever may be read.
  if (trapSet !== "none" && reach === "tree" && landlocked.includes("read")) rights |= START_RIGHT;
  if (trapSet === "none" && landlocked.includes("create") && landlocked.includes("delete")) rights |= REFER;
  if (SYSTEM_DEVICES.includes(path)) rights |= DEVICE_CONTROL & handledRights(wall.landlockVersion);
  if (landlocked.includes("read")) rights |= withReads;
  return [Object.freeze({ path, rights })];
}

function isWritable({ reach, landlocked, path }: Grant, { trapSet }: ProfileInput): boolean {
  if (SYSTEM_DEVICES.includes(path)) return false;
  if (reach === "exact") return trapSet === "none" && landlocked.includes("modify");
  return landlocked.some((operation) => WRITING.includes(operation));
}

function maskedPlaces(
  { secretPlaces, ownPlaces }: ProfileInput,
  grants: readonly Covered[],
): readonly string[] {
  const isUsed = (place: string): boolean =>
    grants.some(({ path }) => isWithin(path, place) || (isWithin(place, path) && path !== "/"));
  return [...secretPlaces.filter((place) => !isUsed(place)), ...ownPlaces];
}

function profileFault(code: ProfileFaultCode, message: string): ProfileFault {
  return Object.freeze({ code, message });
}
