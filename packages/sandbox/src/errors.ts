/**
 * What goes wrong with a sandbox itself. The message says what to do; `step` is what failed, for `doctor`.
 */
export const SANDBOX_ERRORS = ["sandbox_unavailable", "sandbox_profile", "sandbox_failed"] as const;
export type SandboxErrorCode = (typeof SANDBOX_ERRORS)[number];

export class SandboxError extends Error {
  override readonly name = "SandboxError";
  readonly code: SandboxErrorCode;
  readonly step: string | undefined;

  constructor(code: SandboxErrorCode, message: string, step?: string) {
    super(message);
    this.code = code;
    this.step = step;
  }
}
