/**
 * Random wire JSON for every wire type, written from the specification and not from the schemas, so that a schema
 * which refuses legal JSON, or loses a part of it, is noticed.
 */
import fc from "fast-check";
import {
  APPROVAL_SCOPES,
  CHECK_CODES,
  type CheckCode,
  DECISION_SOURCES,
  OUTCOMES,
  PERMISSION_MODES,
  PHASES,
  RULE_EFFECTS,
  RULE_SOURCES,
} from "../decision.ts";
import { ERROR_CODES, type ErrorCode } from "../errors.ts";
import { OPERATIONS } from "../resource.ts";
import { SUBJECT_TYPES } from "../subject.ts";
import { MATCHES_OF } from "../wire/approval.ts";
import type { WireName } from "../wire/catalogue.ts";
import { POLICY_ACTIONS, RESOLUTIONS } from "../wire/event.ts";
import { ATTESTERS, REQUEST_STATUSES } from "../wire/pending-request.ts";
import {
  POLICY_SOURCES,
  SANDBOX_ENFORCERS,
  SANDBOX_MODES,
  SANDBOX_NETWORKS,
} from "../wire/permission-facts.ts";
import { FRAME_ENTRIES } from "../wire/subject.ts";
import { remoteArbitraries } from "./remote-arbitrary.ts";

const one = <T>(values: readonly T[]) => fc.constantFrom(...values);
const orNull = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
const few = <T>(arbitrary: fc.Arbitrary<T>) => fc.array(arbitrary, { maxLength: 3 });

const id = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,30}$/);
const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 });
const hostText = fc.stringMatching(/^[a-zA-Z0-9 äöü漢_./-]{1,30}$/u);
const principal = fc.oneof(fc.integer(), fc.constant(0), hostText);
const digit = (max: number) => fc.integer({ min: 0, max }).map((value) => String(value).padStart(2, "0"));
const timestamp = fc
  .tuple(
    fc.integer({ min: 1970, max: 9999 }),
    fc.integer({ min: 1, max: 12 }),
    fc.integer({ min: 1, max: 28 }),
  )
  .chain(([year, month, day]) =>
    fc
      .tuple(digit(23), digit(59), digit(59), one(["", ".5", ".123", ".123456789"]))
      .map(([hour, minute, second, rest]) => {
        const date = [year, String(month).padStart(2, "0"), String(day).padStart(2, "0")].join("-");
        return `${date}T${hour}:${minute}:${second}${rest}Z`;
      }),
  );

const name = fc.stringMatching(/^[A-Za-z0-9_@][A-Za-z0-9_@.+/-]{0,20}$/).filter((value) => value !== "core");
const subject = fc.oneof(
  fc.record({ type: one(SUBJECT_TYPES.filter((type) => type !== "core")), name }),
  fc.constant({ type: "core", name: "core" }),
);
const frame = fc.record({ subject, phase: one(PHASES), entry: one(FRAME_ENTRIES), contracts: few(id) });

const path = fc
  .array(fc.stringMatching(/^[a-z0-9 _-]{1,8}$/), { maxLength: 5 })
  .map((segments) => `/${segments.join("/")}`);
const networkTarget = one([
  "https://a.example/x?y=1",
  "http://localhost:8080/",
  "a.example:443",
  "[::1]",
  "unix:/run/x.sock",
]);
const program = fc.stringMatching(/^[a-z0-9][a-z0-9+._-]{0,10}$/);
const network = { operation: one(OPERATIONS.network), target: networkTarget };
const filesystem = { operation: one(OPERATIONS.filesystem), target: path };
const dependency = { operation: one(OPERATIONS.system_dependency), target: program };

const resource = fc.oneof(
  fc.record({ type: fc.constant("network" as const), ...network }),
  fc.record({ type: fc.constant("filesystem" as const), ...filesystem }),
  fc.record({ type: fc.constant("system_dependency" as const), ...dependency }),
);
const requested = fc.record({ type: fc.string(), operation: fc.string(), target: text });
type RulePart = Readonly<Record<"resource_type" | "operation" | "target", fc.Arbitrary<string>>>;
const ruleParts: readonly RulePart[] = [
  { resource_type: fc.constant("network"), ...network },
  {
    resource_type: fc.constant("filesystem"),
    ...filesystem,
    target: fc.oneof(path, one(["models/", "${tmp}/x"])),
  },
  { resource_type: fc.constant("system_dependency"), ...dependency },
];
const accessRule = fc.oneof(...ruleParts.map((parts) => fc.record(parts)));

