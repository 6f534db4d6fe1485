/** Rows for tests: complete and valid, so that a test names only what it is about. */
import type { Subject, SubjectName, SubjectType } from "@sallyport/contract";
import type {
  AccessStore,
  ContinuationRow,
  DenialRow,
  EventRow,
  NewApproval,
  NewJob,
  NewRequest,
  NodeRow,
  RuleRow,
  Tuple,
} from "../port.ts";

export const subject = (name: string, type: SubjectType = "tool"): Subject => ({
  type,
  name: name as SubjectName,
});

export const tuple = (over: Partial<Tuple> = {}): Tuple => ({
  subject: subject("demo.read_file"),
  resourceType: "filesystem",
  operation: "read",
  target: "/data/report.txt",
  ...over,
});

const NO_SESSION = { organizationId: null, userId: null, sessionKey: null } as const;
const PERSON = { id: 7, roles: ["super"], access_level: null };

export const newRequest = (id: string, over: Partial<NewRequest> = {}): NewRequest => ({
  id,
  ...tuple(),
  targetRequested: "./report.txt",
  organizationId: 21,
  userId: "anna",
  sessionKey: "s-1",
  taskId: null,
  subjectChain: [{ subject: { type: "tool", name: "demo.read_file" }, phase: "runtime" }],
  mode: "default",
  destructive: { destructive: false, impact_scope: "reads" },
  attestedBy: "service",
  firstSeenMs: 1000,
  expiresAtMs: 100_000,
  ...over,
});

export const newContinuation = (
  id: string,
  requestId: string,
  over: Partial<Omit<ContinuationRow, "state">> = {},
): Omit<ContinuationRow, "state"> => ({
  id,
  requestId,
  action: "system.resume_import",
  sealedContext: Uint8Array.from([0, 255, 1, 128]),
  keyId: "key-1",
  organizationId: 21,
  userId: "anna",
  sessionKey: "s-1",
  taskId: "task-1",
  createdMs: 1000,
  ...over,
});

export const newApproval = (id: string, over: Partial<NewApproval> = {}): NewApproval => ({
  id,
  ...tuple(),
  match: "exact",
  scope: "permanent",
  ...NO_SESSION,
  expiresAtMs: null,
  maxUses: null,
  requestId: null,
  actionId: `action-${id}`,
  decidedBy: PERSON,
  reason: null,
  createdMs: 2000,
  ...over,
});

export const sessionApproval = (id: string, over: Partial<NewApproval> = {}): NewApproval =>
  newApproval(id, { scope: "session", organizationId: 21, userId: "anna", sessionKey: "s-1", ...over });

export const newDenial = (id: string, over: Partial<DenialRow> = {}): DenialRow => ({
  id,
  ...tuple(),
  match: "exact",
  requestId: null,
  actionId: `action-${id}`,
  decidedBy: PERSON,
  reason: "not this one",
  createdMs: 3000,
  ...over,
});

export const newRule = (id: string, over: Partial<RuleRow> = {}): RuleRow => ({
  id,
  effect: "deny",
  source: "host",
  ...NO_SESSION,
  subject: null,
  resourceType: "network",
  operation: "send",
  target: "https://example.com",
  match: null,
  createdBy: PERSON,
  createdMs: 4000,
  ...over,
});

export const newJob = (id: string, over: Partial<NewJob> = {}): NewJob => ({
  id,
  continuationId: `continuation-${id}`,
  requestId: "r-1",
  approvalId: "a-1",
  action: "system.resume_import",
  ownerModule: "system",
  nextAtMs: 5000,
  idempotencyKey: `once-${id}`,
  createdMs: 5000,
  ...over,
});

export const newEvent = (node: string, seq: number, over: Partial<EventRow> = {}): EventRow => ({
  node,
  seq,
  timeMs: 1000 + seq,
  type: "permission.evaluated",
  subjectType: "tool",
  subjectName: "demo.read_file",
  resourceType: "filesystem",
  operation: "read",
  target: "/data/report.txt",
  organizationId: 21,
  userId: "anna",
  sessionKey: "s-1",
  taskId: null,
  requestId: null,
  decision: "denied",
  decisionSource: "denial",
  code: "resource_disabled",
  body: `{"seq":${seq}}`,
  prevHash: hashOf(seq - 1),
  hash: hashOf(seq),
  ...over,
});

export const hashOf = (seq: number): Uint8Array => new Uint8Array(32).fill(seq % 256);

export const newNode = (id: string, over: Partial<NodeRow> = {}): NodeRow => ({
  id,
  confirmedRevision: 0,
  leaseUntilMs: 2000,
  startedMs: 1,
  info: { version: "0.1.0" },
  ...over,
});

/** A request with its continuations and a ready job for each. */
export async function makeJobs(store: AccessStore, ids: readonly string[], requestId = "r-1"): Promise<void> {
  await store.transaction(async (tx) => {
    await tx.requests.insert(newRequest(requestId));
    for (const id of ids) {
      await tx.continuations.insert(newContinuation(`continuation-${id}`, requestId));
      await tx.jobs.insert(newJob(id, { requestId }));
    }
  });
}
