/** What a host gives a service of one node. Trusted: every field is the host's word. */
import type { UrlParser } from "@sallyport/contract";
import type { HashSeed, OwnPlaces } from "@sallyport/policy";
import type { AccessStore } from "@sallyport/store";
import type { ActionRegistry } from "./actions.ts";
import type { AuthorityNames } from "./authority/resolve-authority.ts";
import type { CheckpointOptions } from "./checkpoint-writer.ts";
import type { NewId, NodeClock } from "./node-clock.ts";
import type { Classifier, DecisionHook, NetworkAllowed, ServiceLimits } from "./node-parts.ts";
import type { EnterCaller } from "./resume-executor.ts";
import type { KeyRing } from "./seal/key-ring.ts";
import type { TelemetryProviders } from "./telemetry.ts";

export interface AccessServiceOptions {
  readonly store: AccessStore;
  /** One process at a time has it; its chain goes on under it. */
  readonly nodeId: string;
  readonly seed: HashSeed;
  readonly parseUrl: UrlParser;
  readonly keyRing: () => KeyRing;
  /** Secret; the same on every node whose masked values shall be comparable. */
  readonly maskingKey: Uint8Array;
  readonly actions: ActionRegistry;
  /** What nothing may touch: the data folder, the key ring, the admin socket, the API port. */
  readonly ownPlaces: OwnPlaces;
  readonly clock?: NodeClock | undefined;
  readonly newId?: NewId | undefined;
  readonly limits?: Partial<ServiceLimits> | undefined;
  /** New requests of one subject; 30 at once and 1 a second unless said. */
  readonly rate?: { readonly burst: number; readonly perSecond: number } | undefined;
  readonly authorityNames?: AuthorityNames | undefined;
  readonly hook?: DecisionHook | undefined;
  readonly classifier?: Classifier | undefined;
  /** Called after an allowed network access was recorded: a running OS sandbox opens by it. */
  readonly onNetworkAllowed?: ((allowed: NetworkAllowed) => void) | undefined;
  readonly strictAudit?: boolean | undefined;
  /** The host starts set-up in this process. Without effect once set-up was completed anywhere. */
  readonly setup?: boolean | undefined;
  readonly enterCaller?: EnterCaller | undefined;
  /** `false`: this node runs no resumes. */
  readonly runsResumes?: boolean | undefined;
  /** For the host's own log. Must not throw. */
  readonly onFault?: ((error: unknown) => void) | undefined;
  readonly batchAgeMs?: number | undefined;
  /** How long an answer may wait for the log before it is `unavailable`; 5000 unless said. */
  readonly auditWaitMs?: number | undefined;
  /** Who signs the chain of this node, and where checkpoints go. */
  readonly checkpoints?: CheckpointOptions | undefined;
  readonly telemetry?: TelemetryProviders | undefined;
  /** How long the repeats of a request are counted in memory before they are written; 1000 unless said. */
  readonly repeatAgeMs?: number | undefined;
  readonly leaseMs?: number | undefined;
  readonly beatMs?: number | undefined;
}
