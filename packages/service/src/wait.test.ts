import { afterEach, describe, expect, it } from "vitest";
import type { CallerContext } from "./caller-context.ts";
import {
  type Fixture,
  type FixtureOptions,
  READER,
  adminOf,
  ask,
  callerOf,
  closeSound,
  eventsOf,
  openFixture,
  receive,
  shown,
} from "./testing/service-fixture.ts";

const TARGET = receive("https://unknown.example.com/a");
const LONG = { timeoutMs: 60_000 };

let fixture: Fixture;
afterEach(() => closeSound(fixture));

/** The only pending request, once it is there. */
async function pendingId(): Promise<string> {
  for (;;) {
    const { rows } = await fixture.service.list.requests(adminOf(), { status: "pending" });
    if (rows[0] !== undefined) return rows[0].id;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function open(changes: FixtureOptions = {}): Promise<Fixture["service"]> {
  fixture = await openFixture(changes);
  return fixture.service;
}

const waiting = (
  caller: CallerContext = callerOf(),
  wait: { timeoutMs: number; signal?: AbortSignal } = LONG,
) => fixture.service.check(caller, ask(TARGET, { wait, enforced: true, attestedBy: "guard" }));

describe("a caller that waits", () => {
  it("goes on when its request is approved", async () => {
    const service = await open();
    const check = waiting();
    await service.approveForSession(adminOf(), await shown(service, await pendingId()));
    expect(await check).toMatchObject({ allowed: true, code: "allowed_session" });
  });

  it("goes on with an approval for one use, and spends it", async () => {
    const service = await open();
    const check = waiting();
    await service.approvePermanently(adminOf(), await shown(service, await pendingId()), { maxUses: 1 });
    expect(await check).toMatchObject({ allowed: true, code: "allowed_permanent" });
    expect((await service.list.approvals(adminOf())).rows).toMatchObject([{ uses: 1 }]);
  });

  it("is told when it is denied", async () => {
    const service = await open();
    const check = waiting();
    await service.deny(adminOf(), await shown(service, await pendingId()));
    expect(await check).toMatchObject({ allowed: false, code: "resource_disabled" });
  });

  it("times out with an outcome of its own while the request stays open", async () => {
    const service = await open();
    const check = await waiting(callerOf(), { timeoutMs: 1 });
    expect(check).toMatchObject({
      allowed: false,
      requiresApproval: false,
      code: "approval_timeout",
      decision: { decision: "denied", decisionSource: "timeout" },
    });
    expect(await service.list.request(adminOf(), check.requestId ?? "")).toMatchObject({ status: "pending" });
    const resolved = (await eventsOf(fixture)).filter(({ type }) => type === "permission.resolved");
    expect(resolved).toMatchObject([{ code: "approval_timeout", requestId: check.requestId }]);
    expect((JSON.parse(resolved[0]?.body ?? "") as Resolved).data.resolution).toBe("timed_out");
  });

  it("may stop waiting", async () => {
    const service = await open();
    const abort = new AbortController();
    const check = waiting(callerOf(), { ...LONG, signal: abort.signal });
    const id = await pendingId();
    abort.abort();
    expect(await check).toMatchObject({ code: "approval_required", requestId: id });
    expect(await service.list.request(adminOf(), id)).toMatchObject({ status: "pending" });
  });

  it("does not wait where nobody can be asked, and its request is there all the same", async () => {
    await open();
    const check = await waiting(callerOf(READER, { interactive: false }));
    expect(check).toMatchObject({ code: "approval_required", requestId: await pendingId() });
  });

  it("is cancelled with its session", async () => {
    const service = await open();
    const check = waiting();
    await pendingId();
    await service.endSession(adminOf(), { organizationId: 7, userId: 21, sessionKey: "sess-21" });
    expect(await check).toMatchObject({ allowed: false, code: "approval_timeout" });
  });

  it("waits together with others, and all wake", async () => {
    const service = await open();
    const checks = Array.from({ length: 20 }, () => waiting());
    const id = await pendingId();
    while ((await service.list.request(adminOf(), id))?.count !== 20);
    await service.approveForSession(adminOf(), await shown(service, id));
    expect(new Set((await Promise.all(checks)).map(({ code }) => code))).toEqual(
      new Set(["allowed_session"]),
    );
  });
});

describe("a caller that waits with a resume action", () => {
  const required = (timeoutMs: number) => ({
    ...ask(TARGET, { wait: { timeoutMs } }),
    resumeAction: "demo.resume",
    resumeContext: { page: 3 },
  });
  const runs: unknown[] = [];
  const openWithAction = async (waiterGraceMs = 0) => {
    runs.length = 0;
    const service = await open({ limits: { waiterGraceMs } });
    fixture.actions.register({
      name: "demo.resume",
      module: "demo",
      handler: (context) => void runs.push(context),
    });
    return service;
  };
  const drain = async (): Promise<void> => {
    while ((await fixture.service.executor.runDue()) > 0);
  };

  it("takes the approval itself: its job leaves it the first word", async () => {
    const service = await openWithAction(5000);
    const check = service.require(callerOf(), required(60_000));
    await service.approveForSession(adminOf(), await shown(service, await pendingId()));
    expect(await check).toMatchObject({ code: "allowed_session" });
    const [job] = (await service.list.jobs(adminOf())).rows;
    expect((job?.nextAtMs ?? 0) - (job?.createdMs ?? 0)).toBe(5000);
    expect(await service.executor.runDue()).toBe(0);
    expect(runs).toEqual([]);
  });

  it("is not followed by its job", async () => {
    const service = await openWithAction();
    const check = service.require(callerOf(), required(60_000));
    await service.approveForSession(adminOf(), await shown(service, await pendingId()));
    expect(await check).toMatchObject({ code: "allowed_session" });
    await drain();
    expect(runs).toEqual([]);
    expect((await service.list.jobs(adminOf())).rows).toMatchObject([{ state: "done" }]);
  });

  it("leaves the work to its job when it gave up before", async () => {
    const service = await openWithAction();
    expect(await service.require(callerOf(), required(1))).toMatchObject({ code: "approval_timeout" });
    await service.approveForSession(adminOf(), await shown(service, await pendingId()));
    await drain();
    expect(runs).toEqual([{ page: 3 }]);
  });

  it("either goes on itself or leaves it to the job, and never both", async () => {
    const service = await openWithAction();
    const outcomes = new Set<string>();
    for (let round = 0; round < 40; round++) {
      runs.length = 0;
      const target = receive(`https://unknown.example.com/${round}`);
      const check = service.require(callerOf(), { ...required(60_000), access: target });
      const approval = service.approveForSession(adminOf(), await shown(service, await pendingId()));
      if (round % 2 === 0) await approval;
      await Promise.all([approval, drain(), drain()]);
      const { allowed } = await check;
      await drain();
      expect([allowed, runs.length]).toEqual(allowed ? [true, 0] : [false, 1]);
      outcomes.add(allowed ? "waiter" : "job");
    }
    expect(outcomes).toContain("waiter");
  });
});

describe("waiting for a request by its id", () => {
  it("is for whoever made it, and tells nobody else that it exists", async () => {
    const service = await open();
    const { requestId = "" } = await service.check(callerOf(), ask(TARGET));
    for (const other of [{ organizationId: null }, { sessionKey: null }, { user: null }]) {
      expect(await service.wait(callerOf(READER, other), requestId, LONG)).toEqual({ outcome: "not_found" });
    }
    expect(await service.wait(callerOf(), "request-none", LONG)).toEqual({ outcome: "not_found" });
    expect(await service.wait(callerOf(READER, { interactive: false }), requestId, LONG)).toEqual({
      outcome: "not_interactive",
    });
    expect(await service.wait(callerOf(), requestId, { timeoutMs: 1 })).toEqual({ outcome: "timed_out" });
    const aborted = AbortSignal.abort();
    expect(await service.wait(callerOf(), requestId, { ...LONG, signal: aborted })).toEqual({
      outcome: "cancelled",
    });
    const waited = service.wait(callerOf(), requestId, LONG);
    await service.deny(adminOf(), await shown(service, requestId));
    expect(await waited).toEqual({ outcome: "denied" });
  });
});

interface Resolved {
  readonly data: { readonly resolution: string };
}
