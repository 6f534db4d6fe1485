/**
 * Collects what is wrong with a manifest, every fault and every warning, in a bounded list.
 */
import { type PointerPath, pointerTo } from "../wire/json-pointer.ts";
import { FAULTS_MAX } from "../wire/json-value.ts";
import type { ManifestFault, ManifestWarning, WarningCode } from "./manifest.ts";

export interface ManifestReport {
  readonly fault: (path: PointerPath, message: string, instead: string) => void;
  readonly warn: (pointer: string, code: WarningCode, message: string) => void;
  readonly hasFaults: () => boolean;
  readonly faults: () => readonly ManifestFault[];
  readonly warnings: () => readonly ManifestWarning[];
}

export function manifestReport(): ManifestReport {
  const faults: ManifestFault[] = [];
  const warnings: ManifestWarning[] = [];
  let surplus = 0;
  return {
    fault: (path, message, instead) => {
      if (faults.length >= FAULTS_MAX) surplus++;
      else faults.push(Object.freeze({ pointer: pointerTo(path), message, instead }));
    },
    warn: (pointer, code, message) => {
      if (warnings.length < FAULTS_MAX)
        warnings.push(Object.freeze({ severity: "warning", code, pointer, message }));
    },
    hasFaults: () => faults.length > 0,
    faults: () => {
      if (surplus === 0) return Object.freeze([...faults]);
      const rest = {
        pointer: "",
        message: `has ${surplus} more faults`,
        instead: "correct the faults above first",
      };
      return Object.freeze([...faults, Object.freeze(rest)]);
    },
    warnings: () => Object.freeze([...warnings]),
  };
}
