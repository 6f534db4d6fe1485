import { PermissionError } from "@sallyport/contract";
import { afterEach, describe, expect, it } from "vitest";
import type { CallerContext } from "./caller-context.ts";
import type { Decision } from "./decision-request.ts";
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

const TARGET = receive("https://unknown.example.com/v1/a?b=1");
const code = async (caller: CallerContext, what = TARGET) =>
  (await fixture.service.check(caller, ask(what, { registerRequest: false }))).code;

/** Even. More of them with the environment variable. */
const ROUNDS = Number(process.env["SALLYPORT_RACE_ROUNDS"] ?? 400);

let fixture: Fixture;
afterEach(() => closeSound(fixture));

async function requested(caller: CallerContext = callerOf(), what = TARGET): Promise<string> {
  const { requestId } = await fixture.service.check(caller, ask(what));
  if (requestId === undefined) throw new Error("nothing was registered");
  return requestId;
}

describe("a session approval", () => {
  it("holds for organization, user and key together, and for nobody else", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const answer = await service.approveForSession(adminOf(), await shown(service, await requested()));
    expect(answer).toMatchObject({
      ok: true,
      approval: { scope: "session", organizationId: 7, userId: 21, sessionKey: "sess-21", match: "exact" },
    });
    expect(await code(callerOf())).toBe("allowed_session");
    for (const other of [
      { organizationId: 8 },
      { organizationId: null },
      { user: { id: "21", roles: [], accessLevel: null } },
      { user: null },
      { sessionKey: "sess-22" },
      { sessionKey: null },
    ]) {
      expect(await code(callerOf(READER, other))).toBe("approval_required");
    }
    expect(await code(callerOf(SYSTEM))).toBe("approval_required");
  });

  it("needs a pending request of that session, with a key of its own", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const session = { organizationId: 7, userId: 21, sessionKey: "sess-21" };
    const ahead = { subject: READER, access: TARGET, session };
    expect(await service.approveForSession(adminOf(), ahead)).toMatchObject({ code: "not_found" });
    const keyless = await requested(callerOf(READER, { sessionKey: "" }));
    expect(await service.approveForSession(adminOf(), await shown(service, keyless))).toMatchObject({
      code: "session_key_required",
    });
    const seen = await shown(service, await requested());
    expect(await service.approveForSession(adminOf(), seen, { sessionKey: "sess-22" })).toMatchObject({
      code: "session_key_required",
    });
    expect(await service.approveForSession(adminOf(), ahead, { sessionKey: "sess-21" })).toMatchObject({
      ok: true,
    });
    expect(await service.approvePermanently(adminOf(), await shown(service, keyless))).toMatchObject({
      ok: true,
    });
  });

  it("suspends a wider denial for that session only", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const inside = read("/srv/folder/x");
    await service.approveForSession(adminOf(), await shown(service, await requested(callerOf(), inside)));
    const widen = { match: "directory", target: "/srv/folder" } as const;
    expect(await service.deny(adminOf(), { subject: READER, access: inside }, { widen })).toMatchObject({
      ok: true,
      denial: { match: "directory", resource: { target: "/srv/folder" } },
    });
    expect(await code(callerOf(), inside)).toBe("allowed_session");
    expect(await code(callerOf(READER, { sessionKey: "sess-22" }), inside)).toBe("resource_disabled");
    expect(await code(callerOf(), read("/srv/folder/y"))).toBe("resource_disabled");
  });

  it("ends with its session, whose key is never used again", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const session = { organizationId: 7, userId: 21, sessionKey: "sess-21" };
    await service.approveForSession(adminOf(), await shown(service, await requested()));
    const open = await requested(callerOf(), read("/srv/open"));
    const host = callerOf(CORE, { frames: [frame(CORE)], user: null, credential: "host" });
    expect(await service.endSession(host, session)).toMatchObject({ ok: true, repeated: false });
    expect(await service.endSession(host, session)).toMatchObject({ ok: true, repeated: true });
    expect(await service.list.request(adminOf(), open)).toMatchObject({ status: "cancelled" });
    expect((await service.list.approvals(adminOf())).rows).toEqual([]);
    const again = await service.check(callerOf(), ask(TARGET));
    expect(again).toMatchObject({ code: "approval_required" });
    expect(again.requestId).toBeUndefined();
    expect(again.message).toContain("this session has ended");
    await expect(service.endSession(callerOf(), session)).rejects.toThrow(PermissionError);
  });
});

