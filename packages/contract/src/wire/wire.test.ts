import { describe, expect, it } from "vitest";
import { whatwgUrl } from "../whatwg-url.ts";
import { approvalWire } from "./approval.ts";
import { errorBodyWire } from "./error-body.ts";
import { externalAccessCheckWire } from "./external-access-check.ts";
import { hostRuleWire } from "./host-rule.ts";
import { originWire } from "./origin.ts";
import { pendingRequestWire, requestRecordWire } from "./pending-request.ts";
import { accessOfResource, accessRuleWire, resourceOf, resourceWire } from "./resource.ts";
import { subjectWire } from "./subject.ts";

const SEED = {
  subject: { type: "module", name: "system" },
  resource: { type: "filesystem", operation: "read", target: "/mnt/imports/customer.csv" },
  origin: { user_id: 21, session_key: "sess-21", task_id: "task-123" },
  resume: { action: "system.resume_import", context: "encrypted" },
};

const pointersOf = (result: {
  readonly ok: boolean;
  readonly faults?: readonly { readonly pointer: string }[];
}) => (result.faults ?? []).map((fault) => fault.pointer);

describe("a pending request", () => {
  it("is read from its first four keys, and written back with exactly these", () => {
    const parsed = pendingRequestWire.parse(SEED);
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
    expect(parsed.value.origin.sessionKey).toBe("sess-21");
    expect(parsed.value.resume?.action).toBe("system.resume_import");
    expect(pendingRequestWire.format(parsed.value)).toEqual(SEED);
    expect(JSON.stringify(pendingRequestWire.format(parsed.value))).toBe(JSON.stringify(SEED));
  });

  it("is frozen all the way down", () => {
    const parsed = pendingRequestWire.parse(SEED);
    if (!parsed.ok) throw new Error("refused");
    expect([parsed.value, parsed.value.subject, parsed.value.origin].every(Object.isFrozen)).toBe(true);
  });

  it("never carries a resume context in the clear", () => {
    const faults = pendingRequestWire.parse({ ...SEED, resume: { action: "a.b", context: { id: 1 } } });
    expect(pointersOf(faults)).toEqual(["/resume/context"]);
  });

  it("lists every fault with its pointer, not only the first", () => {
    const result = pendingRequestWire.parse({
      subject: { type: "robot", name: "x" },
      resource: { type: "filesystem", operation: "connect", target: "relative" },
      origin: { user_id: 1.5, session_key: "" },
      count: 0,
      "odd/key": 1,
    });
    expect(pointersOf(result).toSorted()).toEqual(
      [
        "/count",
        "/odd~1key",
        "/origin/session_key",
        "/origin/user_id",
        "/resource/operation",
        "/resource/target",
        "/resource/target",
        "/subject/type",
      ].toSorted(),
    );
  });

  it("says that a key is missing rather than that it is undefined", () => {
    const result = requestRecordWire.parse({ ...SEED, resume: null });
    expect(result.ok ? [] : result.faults).toContainEqual({
      pointer: "/status",
      message: "is missing: add it",
    });
  });
});

describe("messages", () => {
  it("are lower-case, without a full stop", () => {
    const wrong: unknown[] = [
      null,
      1,
      "x",
      [],
      {},
      { ...SEED, count: -1, mode: "x", digest: 1, subject_chain: [1] },
    ];
    const faults = wrong.flatMap((value) => {
      const result = pendingRequestWire.parse(value);
      return result.ok ? [] : result.faults;
    });
    expect(faults.length).toBeGreaterThan(8);
    expect(faults.filter(({ message }) => !/^[a-z]/.test(message) || message.endsWith("."))).toEqual([]);
  });

  it("cannot be reordered or ended by the input that they quote", () => {
    const result = originWire.parse({ "a`\u202Eb": 1 });
    expect(result.ok ? [] : result.faults.map(({ message }) => message)).toEqual([
      "unknown key `a\\u{60}\\u{202e}b`: remove it",
    ]);
  });
});

describe("what is parsed", () => {
  it("is read once: a getter that changes its answer is seen a single time", () => {
    let reads = 0;
    const origin = {
      get user_id() {
        reads++;
        return reads === 1 ? 1 : "other";
      },
    };
    expect(originWire.parse(origin)).toEqual({ ok: true, value: { userId: 1 } });
    expect(reads).toBe(1);
  });

  it("has own properties only: an inherited key is not there", () => {
    expect(pointersOf(subjectWire.parse(Object.create({ type: "module", name: "x" })))).toEqual([""]);
    expect(pointersOf(subjectWire.parse({ __proto__: null, type: "module" }))).toEqual(["/name"]);
  });

  it("survives a proxy that throws", () => {
    const hostile = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error("no");
        },
      },
    );
    expect(originWire.parse(hostile)).toEqual({
      ok: false,
      faults: [{ pointer: "", message: "cannot be read: pass plain JSON" }],
    });
  });

  it("is not deeper than 64 levels, and a cycle is only deep", () => {
    const cycle: Record<string, unknown> = {};
    cycle["user_id"] = cycle;
    const result = originWire.parse(cycle);
    expect(result.ok ? "" : result.faults[0]?.message).toBe("is nested deeper than 64 levels");
  });

  it("is bounded: an array of a million elements is refused with one fault", () => {
    expect(pointersOf(originWire.parse(Array.from({ length: 1_000_000 }, () => 1)))).toEqual([""]);
  });

  it("lists at most a hundred faults and says how many more there are", () => {
    const result = originWire.parse(
      Object.fromEntries(Array.from({ length: 250 }, (_, index) => [`k${index}`, 1])),
    );
    expect(result.ok ? 0 : result.faults.length).toBe(101);
    expect(result.ok ? "" : result.faults.at(-1)?.message).toBe("has 150 more faults: correct these first");
  });

  it("is valid text: a lone surrogate is refused", () => {
    expect(pointersOf(originWire.parse({ session_key: "a\ud800" }))).toEqual(["/session_key"]);
  });
});

