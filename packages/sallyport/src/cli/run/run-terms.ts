/** What a run was asked for, read once from the command line. */
import type { SandboxProfile, Subject } from "@sallyport/contract";
import type { ProcessLimits, TrapSet } from "@sallyport/sandbox";
import type { CommandLine } from "../command-line.ts";
import type { RunWords } from "../run-door.ts";
import type { ProgramForm } from "./program-form.ts";

/** Who the program is. */
export interface RunIdentity {
  readonly subject: Subject;
  readonly sessionKey: string;
}

export interface RunTerms {
  readonly cli: CommandLine;
  readonly dataFolder: string;
  readonly socketPath: string;
  readonly words: RunWords;
  readonly program: ProgramForm;
  /** Says who the program is; once, before it starts. */
  readonly announce: (who: RunIdentity) => void;
  readonly trapSet: TrapSet;
  readonly limits: ProcessLimits;
  readonly wallMs: number;
  /** How long a call waits for a person. */
  readonly waitMs: number;
  /** Preloads the guard where Node runs the program. */
  readonly isGuarded: boolean;
  /** Node's own permission model as a second wall, where Node runs the program. */
  readonly hasNodePermission?: boolean | undefined;
  /** Folders of the program's own code, by real path: read without a question. */
  readonly codeRoots: readonly string[];
  /** Variables that are handed on beside the few that always are. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the program's own output goes; to that of this command unless said. */
  readonly output?: "stderr" | undefined;
}

const STOPPED_BY_SIGNAL = 128;

/** As a shell would say it. */
export function exitCodeOf(code: number | null, signalNumber: number | undefined): number {
  return signalNumber === undefined ? (code ?? 1) : STOPPED_BY_SIGNAL + signalNumber;
}

/** Where there is no wall: what stands around the program, and that nothing else does. */
export function profileWithoutWall(cwd: string, isGuarded: boolean): SandboxProfile {
  return Object.freeze<SandboxProfile>({
    mode: isGuarded ? "guard" : "none",
    platform: `${process.platform}-${process.arch}`,
    cwd,
    readRoots: [],
    writeRoots: [],
    network: { access: "open", forwardedPorts: [] },
    environmentRef: null,
    processLimits: { processesMax: null, openFilesMax: null, memoryBytesMax: null, cpuSecondsMax: null },
    violationRefs: [],
    enforcedBy: isGuarded ? ["guard"] : [],
    notEnforced: isGuarded ? ["kernel_wall"] : ["kernel_wall", "guard"],
  });
}
