import { afterEach, describe, expect, it } from "vitest";
import { AccessService } from "./access-service.ts";
import type { ResumeRun } from "./actions.ts";
import type { CallerContext } from "./caller-context.ts";
import type { Decided, Decision } from "./decision-request.ts";
import {
  DEMO,
  type Fixture,
  type FixtureOptions,
  READER,
  SYSTEM,
  TestClock,
  adminOf,
  ask,
  callerOf,
  closeSound,
  frame,
  openFixture,
  receive,
  shown,
  subject,
} from "./testing/service-fixture.ts";

const TARGET = receive("https://unknown.example.com/a");
const LIMITS = { jobLeaseMs: 30_000, backoffMs: 1000, backoffMaxMs: 60_000, attemptsMax: 3 };

let fixture: Fixture;
let clock: TestClock;
let runs: { readonly context: unknown; readonly run: ResumeRun }[];
let failing: Error | null;

afterEach(() => closeSound(fixture));

async function open(changes: FixtureOptions = {}): Promise<AccessService> {
  clock = new TestClock();
  runs = [];
  failing = null;
  fixture = await openFixture({ clock, limits: LIMITS, ...changes });
  fixture.actions.register({
    name: "demo.resume",
    module: "demo",
    handler: (context, run) => {
      runs.push({ context, run });
      if (failing !== null) throw failing;
    },
  });
  return fixture.service;
}

const required = (context: unknown = { page: 3 }) => ({
  ...ask(TARGET),
  resumeAction: "demo.resume",
  resumeContext: context,
});

async function requireAndApprove(caller: CallerContext = callerOf()): Promise<Decided> {
  const { service } = fixture;
  const check = await service.require(caller, required());
  return decided(await service.approveForSession(adminOf(), await shown(service, check.requestId)));
}

function decided(decision: Decision): Decided {
  if (!decision.ok) throw new Error(decision.message);
  return decision;
}

const jobs = async () =>
  (await fixture.service.list.jobs(adminOf(), {}, { limit: 50, order: "oldest" })).rows;

describe("a resume", () => {
  it("attack: another module's action, named from a made-up frame of that module, is refused", async () => {
    const service = await open();
    const other = subject("tool", "other.tool");
    const frames = [frame(other), frame(READER, [], "guarded")];
    const check = await service.require(callerOf(other, { frames }), required());
    expect(check).toMatchObject({ allowed: false, code: "invalid_operation" });
    expect(check.message).toContain("resume action");
    const pending = await service.list.requests(adminOf(), { status: "pending" });
    expect(pending.rows).toEqual([]);
  });

  it("runs as the module that registered the action, for the user who asked, and never for the approver", async () => {
    const service = await open();
    const check = await service.require(callerOf(), required());
    expect(await service.list.request(adminOf(), check.requestId ?? "")).toMatchObject({
      resume: { action: "demo.resume", context: "encrypted" },
    });
    await service.approveForSession(adminOf(), await shown(service, check.requestId));
    expect(await service.executor.runDue()).toBe(1);
    expect(runs).toHaveLength(1);
    expect(runs[0]?.context).toEqual({ page: 3 });
    expect(runs[0]?.run.caller).toMatchObject({
      frames: [{ subject: DEMO, entry: "host", phase: "runtime" }],
      user: { id: 21, roles: [], accessLevel: null },
      organizationId: 7,
      sessionKey: "sess-21",
      taskId: "task-1",
      interactive: false,
      credential: "runtime",
    });
    expect(await jobs()).toMatchObject([{ state: "done", attempts: 1, lastError: null }]);
    expect(await service.executor.runDue()).toBe(0);
  });

  it("has its context sealed in the store", async () => {
    const service = await open();
    const { requestId } = await service.require(callerOf(), required({ secret: "needle" }));
    const [continuation] = await fixture.store.read((tx) => tx.continuations.listOf(requestId ?? ""));
    const bytes = Buffer.from(continuation?.sealedContext ?? []);
    expect(bytes.includes("needle")).toBe(false);
    expect(continuation?.keyId).toMatch(/^[0-9a-f]{16}$/);
  });

  it("is one job for every require, and all of those that the decision covers", async () => {
    const service = await open();
    await service.require(callerOf(), required({ page: 1 }));
    await service.require(callerOf(), required({ page: 2 }));
    const other = callerOf(READER, { sessionKey: "sess-22" });
    const { requestId } = await service.require(other, required({ page: 3 }));
    const decision = await service.approvePermanently(adminOf(), await shown(service, requestId));
    expect(decision).toMatchObject({ ok: true, jobs: 3 });
    await service.executor.runDue();
    expect(runs.map(({ context }) => (context as { page: number }).page).toSorted((a, b) => a - b)).toEqual([
      1, 2, 3,
    ]);
  });

  it("is dropped with a denial", async () => {
    const service = await open();
    const { requestId } = await service.require(callerOf(), required());
    expect(await service.deny(adminOf(), await shown(service, requestId))).toMatchObject({ jobs: 0 });
    expect(await service.executor.runDue()).toBe(0);
    expect(await jobs()).toEqual([]);
  });

  it("is refused for actions of others, for a context without an action and for one that is too large", async () => {
    const service = await open();
    const { actions } = fixture;
    actions.register({ name: "other.resume", module: "other", handler: () => undefined });
    const refused = [
      { ...required(), resumeAction: "other.resume" },
      { ...required(), resumeAction: "nobody.resume" },
      { ...required(), resumeAction: undefined },
      required("x".repeat(16_384)),
      required({ loop: BigInt(1) }),
    ];
    for (const asked of refused) {
      expect(await service.require(callerOf(), asked)).toMatchObject({ code: "invalid_operation" });
    }
    expect(await service.require(callerOf(SYSTEM), required())).toMatchObject({ code: "invalid_operation" });
    expect((await service.list.requests(adminOf())).rows).toEqual([]);
    actions.register({ name: "open.resume", module: "other", handler: () => undefined, openTo: [READER] });
    const opened = { ...required(), resumeAction: "open.resume" };
    expect(await service.require(callerOf(), opened)).toMatchObject({ code: "approval_required" });
  });

  it("takes no action over from another module", async () => {
    await open();
    const taken = { name: "demo.resume", module: "other", handler: () => undefined };
    expect(() => fixture.actions.register(taken)).toThrow(/belongs to module `demo`/);
  });

  it("works without an action as a change of access only", async () => {
    const service = await open();
    const { requestId } = await service.require(callerOf(), ask(TARGET));
    expect(await service.approveForSession(adminOf(), await shown(service, requestId))).toMatchObject({
      jobs: 0,
    });
    expect(await service.require(callerOf(), ask(TARGET))).toMatchObject({ code: "allowed_session" });
  });
});

