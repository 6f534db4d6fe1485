import { fault } from "@sallyport/contract";
import { afterEach, describe, expect, it } from "vitest";
import {
  CORE,
  type Fixture,
  READER,
  SYSTEM,
  TestClock,
  adminOf,
  ask,
  callerOf,
  closeSound,
  frame,
  openFixture,
  read,
  receive,
  shown,
} from "./testing/service-fixture.ts";

const UNKNOWN = receive("https://unknown.example.com/a?b=1");

let fixture: Fixture;
afterEach(() => closeSound(fixture));

describe("the code of a check", () => {
  it("is allowed_sandbox for what the subject declared", async () => {
    fixture = await openFixture();
    const check = await fixture.service.check(callerOf(), ask(receive("https://declared.example.com/x")));
    expect(check).toMatchObject({ allowed: true, requiresApproval: false, code: "allowed_sandbox" });
    expect(check.decision).toMatchObject({ decision: "allowed", decisionSource: "manifest" });
  });

  it("is approval_required with a request for what nobody decided", async () => {
    fixture = await openFixture();
    const check = await fixture.service.check(callerOf(), ask(UNKNOWN));
    expect(check).toMatchObject({ allowed: false, requiresApproval: true, code: "approval_required" });
    expect(check.message).toBe(
      `tool:demo.read_file: network receive \`https://unknown.example.com/a?b=1\` needs an approval: wait for request ${check.requestId} to be decided, then try again`,
    );
    expect(await fixture.service.list.request(adminOf(), check.requestId ?? "")).toMatchObject({
      subject: READER,
      resource: { type: "network", operation: "receive", target: "https://unknown.example.com/a?b=1" },
      origin: { userId: 21, organizationId: 7, sessionKey: "sess-21", taskId: "task-1" },
      resume: null,
      status: "pending",
      count: 1,
    });
  });

  it("is approval_required without a request for a passive check", async () => {
    fixture = await openFixture();
    const check = await fixture.service.check(callerOf(), ask(UNKNOWN, { registerRequest: false }));
    expect(check).toMatchObject({ requiresApproval: true, code: "approval_required" });
    expect(check.requestId).toBeUndefined();
    expect((await fixture.service.list.requests(adminOf())).rows).toEqual([]);
  });

  it("is allowed_setup for the system module's files while set-up runs, and never again afterwards", async () => {
    fixture = await openFixture({ setup: true });
    const { service } = fixture;
    const system = callerOf(SYSTEM);
    expect(await service.check(system, ask(read("/etc/hostname")))).toMatchObject({ code: "allowed_setup" });
    expect(await service.check(callerOf(), ask(read("/etc/hostname")))).toMatchObject({
      code: "approval_required",
    });
    expect(await service.completeSetup(adminOf())).toMatchObject({ ok: true, repeated: false });
    expect(await service.completeSetup(adminOf(2))).toMatchObject({ ok: true, repeated: true });
    expect(await service.check(system, ask(read("/etc/hostname")))).toMatchObject({
      code: "approval_required",
    });
  });

  it("is allowed_session and allowed_permanent for what was approved so", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const first = await service.check(callerOf(), ask(UNKNOWN));
    await service.approveForSession(adminOf(), await shown(service, first.requestId));
    const allowed = await service.check(callerOf(), ask(UNKNOWN));
    expect(allowed).toMatchObject({ code: "allowed_session", allowed: true });
    expect(allowed.decision).toMatchObject({ scope: "session", decisionSource: "session_approval" });
    await service.approvePermanently(adminOf(), { subject: READER, access: read("/srv/x") });
    expect(await service.check(callerOf(), ask(read("/srv/x")))).toMatchObject({ code: "allowed_permanent" });
  });

  it("is allowed_rule for an allow rule and for host code", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    await service.setRule(adminOf(), {
      effect: "allow",
      source: "host",
      resourceType: "network",
      operation: "receive",
      target: "https://unknown.example.com",
    });
    expect(await service.check(callerOf(), ask(UNKNOWN))).toMatchObject({ code: "allowed_rule" });
    const core = callerOf(CORE, { frames: [frame(CORE)], credential: "host" });
    expect(await service.check(core, ask(read("/srv/other")))).toMatchObject({ code: "allowed_rule" });
  });

  it("is allowed_mode in bypass until its end, and bypass needs an end", async () => {
    const clock = new TestClock();
    fixture = await openFixture({ clock });
    const { service } = fixture;
    expect(await service.setMode(adminOf(), { mode: "bypass" })).toMatchObject({
      ok: false,
      code: "invalid_operation",
    });
    const expiresAtMs = clock.atMs + 60_000;
    expect(await service.setMode(adminOf(), { mode: "bypass", expiresAtMs })).toMatchObject({ ok: true });
    expect(await service.check(callerOf(), ask(UNKNOWN))).toMatchObject({ code: "allowed_mode" });
    clock.step(60_000);
    expect(await service.check(callerOf(), ask(UNKNOWN))).toMatchObject({ code: "approval_required" });
  });

  it("is not allowed_mode for a caller that brings bypass along", async () => {
    fixture = await openFixture();
    const bypass = callerOf(READER, { mode: "bypass", modeExpiresAtMs: Number.MAX_SAFE_INTEGER });
    expect(await fixture.service.check(bypass, ask(UNKNOWN))).toMatchObject({ code: "approval_required" });
  });

  it("is allowed_mode and sandboxed where an undecided action runs confined", async () => {
    fixture = await openFixture();
    const confined = callerOf(READER, { mode: "on_failure", confined: true });
    const check = await fixture.service.check(confined, ask(UNKNOWN));
    expect(check).toMatchObject({ code: "allowed_mode", allowed: true, decision: { decision: "sandboxed" } });
  });

  it("is resource_disabled for what was denied, with nothing registered again", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const first = await service.check(callerOf(), ask(UNKNOWN));
    const denied = await service.deny(adminOf(), await shown(service, first.requestId), {
      reason: "no need",
    });
    expect(denied).toMatchObject({ ok: true, settled: [first.requestId] });
    const check = await service.check(callerOf(), ask(UNKNOWN));
    expect(check).toMatchObject({ code: "resource_disabled", requiresApproval: false });
    expect(check.message).toContain("do not retry");
    const pending = await service.list.requests(adminOf(), { status: "pending" });
    expect(pending.rows).toEqual([]);
  });

  it("is denied_rule for a blocked target even where it is declared", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const declared = receive("https://declared.example.com/x");
    expect(await service.block(adminOf(), { subject: READER, access: declared })).toMatchObject({ ok: true });
    expect(await service.check(callerOf(), ask(declared))).toMatchObject({ code: "denied_rule" });
  });

  it("is denied_rule for the service's own folder, whatever was approved", async () => {
    fixture = await openFixture({ setup: true });
    const { service, folder } = fixture;
    const own = read(`${folder}/store.db`);
    await service.approvePermanently(adminOf(), { subject: SYSTEM, access: own });
    expect(await service.check(callerOf(SYSTEM), ask(own))).toMatchObject({
      code: "denied_rule",
      decision: { decisionSource: "builtin_rule" },
    });
  });

  it("is denied_mode where the mode refuses, and nothing is registered", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    for (const mode of ["never", "on_request", "on_failure"] as const) {
      const check = await service.check(callerOf(READER, { mode }), ask(UNKNOWN));
      expect(check).toMatchObject({ code: "denied_mode" });
    }
    expect((await service.list.requests(adminOf())).rows).toEqual([]);
    const explicit = ask(UNKNOWN, { registerRequest: true });
    expect(await service.check(callerOf(READER, { mode: "on_request" }), explicit)).toMatchObject({
      code: "approval_required",
    });
  });

  it("is invalid_target and invalid_operation for what cannot be checked", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const requested = { type: "network", operation: "receive", target: "ftp://x" };
    const badTarget = fault("invalid_target", "target", "scheme must be http");
    const badOperation = fault("invalid_operation", "operation", "operation must be receive");
    for (const bad of [badTarget, badOperation]) {
      const check = await service.check(callerOf(), {
        access: bad,
        requested,
        attestedBy: "service",
        enforced: false,
      });
      expect(check).toMatchObject({ code: bad.code, allowed: false, requiresApproval: false });
    }
  });

  it("is subject_not_active for a named subject that is not on the chain", async () => {
    fixture = await openFixture();
    const check = await fixture.service.check(callerOf(), ask(UNKNOWN, { named: SYSTEM }));
    expect(check).toMatchObject({ code: "subject_not_active" });
  });

  it("is no_subject where nobody acts", async () => {
    fixture = await openFixture();
    const check = await fixture.service.check(callerOf(READER, { frames: [] }), ask(UNKNOWN));
    expect(check).toMatchObject({ code: "no_subject" });
  });

  it("is request_limit once a subject has too many open requests, and others are not touched by it", async () => {
    fixture = await openFixture({ limits: { pendingMax: 3 } });
    const { service } = fixture;
    const codes: string[] = [];
    for (let index = 0; index < 5; index++) {
      codes.push((await service.check(callerOf(), ask(read(`/srv/flood/${index}`)))).code);
    }
    expect(codes.slice(0, 3)).toEqual(Array(3).fill("approval_required"));
    expect(codes.slice(3)).toEqual(["request_limit", "request_limit"]);
    expect(await service.check(callerOf(), ask(read("/srv/flood/0")))).toMatchObject({
      code: "approval_required",
    });
    expect(await service.check(callerOf(SYSTEM), ask(read("/srv/other")))).toMatchObject({
      code: "approval_required",
    });
  });

  it("is request_limit for a subject that makes new requests too fast", async () => {
    fixture = await openFixture({ clock: new TestClock(), rate: { burst: 2, perSecond: 1 } });
    const codes: string[] = [];
    for (let index = 0; index < 3; index++) {
      codes.push((await fixture.service.check(callerOf(), ask(read(`/srv/fast/${index}`)))).code);
    }
    expect(codes).toEqual(["approval_required", "approval_required", "request_limit"]);
  });
});