describe("a permanent approval", () => {
  it("may be given ahead, replaces the one before, and removes a denial", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const ahead = { subject: READER, access: TARGET };
    await service.deny(adminOf(), ahead);
    const first = await service.approvePermanently(adminOf(), ahead);
    expect(await code(callerOf())).toBe("allowed_permanent");
    const second = await service.approvePermanently(adminOf(2), ahead, { maxUses: 5 });
    expect(first).toMatchObject({ ok: true, approval: { maxUses: null } });
    expect(second).toMatchObject({ ok: true, approval: { maxUses: 5 } });
    expect((await service.list.approvals(adminOf())).rows).toHaveLength(1);
    expect((await service.list.denials(adminOf())).rows).toEqual([]);
  });

  it("settles every pending request that it covers, in every session, and a session approval only its own", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const other = receive("https://unknown.example.com/v1/other");
    const outside = receive("https://unknown.example.com/v2/");
    const ids = [
      await requested(),
      await requested(callerOf(READER, { sessionKey: "sess-22" })),
      await requested(callerOf(READER, { sessionKey: null }), other),
    ];
    const uncovered = await requested(callerOf(), outside);
    const widen = { match: "path_prefix", target: "https://unknown.example.com/v1/" } as const;
    const answer = await service.approvePermanently(adminOf(), await shown(service, ids[0]), { widen });
    expect(answer).toMatchObject({ ok: true, approval: { match: "path_prefix" } });
    expect([...(answer as Extract<Decision, { ok: true }>).settled].toSorted()).toEqual(ids.toSorted());
    expect(await service.list.request(adminOf(), uncovered)).toMatchObject({ status: "pending" });
    const session = [
      await requested(callerOf(), read("/srv/a")),
      await requested(callerOf(READER, { sessionKey: "sess-22" }), read("/srv/a")),
    ];
    expect(await service.approveForSession(adminOf(), await shown(service, session[0]))).toMatchObject({
      settled: [session[0]],
    });
  });

  it("is refused where its widening does not cover the request or does not fit", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const seen = await shown(service, await requested());
    for (const widen of [
      { match: "path_prefix", target: "https://unknown.example.com/v2/" },
      { match: "path_prefix", target: "https://unknown.example.com/v1/a" },
      { match: "directory", target: "https://unknown.example.com/v1/" },
      { match: "origin", target: "https://other.example.com/" },
      { match: "exact", target: "not a url" },
    ] as const) {
      expect(await service.approvePermanently(adminOf(), seen, { widen })).toMatchObject({
        ok: false,
        code: "invalid_target",
      });
    }
    expect((await service.list.approvals(adminOf())).rows).toEqual([]);
  });

  it("is refused with limits that are none", async () => {
    const clock = new TestClock();
    fixture = await openFixture({ clock });
    const seen = await shown(fixture.service, await requested());
    for (const words of [
      { maxUses: 0 },
      { maxUses: 1.5 },
      { expiresAtMs: clock.atMs },
      { expiresAtMs: NaN },
    ]) {
      expect(await fixture.service.approvePermanently(adminOf(), seen, words)).toMatchObject({
        code: "invalid_operation",
      });
    }
  });
});

describe("a denial", () => {
  it("removes the tuple's approvals in every session, and holds until it is revoked", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    await service.approveForSession(adminOf(), await shown(service, await requested()));
    await service.approvePermanently(adminOf(), { subject: READER, access: TARGET });
    const answer = await service.deny(adminOf(), { subject: READER, access: TARGET });
    expect((await service.list.approvals(adminOf())).rows).toEqual([]);
    expect(await code(callerOf())).toBe("resource_disabled");
    const id = (answer as Extract<Decision, { ok: true }>).denial?.id ?? "";
    expect(await service.revokeDenial(adminOf(), { id })).toMatchObject({ ok: true, repeated: false });
    expect(await service.revokeDenial(adminOf(), { id })).toMatchObject({ ok: true, repeated: true });
    expect(await code(callerOf())).toBe("approval_required");
  });

  it("beats a widened approval where it is exact", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const widen = { match: "origin", target: "https://unknown.example.com/" } as const;
    await service.approvePermanently(adminOf(), { subject: READER, access: TARGET }, { widen });
    await service.deny(adminOf(), { subject: READER, access: TARGET });
    expect(await code(callerOf())).toBe("resource_disabled");
    expect(await code(callerOf(), receive("https://unknown.example.com/v1/b"))).toBe("allowed_permanent");
  });
});

