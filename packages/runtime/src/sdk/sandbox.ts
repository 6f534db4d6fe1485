/**
 * `sdk.sandbox`: the boundary that really stands around the code of now. Never says "sandboxed" without it.
 */
import type { SandboxProfile } from "@sallyport/contract";
import type { SdkGround } from "./sdk-ground.ts";

export interface SdkSandbox {
  /** `null`: nothing stands at the wall. */
  profile(): SandboxProfile | null;
}

export function sdkSandbox(ground: SdkGround): SdkSandbox {
  return Object.freeze<SdkSandbox>({ profile: () => ground.profile() });
}