const origin = fc.record(
  {
    user_id: orNull(principal),
    organization_id: orNull(principal),
    session_key: orNull(hostText),
    task_id: orNull(hostText),
  },
  { requiredKeys: [] },
);
const action = fc.stringMatching(/^[a-z_][a-z_.-]{0,20}$/);
const resume = orNull(fc.record({ action, context: one(["encrypted", null]) }));

const destructive = {
  destructive: fc.boolean(),
  impact_scope: text,
  rollback_advice: text,
  decision_source: one(DECISION_SOURCES),
};
const state = fc.record({
  mode: one(PERMISSION_MODES),
  rules: few(id),
  policy_sources: few(one(POLICY_SOURCES)),
  interactive: fc.boolean(),
});
const decisionOf = (outcome: fc.Arbitrary<string>) =>
  fc.record({
    id,
    decision: outcome,
    decision_reason: text,
    rule_refs: few(id),
    updated_input_ref: orNull(id),
    approval_action_id: orNull(id),
    expires_at: orNull(timestamp),
    scope: orNull(one(APPROVAL_SCOPES)),
    ...destructive,
  });
const decision = decisionOf(one(OUTCOMES));
const limit = orNull(fc.nat());
const profile = fc.record({
  mode: one(SANDBOX_MODES),
  platform: one(["linux", "darwin"]),
  cwd: path,
  read_roots: few(path),
  write_roots: few(path),
  network: fc.record({
    access: one(SANDBOX_NETWORKS),
    forwarded_ports: few(fc.integer({ min: 1, max: 65535 })),
  }),
  environment_ref: orNull(id),
  process_limits: fc.record({
    processes_max: limit,
    open_files_max: limit,
    memory_bytes_max: limit,
    cpu_seconds_max: limit,
  }),
  violation_refs: few(id),
  enforced_by: few(one(SANDBOX_ENFORCERS)),
  not_enforced: few(one(["read_not_asked", "stat", "interpreter"])),
});

const requestCore = { subject, resource, origin };
const requestRest = {
  id,
  resume,
  subject_chain: few(frame),
  mode: one(PERMISSION_MODES),
  ...destructive,
  attested_by: one(ATTESTERS),
  status: one(REQUEST_STATUSES),
  count: fc.integer({ min: 1 }),
  first_seen: timestamp,
  last_seen: timestamp,
  digest: fc.stringMatching(/^[0-9a-f]{64}$/),
};
const requestRecord = fc.record({ ...requestCore, ...requestRest });

const decided = {
  id,
  subject,
  request_id: orNull(id),
  action_id: id,
  decided_by: principal,
  decided_at: timestamp,
  reason: orNull(text),
};
const matched = resource.chain((held) =>
  fc.record({ resource: fc.constant(held), match: one(MATCHES_OF[held.type]) }),
);
const limits = fc
  .record({
    expires_at: orNull(timestamp),
    max_uses: orNull(fc.integer({ min: 1, max: 9 })),
    uses: fc.nat(9),
  })
  .map((held) => ({ ...held, uses: Math.min(held.uses, held.max_uses ?? 9) }));
const scope = fc.oneof(
  fc.record({
    scope: fc.constant("session"),
    organization_id: orNull(principal),
    user_id: orNull(principal),
    session_key: hostText,
  }),
  fc.constant({ scope: "permanent", organization_id: null, user_id: null, session_key: null }),
);
const joined = (...parts: readonly fc.Arbitrary<object>[]) =>
  fc.tuple(...parts).map((held) => Object.assign({}, ...held) as object);

const checkCode = one(Object.keys(CHECK_CODES) as CheckCode[]);
const check = checkCode.chain((code) => {
  const outcome = CHECK_CODES[code];
  const shape = {
    allowed: fc.constant(outcome === "allowed"),
    requires_approval: fc.constant(code === "approval_required"),
    code: fc.constant(code),
    message: text,
    request_id: id,
    decision: decisionOf(outcome === "allowed" ? one(["allowed", "sandboxed"]) : fc.constant(outcome)),
  };
  const requiredKeys = ["allowed", "requires_approval", "code", "message", "decision"] as const;
  return fc.record(shape, { requiredKeys: [...requiredKeys] });
});