describe("deciding twice", { timeout: 120_000 + ROUNDS * 100 }, () => {
  it("gives the same person the same answer, and somebody else who was first", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const seen = await shown(service, await requested());
    const first = await service.approvePermanently(adminOf(1), seen);
    const again = await service.approvePermanently(adminOf(1), seen);
    expect(again).toMatchObject({ ok: true, repeated: true });
    expect((again as typeof first & { approval: unknown }).approval).toEqual(
      (first as typeof first & { approval: unknown }).approval,
    );
    expect(await service.approvePermanently(adminOf(2), seen)).toMatchObject({
      ok: false,
      code: "already_decided",
      decidedBy: 1,
      status: "approved_permanent",
    });
    expect(await service.deny(adminOf(1), seen)).toMatchObject({ ok: false, code: "already_decided" });
    const ahead = { subject: READER, access: read("/srv/ahead") };
    await service.deny(adminOf(1), ahead);
    expect(await service.deny(adminOf(1), ahead)).toMatchObject({ ok: true, repeated: true });
    expect(await service.block(adminOf(1), ahead)).toMatchObject({ ok: true, repeated: false });
    expect(await service.block(adminOf(1), ahead)).toMatchObject({ ok: true, repeated: true });
  });

  it("at the same time has one winner and one clear answer, however often", async () => {
    fixture = await openFixture({ limits: { pendingMax: 10_000 } });
    const { service } = fixture;
    const winners = { approve: 0, deny: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      const what = read(`/srv/race/${round}`);
      const seen = await shown(service, await requested(callerOf(), what));
      const calls = [
        () => service.approvePermanently(adminOf(1), seen),
        () => service.deny(adminOf(2), seen),
      ];
      if (round % 2 === 1) calls.reverse();
      const answers = await Promise.all(calls.map((call) => call()));
      if (round % 2 === 1) answers.reverse();
      const [approved, denied] = answers as [Decision, Decision];
      const [winner, loser] = approved.ok ? [approved, denied] : [denied, approved];
      if (!winner.ok || loser.ok) throw new Error(`round ${round} has not one winner`);
      winners[approved.ok ? "approve" : "deny"] += 1;
      expect(loser).toMatchObject({ code: "already_decided", decidedBy: approved.ok ? 1 : 2 });
      expect(await code(callerOf(), what)).toBe(approved.ok ? "allowed_permanent" : "resource_disabled");
    }
    expect(winners).toEqual({ approve: ROUNDS / 2, deny: ROUNDS / 2 });
  });
});

describe("what was shown", () => {
  it("is what is decided: a request that changed meanwhile is refused", async () => {
    fixture = await openFixture();
    const { service, actions } = fixture;
    actions.register({ name: "demo.resume", module: "demo", handler: () => undefined });
    const requestId = await requested();
    const seen = await shown(service, requestId);
    const required = { ...ask(TARGET), resumeAction: "demo.resume", resumeContext: { a: 1 } };
    expect(await service.require(callerOf(), required)).toMatchObject({ requestId });
    for (const digest of [seen.digest, "", "0".repeat(64)]) {
      expect(await service.approvePermanently(adminOf(), { requestId, digest })).toMatchObject({
        ok: false,
        code: "digest_mismatch",
      });
    }
    expect(await service.approvePermanently(adminOf(), await shown(service, requestId))).toMatchObject({
      ok: true,
    });
  });

  it("stays the same while a request is only counted", async () => {
    fixture = await openFixture();
    const requestId = await requested();
    const seen = await shown(fixture.service, requestId);
    await requested();
    expect(await fixture.service.deny(adminOf(), seen)).toMatchObject({ ok: true });
  });
});
