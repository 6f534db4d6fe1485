/**
 * The decision: matching index, chain, rules, modes, explanation. Pure and synchronous: no I/O, clock or randomness.
 *
 *     const snapshot = new Snapshot({ seed, parseUrl });
 *     snapshot.apply({ kind: "contract_set", contract });
 *     const active = new ActiveContext(snapshot, context);
 *     decide(active, question).allowed
 */
export { ActiveContext } from "./active-context.ts";
export { type OwnPlaces, builtinDenies } from "./builtin-denies.ts";
export type { Change, ChangeKind } from "./change.ts";
export { decide } from "./decide.ts";
export { type Explanation, type Remedy, explain } from "./explain.ts";
export { type ExampleResult, exampleFaults, tryExamples } from "./manifest-examples.ts";
export {
  type AccessRule,
  type Approval,
  type BuiltinDeny,
  type Context,
  type Contract,
  type Denial,
  type Frame,
  type HookAnswer,
  type HostRule,
  PLAIN_CONTEXT,
  type PrincipalId,
  type Question,
  type Registration,
} from "./question.ts";
export type { HashSeed } from "./seeded-hash.ts";
export { Snapshot, type SnapshotOptions } from "./snapshot.ts";
export type { TraceNote, TraceResult, TraceStep } from "./trace.ts";
export type { Verdict } from "./verdict.ts";
