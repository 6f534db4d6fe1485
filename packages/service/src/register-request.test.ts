import { fault } from "@sallyport/contract";
import { afterEach, describe, expect, it } from "vitest";
import {
  type Fixture,
  READER,
  SYSTEM,
  TestClock,
  access,
  adminOf,
  ask,
  callerOf,
  closeSound,
  eventsOf,
  frame,
  openFixture,
  receive,
  shown,
} from "./testing/service-fixture.ts";

const UNKNOWN = receive("https://unknown.example.com/a?b=1");

let fixture: Fixture;
afterEach(() => closeSound(fixture));

describe("requests", () => {
  it("are one per tuple, organization, user and session, and are counted", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const checks = [];
    for (let index = 0; index < 5; index++) checks.push(await service.check(callerOf(), ask(UNKNOWN)));
    expect(new Set(checks.map((check) => check.requestId)).size).toBe(1);
    for (const other of [
      { organizationId: 0 },
      { organizationId: null },
      { user: { id: "21", roles: [], accessLevel: null } },
      { sessionKey: "sess-22" },
      { sessionKey: "" },
    ]) {
      await service.check(callerOf(READER, other), ask(UNKNOWN));
    }
    const { rows } = await service.list.requests(adminOf(), {}, { limit: 50, order: "oldest" });
    expect(rows.map(({ count }) => count)).toEqual([5, 1, 1, 1, 1, 1]);
  });

  it("are made once when many ask at the same time", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const checks = await Promise.all(
      Array.from({ length: 50 }, () => service.check(callerOf(), ask(UNKNOWN))),
    );
    expect(new Set(checks.map((check) => check.requestId)).size).toBe(1);
    expect((await service.list.requests(adminOf())).rows).toMatchObject([{ count: 50 }]);
  });

  it("attack: in a made-up name they spend neither the rate nor the room of whom they name", async () => {
    const clock = new TestClock();
    fixture = await openFixture({ clock, limits: { pendingMax: 4 }, rate: { burst: 3, perSecond: 1 } });
    const { service } = fixture;
    const frames = [frame(SYSTEM, ["contract-demo"]), frame(READER, [], "guarded")];
    const madeUp = callerOf(SYSTEM, { frames });
    const codes: string[] = [];
    for (let index = 0; index < 6; index++) {
      codes.push((await service.check(madeUp, ask(receive(`https://declared.example.com/${index}`)))).code);
      clock.advance(index < 3 ? 0 : 2000);
    }
    expect(codes.slice(0, 2)).toEqual(["approval_required", "approval_required"]);
    expect(codes.slice(2)).toEqual(codes.slice(2).map(() => "request_limit"));
    const { rows } = await service.list.requests(adminOf());
    expect(rows.map((row) => row.subject)).toEqual([READER, READER]);
    const own = await service.check(callerOf(), ask(UNKNOWN));
    expect(own.code).toBe("approval_required");
  });

  it("name the frame that failed, not the convenient one around it", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const nested = callerOf(READER, { frames: [frame(SYSTEM), frame(READER, ["contract-demo"])] });
    const check = await service.check(nested, ask(UNKNOWN));
    expect(await service.list.request(adminOf(), check.requestId ?? "")).toMatchObject({
      subject: READER,
      subjectChain: [{ subject: SYSTEM }, { subject: READER }],
    });
  });

  it("expire as a status of their own", async () => {
    const clock = new TestClock();
    fixture = await openFixture({ clock, limits: { requestTtlMs: 1000 } });
    const { service } = fixture;
    const check = await service.check(callerOf(), ask(UNKNOWN));
    clock.step(999);
    expect(await service.sweep()).toBe(0);
    const seen = await shown(service, check.requestId);
    clock.step(1);
    expect(await service.approvePermanently(adminOf(), seen)).toMatchObject({
      ok: false,
      code: "already_decided",
      status: "expired",
    });
    expect(await service.sweep()).toBe(1);
    expect(await service.list.request(adminOf(), check.requestId ?? "")).toMatchObject({ status: "expired" });
    const again = await service.check(callerOf(), ask(UNKNOWN));
    expect(again.requestId).not.toBe(check.requestId);
  });

  it("show credentials masked, and are still decided on what was asked for", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const secret = receive("https://unknown.example.com/a?token=s3cr3t-value-1234");
    const check = await service.check(callerOf(), ask(secret));
    expect(check.message).not.toContain("s3cr3t");
    const seen = await service.list.request(adminOf(), check.requestId ?? "");
    expect(seen?.resource.target).not.toContain("s3cr3t");
    await service.approvePermanently(adminOf(), await shown(service, check.requestId));
    expect(await service.check(callerOf(), ask(secret))).toMatchObject({ code: "allowed_permanent" });
    for (const { body, target } of await eventsOf(fixture))
      expect(`${body}${target}`).not.toContain("s3cr3t");
  });
});

describe("the log of checks", () => {
  it("has requested, resolved and evaluated events in one chain", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const check = await service.check(callerOf(), ask(UNKNOWN));
    await service.approveForSession(adminOf(), await shown(service, check.requestId));
    await service.check(callerOf(), ask(UNKNOWN));
    expect((await eventsOf(fixture)).map(({ type, code }) => [type, code])).toEqual([
      ["permission.requested", "approval_required"],
      ["permission.resolved", null],
      ["policy.changed", "approve_for_session"],
      ["permission.evaluated", "allowed_session"],
    ]);
  });

  it("counts a blocked check that repeats in one row", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const never = callerOf(READER, { mode: "never" });
    for (let index = 0; index < 10; index++) await service.check(never, ask(UNKNOWN));
    await service.sweep();
    const counts = (await eventsOf(fixture)).map(({ body }) => (JSON.parse(body) as Counted).data.count);
    expect(counts).toEqual([1, 9]);
  });

  it("calls a blocked real operation a violation, and an explicit check none", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const never = callerOf(READER, { mode: "never" });
    await service.check(never, ask(UNKNOWN, { attestedBy: "guard", enforced: true }));
    await service.check(never, ask(UNKNOWN, { attestedBy: "guard", enforced: false }));
    expect((await eventsOf(fixture)).map(({ type }) => type)).toEqual([
      "sandbox.violation",
      "permission.evaluated",
    ]);
  });

  it("keeps a target that no store can hold", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const bad = fault("invalid_target", "target", "target must not contain NUL");
    const requested = { type: "filesystem", operation: "read", target: "/srv/\0\ud800" };
    const check = await service.check(callerOf(READER, { sessionKey: "k" }), {
      access: bad,
      requested,
      attestedBy: "service",
      enforced: false,
    });
    expect(check.code).toBe("invalid_target");
    expect(await eventsOf(fixture)).toHaveLength(1);
  });

  it("records destructive allows before the answer and plain ones soon after", async () => {
    fixture = await openFixture({ batchAgeMs: 60_000 });
    const { service, store } = fixture;
    const stored = () => store.read(async (tx) => (await tx.events.lastOf("node-a"))?.seq ?? 0);
    await service.check(callerOf(), ask(receive("https://declared.example.com/x")));
    expect(await stored()).toBe(0);
    await service.check(
      callerOf(),
      ask(access("filesystem", "modify", "/srv/declared/x"), { enforced: true }),
    );
    expect(await stored()).toBe(2);
  });
});

interface Counted {
  readonly data: { readonly count: number };
}
