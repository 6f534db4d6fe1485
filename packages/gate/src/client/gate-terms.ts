/**
 * What the two sides of a gate have agreed on, and how far it has come: so that one thread can begin it and another take it
 * over.
 */
import { PROTOCOL_VERSION } from "../protocol/bounds.ts";
import { GateFault } from "../protocol/gate-fault.ts";
import type { ServiceMessage } from "../protocol/message.ts";

export interface HostedTerms {
  readonly subject: { readonly type: string; readonly name: string };
  readonly imports: readonly string[];
}

export interface GateTerms {
  readonly nonce: string;
  readonly leaseMs: number;
  readonly memory: "allowlist" | "nothing";
  /** Sensitive imports that this child may use. */
  readonly imports: readonly string[];
  /** Subjects that the program of this child may run beside each other, with their sensitive imports. */
  readonly hosted: readonly HostedTerms[];
  /** The host wants to know where questions come from. */
  readonly evidence: boolean;
}

/** A gate that is open, to be taken over. */
export interface LinkStart {
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  readonly revision: number;
  readonly lastBeat: number;
  /** Messages that were read and written. */
  readonly read: number;
  readonly written: number;
}

export type ServiceHello = Extract<ServiceMessage, { readonly kind: "hello" }>;

/** Throws a {@link GateFault} where the two sides are of different installations. */
export function agreedTerms(hello: ServiceHello): GateTerms {
  if (hello.protocol !== PROTOCOL_VERSION) throw new GateFault("wrong_version");
  const { nonce, leaseMs, memory, imports = [], hosted = [], evidence = false } = hello;
  return { nonce, leaseMs, memory, imports, hosted, evidence };
}
