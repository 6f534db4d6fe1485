/** The parts of one node, made once from what the host gave. Holds no part of its own and decides nothing. */
import { builtinDenies } from "@sallyport/policy";
import type { AccessServiceOptions } from "./service-options.ts";
import { AuditLog } from "./audit-log.ts";
import { DEFAULT_AUTHORITY_NAMES } from "./authority/resolve-authority.ts";
import { CheckpointWriter } from "./checkpoint-writer.ts";
import { Children } from "./gate/children.ts";
import { TokenBuckets } from "./limits/token-bucket.ts";
import { LiveSnapshot } from "./live-snapshot.ts";
import { randomId, systemClock } from "./node-clock.ts";
import { DEFAULT_LIMITS, type NodeParts } from "./node-parts.ts";
import { Confirmations } from "./propagation.ts";
import { RepeatBook } from "./repeat-book.ts";
import { RepeatedRequests } from "./repeated-requests.ts";
import { SharedTransaction } from "./shared-transaction.ts";
import { Telemetry } from "./telemetry.ts";
import { Waiters } from "./wait.ts";

const SUBJECTS_MAX = 10_000;

export function composeNode(options: AccessServiceOptions, jobsMade: () => void): NodeParts {
  const { store, nodeId, seed, parseUrl, maskingKey, actions, keyRing } = options;
  const clock = options.clock ?? systemClock;
  const newId = options.newId ?? randomId;
  const hostFacts = builtinDenies(options.ownPlaces).map(
    (builtin) => ({ kind: "builtin_set", builtin }) as const,
  );
  const { leaseMs, beatMs, batchAgeMs } = options;
  const faulted = options.onFault ?? (() => undefined);
  const children = new Children();
  const telemetry = new Telemetry(options.telemetry);
  const waitMs = options.auditWaitMs;
  const audit = new AuditLog({ store, nodeId, clock, newId, maskingKey, batchAgeMs, waitMs, telemetry });
  const checkpoints =
    options.checkpoints === undefined
      ? null
      : new CheckpointWriter({ ...options.checkpoints, store, nodeId, clock, audit, faulted });
  const rate = options.rate ?? { burst: 30, perSecond: 1 };
  const live = new LiveSnapshot({
    store,
    confirmable: (revision) => children.confirmable(revision),
    nodeId,
    clock,
    seed,
    parseUrl,
    hostFacts,
    faulted,
    leaseMs,
    beatMs,
  });
  return {
    store,
    nodeId,
    clock,
    newId,
    seed,
    parseUrl,
    maskingKey,
    actions,
    keyRing,
    children,
    live,
    confirmations: new Confirmations({ store, nodeId, leaseMs: live.leaseMs }),
    audit,
    decisions: new SharedTransaction((work) => audit.transaction(work)),
    checkpoints,
    telemetry,
    repeats: new RepeatBook(),
    repeated: new RepeatedRequests({ store, clock, faulted, ageMs: options.repeatAgeMs }),
    waiters: new Waiters(store),
    limits: Object.freeze({ ...DEFAULT_LIMITS, ...options.limits }),
    rate: new TokenBuckets({ ...rate, subjectsMax: SUBJECTS_MAX, nowMs: () => clock.monotonicMs() }),
    authorityNames: options.authorityNames ?? DEFAULT_AUTHORITY_NAMES,
    hook: options.hook,
    classifier: options.classifier,
    networkAllowed: options.onNetworkAllowed,
    strictAudit: options.strictAudit ?? false,
    setupStarted: options.setup ?? false,
    faulted,
    jobsMade,
  };
}
