/**
 * What the launcher says: calls that stopped at the supervisor, and how the sandbox fares. The launcher is ours, the
 * texts in its messages are the program's: they are data, never shown or compared unparsed.
 */
import { OPERATIONS } from "@sallyport/contract";
import type { FileOperation } from "./profile/landlock-right.ts";

export interface TrappedPart {
  readonly operation: FileOperation;
  /** Real path in the view of the program. */
  readonly target: string;
  readonly exists: boolean;
}

/** A right that an object would have by its new name: where it passes there, it is needed at the old name too. */
export interface GainedPart extends TrappedPart {
  readonly gainedAt: string;
}

export interface TrappedCall {
  readonly pid: number;
  /** The system call. */
  readonly call: string;
  /** As the program wrote it; empty where it named a descriptor. */
  readonly requested: string;
  /** Each must be allowed; those that the confinement grants are left out. */
  readonly parts: readonly TrappedPart[];
  /** Of renames and links; often all that there is to ask. */
  readonly gains: readonly GainedPart[];
  /** Those that the confinement grants and that destroy something: on record before they are done. */
  readonly granted: readonly TrappedPart[];
}

export type LauncherMessage =
  | { readonly kind: "started"; readonly pid: number }
  | { readonly kind: "narrowed" }
  | { readonly kind: "failed"; readonly step: string; readonly error: number }
  | { readonly kind: "ask"; readonly id: number; readonly call: TrappedCall }
  | { readonly kind: "violation"; readonly call: TrappedCall }
  /** Goes on by itself. */
  | { readonly kind: "granted"; readonly call: TrappedCall }
  | { readonly kind: "cancel"; readonly id: number };

/** `undefined`: no message of ours; the sandbox has to end. */
export function readLauncherMessage(message: unknown): LauncherMessage | undefined {
  if (typeof message !== "object" || message === null) return undefined;
  const { kind, id, pid, step, error } = message as Readonly<Record<string, unknown>>;
  switch (kind) {
    case "started":
      return isWhole(pid) ? { kind, pid } : undefined;
    case "narrowed":
      return { kind };
    case "failed":
      return typeof step === "string" && isWhole(error) ? { kind, step, error } : undefined;
    case "cancel":
      return isWhole(id) ? { kind, id } : undefined;
    case "violation":
    case "granted": {
      const call = readCall(message as Readonly<Record<string, unknown>>);
      return call === undefined ? undefined : { kind, call };
    }
    case "ask": {
      const call = readCall(message as Readonly<Record<string, unknown>>);
      return call === undefined || !isWhole(id) ? undefined : { kind, id, call };
    }
    default:
      return undefined;
  }
}

function readCall({
  pid,
  call,
  requested,
  parts,
  gains,
  granted,
}: Readonly<Record<string, unknown>>): TrappedCall | undefined {
  if (!isWhole(pid) || typeof call !== "string" || typeof requested !== "string") return undefined;
  const lists = [partsOf(parts, readPart), partsOf(gains, readGain), partsOf(granted, readPart)] as const;
  const [asked, gained, given] = lists;
  if (asked === undefined || gained === undefined || given === undefined) return undefined;
  if (lists.every((list) => list?.length === 0)) return undefined;
  return Object.freeze({ pid, call, requested, parts: asked, gains: gained, granted: given });
}

function partsOf<T>(list: unknown, read: (part: unknown) => T | undefined): readonly T[] | undefined {
  const parts = Array.isArray(list) ? list.map(read) : [undefined];
  return parts.every((part) => part !== undefined) ? Object.freeze(parts) : undefined;
}

function readPart(part: unknown): TrappedPart | undefined {
  if (typeof part !== "object" || part === null) return undefined;
  const { operation, target, exists } = part as Readonly<Record<string, unknown>>;
  const isOperation = (OPERATIONS.filesystem as readonly unknown[]).includes(operation);
  if (!isOperation || typeof target !== "string" || !target.startsWith("/")) return undefined;
  return Object.freeze({ operation: operation as FileOperation, target, exists: exists === true });
}

function readGain(gain: unknown): GainedPart | undefined {
  const part = readPart(gain);
  const { gained_at: gainedAt } = (gain ?? {}) as Readonly<Record<string, unknown>>;
  if (part === undefined || typeof gainedAt !== "string" || !gainedAt.startsWith("/")) return undefined;
  return Object.freeze({ ...part, gainedAt });
}

function isWhole(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value);
}