describe("identity on the wire", () => {
  it("keeps an integer and its text apart, and zero as an organization", () => {
    expect(originWire.parse({ user_id: 21 })).not.toEqual(originWire.parse({ user_id: "21" }));
    expect(originWire.parse({ organization_id: 0 })).toEqual({ ok: true, value: { organizationId: 0 } });
  });

  it("refuses `url` as a resource type and lists what is allowed", () => {
    const result = resourceWire.parse({ type: "url", operation: "receive", target: "https://a.example" });
    expect(result.ok ? [] : result.faults).toEqual([
      { pointer: "/type", message: "must be one of network, filesystem, system_dependency" },
    ]);
  });

  it.each([
    ["network", "read"],
    ["filesystem", "connect"],
    ["filesystem", "send"],
    ["system_dependency", "read"],
  ])("refuses the pair %s %s in resources and rules", (type, operation) => {
    expect(pointersOf(resourceWire.parse({ type, operation, target: "/x" }))).toContain("/operation");
    expect(pointersOf(accessRuleWire.parse({ resource_type: type, operation, target: "/x" }))).toContain(
      "/operation",
    );
  });

  it("knows the host's own code as exactly core:core", () => {
    expect(subjectWire.parse({ type: "core", name: "core" }).ok).toBe(true);
    expect(pointersOf(subjectWire.parse({ type: "core", name: "x" }))).toEqual(["/name"]);
    expect(pointersOf(subjectWire.parse({ type: "tool", name: "core" }))).toEqual(["/name"]);
  });

  it("reads a resource back into an access, and refuses one that is not normalized", () => {
    const resource = resourceWire.parse({
      type: "network",
      operation: "receive",
      target: "https://a.example/x",
    });
    if (!resource.ok) throw new Error("refused");
    const access = accessOfResource(resource.value, whatwgUrl);
    if (!access.ok) throw new Error(access.message);
    expect(resourceOf(access.value)).toEqual(resource.value);
    const spelled = resourceWire.parse({
      type: "network",
      operation: "receive",
      target: "HTTPS://A.example/x",
    });
    expect(spelled.ok && accessOfResource(spelled.value, whatwgUrl).ok).toBe(false);
  });
});

describe("parts that must agree", () => {
  const decision = {
    id: "d1",
    decision: "denied",
    decision_reason: "r",
    rule_refs: [],
    updated_input_ref: null,
    approval_action_id: null,
    expires_at: null,
    scope: null,
    destructive: false,
    impact_scope: "s",
    rollback_advice: "a",
    decision_source: "host_rule",
  };

  it("refuses a check that is allowed beside a code that denies", () => {
    const check = { allowed: true, requires_approval: false, code: "denied_rule", message: "m", decision };
    expect(pointersOf(externalAccessCheckWire.parse(check))).toEqual(["/allowed"]);
    expect(externalAccessCheckWire.parse({ ...check, allowed: false }).ok).toBe(true);
    expect(pointersOf(externalAccessCheckWire.parse({ ...check, code: "allowed_rule" }))).toEqual([
      "/decision/decision",
    ]);
  });

  it("refuses an allow rule of anybody but the host", () => {
    const rule = {
      id: "r",
      effect: "allow",
      source: "session",
      resource_type: "network",
      operation: "send",
      target: "a",
    };
    expect(pointersOf(hostRuleWire.parse(rule))).toEqual(["/effect"]);
    expect(hostRuleWire.parse({ ...rule, effect: "deny" }).ok).toBe(true);
  });

  it("refuses a permanent approval with a session, a session approval without one, and a match of another resource", () => {
    const approval = {
      id: "a",
      subject: SEED.subject,
      resource: SEED.resource,
      match: "exact",
      request_id: null,
      action_id: "x",
      decided_by: 1,
      decided_at: "2026-01-31T09:30:00Z",
      reason: null,
      scope: "permanent",
      organization_id: null,
      user_id: null,
      session_key: null,
      expires_at: null,
      max_uses: 1,
      uses: 0,
    };
    expect(approvalWire.parse(approval).ok).toBe(true);
    expect(pointersOf(approvalWire.parse({ ...approval, session_key: "s" }))).toEqual(["/session_key"]);
    expect(pointersOf(approvalWire.parse({ ...approval, scope: "session" }))).toEqual(["/session_key"]);
    expect(pointersOf(approvalWire.parse({ ...approval, match: "origin" }))).toEqual(["/match"]);
    expect(pointersOf(approvalWire.parse({ ...approval, uses: 2 }))).toEqual(["/uses"]);
    expect(pointersOf(approvalWire.parse({ ...approval, expires_at: "2026-01-31T09:30:00+01:00" }))).toEqual([
      "/expires_at",
    ]);
  });

  it("refuses an error body whose type names another code", () => {
    const body = {
      type: "urn:sallyport:error:no_subject",
      title: "t",
      status: 403,
      detail: "d",
      code: "invalid_target",
    };
    expect(pointersOf(errorBodyWire.parse(body))).toEqual(["/type"]);
  });
});
