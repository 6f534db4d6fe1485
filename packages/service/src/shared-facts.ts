/**
 * What every event of an action says beside the action itself: what it stood under and what stood around it. Most
 * events of a node say the same, so that it is put into wire form once for each value that cannot change.
 */
import {
  type PermissionState,
  type SandboxProfile,
  permissionStateWire,
  sandboxProfileWire,
} from "@sallyport/contract";
import { lastingWire } from "./lasting-wire.ts";

export interface ActionFacts {
  readonly permissionState: PermissionState;
  readonly sandboxProfile: SandboxProfile;
}

const NONE = Object.freeze([]);
export const NO_SANDBOX: SandboxProfile = Object.freeze<SandboxProfile>({
  mode: "none",
  platform: process.platform,
  cwd: "/",
  readRoots: NONE,
  writeRoots: NONE,
  network: Object.freeze({ access: "open", forwardedPorts: NONE }),
  environmentRef: null,
  processLimits: Object.freeze({
    processesMax: null,
    openFilesMax: null,
    memoryBytesMax: null,
    cpuSecondsMax: null,
  }),
  violationRefs: NONE,
  enforcedBy: NONE,
  notEnforced: NONE,
});

const stateWire = lastingWire(permissionStateWire.format);
const profileWire = lastingWire(sandboxProfileWire.format);

export function sharedWire({ permissionState, sandboxProfile }: ActionFacts) {
  return { permission_state: stateWire(permissionState), sandbox_profile: profileWire(sandboxProfile) };
}
