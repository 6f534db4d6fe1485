import { afterEach, describe, expect, it } from "vitest";
import { FaultyStore } from "./testing/faulty-store.ts";
import {
  type Fixture,
  type FixtureOptions,
  READER,
  access,
  adminOf,
  ask,
  callerOf,
  eventsOf,
  logFaults,
  openFixture,
  receive,
  shown,
} from "./testing/service-fixture.ts";

const UNKNOWN = receive("https://unknown.example.com/a");
const APPROVED = receive("https://approved.example.com/a");
const DENIED = receive("https://denied.example.com/a");
const DECLARED = receive("https://declared.example.com/a");
const DESTRUCTIVE = access("filesystem", "modify", "/srv/declared/x");

let fixture: Fixture;
let store: FaultyStore;
afterEach(async () => {
  store.failsWrites = false;
  store.failsReads = false;
  store.losesAnswers = false;
  expect(await logFaults(fixture)).toEqual([]);
  await fixture.close();
});

async function open(changes: FixtureOptions = {}): Promise<Fixture["service"]> {
  fixture = await openFixture({
    batchAgeMs: 1,
    wrap: (real) => (store = new FaultyStore(real)),
    ...changes,
  });
  const { service } = fixture;
  await service.approvePermanently(adminOf(), { subject: READER, access: APPROVED });
  await service.deny(adminOf(), { subject: READER, access: DENIED });
  return service;
}

const code = async (what: typeof UNKNOWN) => (await fixture.service.check(callerOf(), ask(what))).code;

describe("a store that cannot be written", () => {
  it("makes everything outside the allowlist unavailable, and the allowlist goes on", async () => {
    const service = await open();
    store.failsWrites = true;
    expect(await code(UNKNOWN)).toBe("unavailable");
    expect(await code(APPROVED)).toBe("unavailable");
    expect(await code(DECLARED)).toBe("allowed_sandbox");
    expect(await code(DESTRUCTIVE)).toBe("allowed_sandbox");
    const check = await service.check(callerOf(), ask(UNKNOWN));
    expect(check).toMatchObject({
      allowed: false,
      requiresApproval: false,
      decision: { decision: "unavailable", decisionSource: "fault" },
    });
  });

  it("is over by itself when the store is back, with what waited in the log", async () => {
    const service = await open();
    store.failsWrites = true;
    await code(APPROVED);
    await code(DECLARED);
    expect(service.live).toBe(false);
    store.failsWrites = false;
    await expect.poll(() => service.live).toBe(true);
    expect(await code(APPROVED)).toBe("allowed_permanent");
    expect(await code(UNKNOWN)).toBe("approval_required");
    const codes = (await eventsOf(fixture)).map((event) => event.code);
    expect(codes).toContain("allowed_sandbox");
    expect(codes).toContain("unavailable");
    expect(codes.filter((held) => held === "allowed_permanent")).toHaveLength(1);
  });

  it("still gives a denial as one", async () => {
    await open();
    store.failsWrites = true;
    expect(await code(DENIED)).toBe("resource_disabled");
  });

  it("stops the allowlist too where the host is strict", async () => {
    await open({ strictAudit: true });
    store.failsWrites = true;
    expect(await code(DESTRUCTIVE)).toBe("unavailable");
    expect(await code(DECLARED)).toBe("unavailable");
  });

  it("lets no decision be acknowledged", async () => {
    const service = await open();
    const { requestId } = await service.check(callerOf(), ask(UNKNOWN));
    const seen = await shown(service, requestId);
    store.failsWrites = true;
    await expect(service.approvePermanently(adminOf(), seen)).rejects.toThrow(/disk is full/);
    await expect(service.approvePermanently(adminOf(1, { user: null }), seen)).rejects.toThrow(/may not/);
    store.failsWrites = false;
    expect(await service.list.request(adminOf(), requestId ?? "")).toMatchObject({ status: "pending" });
  });
});

describe("a store whose answer got lost", () => {
  it("leaves a decision that is there, and the same call again says so", async () => {
    const service = await open();
    const { requestId } = await service.check(callerOf(), ask(UNKNOWN));
    const seen = await shown(service, requestId);
    store.losesAnswers = true;
    await expect(service.approvePermanently(adminOf(), seen)).rejects.toThrow(/disk is full/);
    store.losesAnswers = false;
    expect(await service.approvePermanently(adminOf(), seen)).toMatchObject({ ok: true, repeated: true });
    expect(await code(UNKNOWN)).toBe("allowed_permanent");
  });
});

describe("a store that cannot be read", () => {
  it("leaves a view that is known to be old without approvals", async () => {
    const service = await open();
    store.failsReads = true;
    const denial = await service.deny(adminOf(), { subject: READER, access: APPROVED });
    expect(denial).toMatchObject({ ok: true });
    expect(await code(APPROVED)).toBe("unavailable");
    expect(await code(DECLARED)).toBe("allowed_sandbox");
    store.failsReads = false;
    expect(await code(APPROVED)).toBe("resource_disabled");
  });
});

describe("a job that was faster than its waiter", () => {
  it("does the work, and the waiter does not", async () => {
    const service = await open({ limits: { waiterGraceMs: 0 } });
    fixture.actions.register({ name: "demo.resume", module: "demo", handler: () => undefined });
    const wait = { timeoutMs: 60_000 };
    const check = service.require(callerOf(), { ...ask(UNKNOWN, { wait }), resumeAction: "demo.resume" });
    await expect.poll(async () => (await service.list.requests(adminOf())).rows.length).toBe(1);
    const { rows } = await service.list.requests(adminOf());
    const seen = await shown(service, rows[0]?.id);
    store.closeReads();
    const approval = service.approveForSession(adminOf(), seen);
    const claim = {
      owner: "node-b",
      nowMs: Date.now() + 1000,
      leaseMs: 60_000,
      limit: 1,
      actions: ["demo.resume"],
    };
    await expect
      .poll(async () => (await store.real.transaction((tx) => tx.jobs.claim(claim))).length)
      .toBe(1);
    store.openReads();
    await approval;
    expect(await check).toMatchObject({ allowed: false });
    expect((await check).message).toContain("its resume action goes on with the work");
  });
});
