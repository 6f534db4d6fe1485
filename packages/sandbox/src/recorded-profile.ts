/**
 * The sandbox profile as it is recorded: what really stands around a program, and what does not. Made from the
 * confinement that the launcher was given, never from what was asked for.
 */
import type { SandboxProfile } from "@sallyport/contract";
import { unheldLimits } from "./control-group.ts";
import type { ProcessLimits } from "./launch-description.ts";
import type { Confinement, Grant } from "./profile/confinement.ts";
import type { FileOperation } from "./profile/landlock-right.ts";

const WRITING: readonly FileOperation[] = ["create", "modify", "delete"];

export interface ProfileTerms {
  readonly cwd: string;
  readonly limits: ProcessLimits;
  readonly hasTerminal: boolean;
}

export function recordedProfile(
  { grants, network, forwardedPorts, enforcedBy, notEnforced }: Confinement,
  { cwd, limits, hasTerminal }: ProfileTerms,
): SandboxProfile {
  const roots = (operations: readonly FileOperation[]): string[] =>
    grants.filter((grant) => hasAny(grant, operations)).map(({ path }) => path);
  return Object.freeze<SandboxProfile>({
    mode: "os",
    platform: `${process.platform}-${process.arch}`,
    cwd,
    readRoots: roots(["read"]),
    writeRoots: roots(WRITING),
    network: { access: network, forwardedPorts: [...forwardedPorts] },
    environmentRef: null,
    processLimits: {
      processesMax: limits.processesMax ?? null,
      openFilesMax: limits.openFilesMax ?? null,
      memoryBytesMax: limits.memoryBytesMax ?? null,
      cpuSecondsMax: limits.cpuSecondsMax ?? null,
    },
    violationRefs: [],
    enforcedBy: [...enforcedBy],
    notEnforced: [...notEnforced, ...unheldLimits(limits, hasTerminal)],
  });
}

function hasAny({ operations }: Grant, wanted: readonly FileOperation[]): boolean {
  return operations.some((operation) => wanted.includes(operation));
}