describe("a resume that fails", () => {
  it("is tried again later and parked in the end, with its last error; a person may retry it", async () => {
    const service = await open();
    await requireAndApprove();
    failing = new Error("the disk is full");
    for (const [attempt, waitMs] of [1000, 2000].entries()) {
      expect(await service.executor.runDue()).toBe(1);
      expect(await jobs()).toMatchObject([{ state: "ready", attempts: attempt + 1 }]);
      clock.step(waitMs - 1);
      expect(await service.executor.runDue()).toBe(0);
      clock.step(1);
    }
    await service.executor.runDue();
    const [parked] = await jobs();
    expect(parked).toMatchObject({ state: "parked", attempts: 3, lastError: "Error: the disk is full" });
    expect(await service.check(callerOf(), ask(TARGET))).toMatchObject({ code: "allowed_session" });
    failing = null;
    expect(await service.retryResume(adminOf(), parked?.id ?? "")).toMatchObject({ repeated: false });
    expect(await service.retryResume(adminOf(), parked?.id ?? "")).toMatchObject({ repeated: true });
    expect(await service.retryResume(adminOf(), "job-none")).toMatchObject({ code: "not_found" });
    await service.executor.runDue();
    expect(await jobs()).toMatchObject([{ state: "done", attempts: 1 }]);
    expect(new Set(runs.map(({ run }) => run.idempotencyKey)).size).toBe(1);
  });

  it("with its executor is taken over once the lease is over, and never before", async () => {
    const service = await open();
    await requireAndApprove();
    const claim = (owner: string) =>
      fixture.store.transaction((tx) =>
        tx.jobs.claim({
          owner,
          nowMs: clock.nowMs(),
          leaseMs: LIMITS.jobLeaseMs,
          limit: 10,
          actions: ["demo.resume"],
        }),
      );
    const [dead] = await claim("node-dead");
    clock.step(LIMITS.jobLeaseMs - 1);
    expect(await service.executor.runDue()).toBe(0);
    clock.step(1);
    expect(await service.executor.runDue()).toBe(1);
    expect(runs).toHaveLength(1);
    const lease = { id: dead?.id ?? "", owner: "node-dead", leaseNumber: dead?.leaseNumber ?? 0 };
    expect(await fixture.store.transaction((tx) => tx.jobs.complete(lease, clock.nowMs()))).toBe(false);
    expect(await jobs()).toMatchObject([{ state: "done", attempts: 2 }]);
  });

  it("by killing its executor every time is parked before it runs again", async () => {
    const service = await open();
    await requireAndApprove();
    for (let death = 0; death < LIMITS.attemptsMax; death++) {
      const claim = {
        owner: "node-dead",
        nowMs: clock.nowMs(),
        leaseMs: 1000,
        limit: 10,
        actions: ["demo.resume"],
      };
      await fixture.store.transaction((tx) => tx.jobs.claim(claim));
      clock.step(1000);
    }
    await service.executor.runDue();
    expect(runs).toEqual([]);
    expect(await jobs()).toMatchObject([
      { state: "parked", lastError: expect.stringContaining("its executor died") },
    ]);
  });

  it("is not run at the same time by two executors", async () => {
    const service = await open();
    await Promise.all(
      Array.from({ length: 20 }, (_, page) => service.require(callerOf(), required({ page }))),
    );
    const { rows } = await service.list.requests(adminOf());
    await service.approvePermanently(adminOf(), await shown(service, rows[0]?.id));
    const second = new AccessService({ ...fixture.options, nodeId: "node-b" });
    await second.start();
    let claimed = 0;
    while (claimed < 20) {
      const [left, right] = await Promise.all([service.executor.runDue(), second.executor.runDue()]);
      claimed += left + right;
    }
    expect(runs.map(({ context }) => (context as { page: number }).page).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, page) => page),
    );
    await second.stop();
  });
});
