/**
 * The decision: matching index, chain, rules, modes, explanation. Pure and synchronous: no I/O, clock or randomness.
 */
export type {
  AccessRule,
  Approval,
  BuiltinDeny,
  Context,
  Contract,
  Denial,
  Frame,
  HookAnswer,
  HostRule,
  PrincipalId,
  Question,
  Registration,
} from "./question.ts";
export type { Verdict } from "./verdict.ts";