const hostRule = fc.oneof(
  ...ruleParts.map((parts) =>
    fc
      .record(
        {
          id,
          effect: one(RULE_EFFECTS),
          source: one(RULE_SOURCES),
          subject,
          organization_id: principal,
          user_id: principal,
          session_key: hostText,
          match: fc.constant("exact"),
          ...parts,
        },
        { requiredKeys: ["id", "effect", "source", "resource_type", "operation", "target"] },
      )
      .map((rule) => (rule.effect === "allow" ? { ...rule, source: "host" } : rule)),
  ),
);

const facts = { permission_state: state, permission_decision: decision, sandbox_profile: profile };
const attempt = {
  subject: orNull(subject),
  subject_chain: few(frame),
  resource: orNull(resource),
  requested,
  origin,
};
const count = fc.integer({ min: 1 });
const envelope = (type: string, data: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record({
    specversion: fc.constant("1.0"),
    id,
    source: one(["/nodes/one", "urn:node:2"]),
    type: fc.constant(type),
    time: timestamp,
    datacontenttype: fc.constant("application/json"),
    data: fc.record(data),
  });
const act = {
  action: one(POLICY_ACTIONS),
  actor: fc.record({
    id: orNull(principal),
    roles: few(text),
    access_level: orNull(text),
    organization_id: orNull(principal),
  }),
  subject: orNull(subject),
  resource: orNull(requested),
  request_id: orNull(id),
  reason: orNull(text),
};
const record = orNull(fc.json({ maxDepth: 2 }));
const events = {
  permission_evaluated: envelope("permission.evaluated", {
    ...attempt,
    code: checkCode,
    attested_by: one(ATTESTERS),
    count,
    observed_target: one(["93.184.216.34:443", "api.example.com:443", "unix:/run/x"]),
    ...facts,
  }),
  permission_requested: envelope("permission.requested", { request: requestRecord, ...facts }),
  permission_resolved: envelope("permission.resolved", {
    request_id: id,
    resolution: one(RESOLUTIONS),
    subject,
    resource,
    origin,
    ...facts,
  }),
  sandbox_applied: envelope("sandbox.applied", {
    subject,
    phase: one(PHASES),
    origin,
    permission_state: state,
    sandbox_profile: profile,
  }),
  sandbox_violation: envelope("sandbox.violation", {
    ...attempt,
    attested_by: one(["guard", "kernel", "gateway"]),
    count,
    ...facts,
  }),
  policy_changed: envelope("policy.changed", { ...act, action_id: id, before: record, after: record }),
  policy_refused: envelope("policy.refused", act),
};

const pointedFault = fc.record(
  { pointer: fc.constant("/a/0"), message: text, instead: text },
  { requiredKeys: ["pointer", "message"] },
);
const errorBody = one(Object.keys(ERROR_CODES) as ErrorCode[]).chain((code) =>
  fc.record(
    {
      type: fc.constant(`urn:sallyport:error:${code}`),
      title: fc.constant(ERROR_CODES[code].title),
      status: fc.integer({ min: 400, max: 599 }),
      detail: text,
      code: fc.constant(code),
      request_id: id,
      faults: few(pointedFault),
    },
    { requiredKeys: ["type", "title", "status", "detail", "code"] },
  ),
);

const approval = joined(fc.record(decided), matched, limits, scope);
const denial = joined(fc.record(decided), matched);
const remote = remoteArbitraries({
  id,
  text,
  hostText,
  principal,
  subject,
  resource,
  requested,
  state,
  profile,
  approval,
  denial,
});

export const WIRE_ARBITRARIES: Readonly<Record<WireName, fc.Arbitrary<unknown>>> = {
  subject,
  subject_frame: frame,
  resource,
  requested_resource: requested,
  access_rule: accessRule,
  origin,
  resume,
  runtime_user: fc.record({ id: principal, roles: few(text), access_level: orNull(text) }),
  destructive_facts: fc.record(destructive),
  permission_state: state,
  permission_decision: decision,
  sandbox_profile: profile,
  pending_request: fc.record(
    { ...requestCore, ...requestRest },
    { requiredKeys: ["subject", "resource", "origin"] },
  ),
  request_record: requestRecord,
  approval,
  denial,
  host_rule: hostRule,
  external_access_check: check,
  ...events,
  event: fc.oneof(...Object.values(events)),
  error_body: errorBody,
  ...remote,
};
