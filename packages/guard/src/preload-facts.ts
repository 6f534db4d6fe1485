/**
 * What the host says to the preload: which descriptor is the gate, where code is, how long a call may wait. It stands in
 * the environment because the host made the environment; it says nothing about who this process is, and is taken away
 * before the program runs.
 */
export const GATE_FD_VARIABLE = "SALLYPORT_GATE_FD";
export const GUARD_VARIABLE = "SALLYPORT_GUARD";

export interface GuardFacts {
  /** Absolute folders of the subject's own code and of the host's, from which code is loaded without a question. */
  readonly codeRoots: readonly string[];
  /** How long an asynchronous call waits for a person. */
  readonly waitMs: number;
  /** The kernel holds the same rules around this process. */
  readonly confined: boolean;
}

export const WAIT_MS = 600_000;

/** @throws TypeError where the text is not what a host writes */
export function readFacts(text: string | undefined): GuardFacts {
  const value: unknown = text === undefined ? {} : JSON.parse(text);
  const {
    code_roots: codeRoots = [],
    wait_ms: waitMs = WAIT_MS,
    confined = false,
  } = value as Record<string, unknown>;
  if (
    !Array.isArray(codeRoots) ||
    !codeRoots.every((root) => typeof root === "string" && root.startsWith("/"))
  )
    throw new TypeError(`\`${GUARD_VARIABLE}\` needs \`code_roots\`, a list of absolute folders`);
  if (typeof waitMs !== "number" || !(waitMs >= 0))
    throw new TypeError(`\`${GUARD_VARIABLE}\` needs \`wait_ms\`, a number of milliseconds`);
  return { codeRoots: codeRoots as string[], waitMs, confined: confined === true };
}

export function factsText({ codeRoots, waitMs, confined }: GuardFacts): string {
  return JSON.stringify({ code_roots: codeRoots, wait_ms: waitMs, confined });
}
