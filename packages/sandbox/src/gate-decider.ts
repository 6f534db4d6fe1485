/**
 * Decides by the gate: every part of a stopped call is a question of its own to the service, which knows by the socket
 * who asks. Waits for a person where the host says that one can be asked.
 */
import { basename, dirname } from "node:path";
import {
  type ExpandedRule,
  type ExternalAccessCheck,
  SYSTEM_FOLDERS,
  parseSystemDependencyTarget,
} from "@sallyport/contract";
import type { AskWords, GateClient } from "@sallyport/gate";
import type { Decide, Recorder } from "./broker.ts";
import { isWithin } from "./profile/covered-path.ts";
import type { GainedPart, TrappedCall, TrappedPart } from "./trapped-call.ts";
import { Turns } from "./turns.ts";

/** More than the service looks at by itself, and far fewer than a gate carries. */
const RECORDS_MAX = 256;

export interface GateDeciderOptions {
  /** How long a call may wait for a person now; `undefined`: it does not wait. */
  readonly waitMs: () => number | undefined;
  /** Deny and ask rules as they are now: a folder that is moved may carry something to or from their places. */
  readonly withheld?: (() => readonly ExpandedRule[]) | undefined;
  /** A person is asked about a part, and the call waits. */
  readonly onWaiting?: ((part: TrappedPart) => void) | undefined;
  /** A part of a call was refused. */
  readonly onBlocked?: ((check: ExternalAccessCheck) => void) | undefined;
}

type Gate = Pick<GateClient, "check" | "foresee" | "remembered" | "reportViolation">;

export function gateDecider(gate: Gate, options: GateDeciderOptions): Decide {
  const { waitMs, withheld = () => [], onWaiting, onBlocked } = options;
  const waits = (call: TrappedCall, part: TrappedPart): boolean =>
    waitMs() !== undefined && gate.foresee(partWords(call, part), true).verdict.requiresApproval;
  return async (call, signal) => {
    const needed = [...(await neededParts(gate, call)), ...carriedParts(call, withheld())];
    for (const part of needed) if (onWaiting !== undefined && waits(call, part)) onWaiting(part);
    const checks = await Promise.all(
      needed.map((part) =>
        gate.check(partWords(call, part), { registerRequest: true, waitMs: waitMs(), signal }),
      ),
    );
    for (const check of checks) if (!check.allowed) onBlocked?.(check);
    return checks.every(({ allowed }) => allowed) ? "allow" : "deny";
  };
}

/** INVARIANT: what would pass at the new name has to pass at the old one. */
async function neededParts(gate: Gate, call: TrappedCall): Promise<readonly TrappedPart[]> {
  const gained = await Promise.all(
    call.gains.map(async (part) => ((await wouldPass(gate, part)) ? [part] : [])),
  );
  return [...call.parts, ...gained.flat()];
}

/**
 * WHY the service: memory may not have heard yet of an approval that counts when the object is used. Where the service is
 * not heard, what it approved before counts again once it is; where nobody knows, it passes.
 */
async function wouldPass(gate: Gate, { operation, gainedAt }: GainedPart): Promise<boolean> {
  const words = { resourceType: "filesystem", operation, target: gainedAt, exists: true, enforced: false };
  const { allowed, code } = await gate.check(words, { registerRequest: false });
  return code === "unavailable" ? (gate.remembered(words)?.allowed ?? true) : allowed;
}

/** Calls that put a whole tree at a name, or take it away, in one step. */
const CARRIERS: readonly string[] = ["rename", "renameat", "renameat2", "symlink", "symlinkat"];

/**
 * INVARIANT: what a rule keeps from being made or deleted is neither made nor deleted by moving a folder above it, nor by a
 * link in place of one.
 */
function carriedParts(call: TrappedCall, withheld: readonly ExpandedRule[]): readonly TrappedPart[] {
  if (!CARRIERS.includes(call.call)) return [];
  return call.parts.flatMap(({ operation, target }) =>
    withheld
      .filter((rule) => rule.resourceType === "filesystem" && rule.operation === operation)
      .map((rule) => (rule.target.endsWith("/") ? rule.target.slice(0, -1) : rule.target))
      .filter((path) => path !== target && isWithin(path, target))
      .map((path) => ({ operation, target: path, exists: operation === "delete" })),
  );
}

/** For calls that were blocked without a question. */
export function gateViolations(gate: Gate): (call: TrappedCall) => void {
  return (call) => {
    for (const part of call.parts) gate.reportViolation(partWords(call, part));
  };
}

/** For what is granted and destroys: the service writes it down as its own decision, at most so many at a time. */
export function gateRecords(gate: Pick<GateClient, "record">, onUnrecorded: () => void): Recorder {
  const turns = new Turns(RECORDS_MAX);
  // WHY not enforced: it goes on already, so that another answer is no blocked operation.
  const put = (call: TrappedCall, part: TrappedPart) =>
    turns.take(() => gate.record({ ...partWords(call, part), enforced: false }));
  return async (call) => {
    const checks = await Promise.all(call.granted.map((part) => put(call, part)));
    if (checks.every(({ allowed }) => allowed)) return "allow";
    onUnrecorded();
    return "deny";
  };
}

function partWords(call: TrappedCall, { operation, target, exists }: TrappedPart): AskWords {
  const twin = operation === "execute" ? programTwin(call.requested, target) : undefined;
  return {
    resourceType: "filesystem",
    operation,
    target,
    requested: call.requested === "" ? undefined : call.requested,
    exists,
    enforced: true,
    twin,
  };
}

/** A program of a system folder has a name too, and a rule on either counts. */
function programTwin(requested: string, target: string): AskWords["twin"] {
  const named = [requested, target].find((path) => SYSTEM_FOLDERS.includes(dirname(path)));
  const name = named === undefined ? undefined : parseSystemDependencyTarget(basename(named));
  if (name === undefined || !name.ok) return undefined;
  return { resourceType: "system_dependency", operation: "execute", target: name.value.text };
}
