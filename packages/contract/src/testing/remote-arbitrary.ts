/** Random wire JSON of the calls between a remote host and its server, from the same parts as that of all other types. */
import fc from "fast-check";
import { PERMISSION_MODES, PHASES } from "../decision.ts";
import { FAULT_CODES } from "../parsed.ts";
import { MATCHES } from "../target/pattern.ts";
import { REQUEST_STATUSES } from "../wire/pending-request.ts";
import { FRAME_ENTRIES } from "../wire/subject.ts";

/** What the other wire types are made of. */
export type WireParts = Readonly<
  Record<
    | "id"
    | "text"
    | "hostText"
    | "principal"
    | "subject"
    | "resource"
    | "requested"
    | "state"
    | "profile"
    | "approval"
    | "denial",
    fc.Arbitrary<unknown>
  >
>;

const one = <T>(values: readonly T[]) => fc.constantFrom(...values);
const orNull = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
const few = <T>(arbitrary: fc.Arbitrary<T>) => fc.array(arbitrary, { maxLength: 3 });

const base64url = (length: number) => fc.stringMatching(new RegExp(`^[A-Za-z0-9_-]{${length}}$`));

/** Every key may be left out but these. */
function record(shape: Readonly<Record<string, fc.Arbitrary<unknown>>>, ...requiredKeys: readonly string[]) {
  return fc.record(shape, { requiredKeys: [...requiredKeys] });
}

export function remoteArbitraries(parts: WireParts) {
  const { id, text, hostText, principal, subject, resource, requested, state, profile } = parts;
  const frame = fc.record({ subject, phase: one(PHASES), entry: one(FRAME_ENTRIES) });
  const standing = { chain: few(frame), task_id: orNull(hostText), interactive: fc.boolean() };
  const wait = fc.record({ timeout_ms: fc.nat() });
  const access = fc.oneof(
    fc.record({ kind: fc.constant("access"), resource, requested: text }),
    fc.record({ kind: fc.constant("fault"), code: one(FAULT_CODES), field: hostText, message: text }),
  );
  const host = one(["a.example.com", "127.0.0.1", "[::1]"]);
  const asked = {
    ...standing,
    access,
    requested,
    address: host,
    aliases: few(host),
    twin: resource,
    named: subject,
    wait,
    attested_by: one(["service", "guard"]),
    enforced: fc.boolean(),
    exists: fc.boolean(),
  };
  const askedKeys = ["chain", "task_id", "interactive", "access", "attested_by", "enforced"];
  return {
    remote_check: record({ ...asked, register_request: fc.boolean() }, ...askedKeys),
    remote_require: record({ ...asked, resume_action: text, resume_context: fc.json() }, ...askedKeys),
    remote_wait: fc.record({ ...standing, request_id: id, wait }),
    remote_state: fc.record(standing),
    wait_answer: fc.record({
      outcome: one(["allowed", "denied", "timed_out", "cancelled", "not_found", "not_interactive"]),
    }),
    caller_facts: fc.record({
      ...standing,
      has_session: fc.boolean(),
      mode: orNull(one(PERMISSION_MODES)),
      sandbox_profile: orNull(profile),
    }),
    state_answer: fc.record({ state: orNull(state) }),
    ...decisionArbitraries(parts),
    ...jobArbitraries(parts),
    runtime_grant: fc.record({
      subjects: fc.array(fc.record({ subject: guarded(subject), phase: one(PHASES) }), {
        minLength: 1,
        maxLength: 3,
      }),
      user_id: orNull(principal),
      organization_id: orNull(principal),
      session_key: orNull(hostText),
      task_id: orNull(hostText),
      interactive: fc.boolean(),
    }),
    issued_credential: fc.record({
      token: hostText,
      credential_id: id,
      expires_at_ms: fc.nat(),
      ends_at_ms: fc.nat(),
    }),
  };
}

/** A credential is for guarded code. */
const guarded = (subject: fc.Arbitrary<unknown>) =>
  subject.filter((held) => (held as { readonly type: string }).type !== "core");

function decisionArbitraries({
  id,
  text,
  hostText,
  principal,
  subject,
  resource,
  approval,
  denial,
}: WireParts) {
  const session = fc.record({
    organization_id: orNull(principal),
    user_id: orNull(principal),
    session_key: orNull(hostText),
  });
  const by = fc.oneof(
    fc.record({ kind: fc.constant("request"), request_id: id, digest: text }),
    record({ kind: fc.constant("access"), subject, resource, session }, "kind", "subject", "resource"),
  );
  const words = record({
    widen: fc.record({ match: one(MATCHES), target: text }),
    reason: text,
    expires_at_ms: orNull(fc.nat()),
    max_uses: orNull(fc.nat()),
    session_key: text,
  });
  const decided = fc.record({
    ok: fc.constant(true),
    kind: one(["approve_for_session", "approve_permanently", "deny", "block"]),
    request_id: orNull(id),
    approval: orNull(approval),
    denial: orNull(denial),
    rule_id: orNull(id),
    settled: few(id),
    jobs: fc.nat(),
    revision: fc.nat(),
    repeated: fc.boolean(),
  });
  const refused = record(
    {
      ok: fc.constant(false),
      code: one(["session_key_required", "already_decided", "digest_mismatch", "unavailable", "not_found"]),
      message: text,
      decided_by: orNull(principal),
      status: one(REQUEST_STATUSES),
    },
    "ok",
    "code",
    "message",
  );
  return { remote_decision: fc.record({ by, words }), decision: fc.oneof(decided, refused) };
}

function jobArbitraries({ id, text, hostText, subject }: WireParts) {
  const lending = { job_id: id, lease_number: fc.nat() };
  const outcome = (name: string, more: Readonly<Record<string, fc.Arbitrary<unknown>>> = {}) =>
    fc.record({ outcome: fc.constant(name), ...lending, ...more });
  return {
    lend_jobs: fc.record({
      actions: few(fc.record({ name: id, module: id, open_to: few(subject) })),
      limit: fc.nat(16),
    }),
    lent_jobs: fc.record({
      lease_ms: fc.integer({ min: 1 }),
      jobs: few(
        fc.record({
          ...lending,
          action: id,
          module: id,
          idempotency_key: id,
          task_id: orNull(hostText),
          context: fc.json(),
        }),
      ),
    }),
    settle_job: fc.oneof(outcome("kept"), outcome("done"), outcome("failed", { error: text })),
    settled_job: fc.record({ held: fc.boolean() }),
    open_session: fc.record({ public_key: base64url(87) }),
    opened_session: fc.record({
      session_id: base64url(43),
      public_key: base64url(87),
      expires_at_ms: fc.nat(),
    }),
  };
}
