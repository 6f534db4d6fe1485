import { afterEach, describe, expect, it } from "vitest";
import { CountingStore } from "./testing/counting-store.ts";
import { FaultyStore } from "./testing/faulty-store.ts";
import {
  DEMO,
  type Fixture,
  type FixtureOptions,
  READER,
  TestClock,
  adminOf,
  ask,
  callerOf,
  closeSound,
  openFixture,
  read,
  receive,
  shown,
} from "./testing/service-fixture.ts";

const TARGET = receive("https://unknown.example.com/a");
const NEVER_MS = 3_600_000;

let fixture: Fixture;
let store: CountingStore;
afterEach(() => closeSound(fixture));

async function open(changes: FixtureOptions = {}): Promise<Fixture["service"]> {
  fixture = await openFixture({
    repeatAgeMs: NEVER_MS,
    wrap: (real) => (store = new CountingStore(real)),
    ...changes,
  });
  fixture.actions.register({ name: "demo.resume", module: "demo", handler: () => undefined });
  return fixture.service;
}

const counts = async () => (await fixture.service.list.requests(adminOf())).rows.map(({ count }) => count);

describe("attack: a subject that repeats one request", () => {
  it("does not slow the others: however often it asks, it costs the store one write and one count", async () => {
    const service = await open({ rate: { burst: 2, perSecond: 0.000_001 } });
    const before = store.writes;
    const first = await service.check(callerOf(), ask(TARGET));
    for (let index = 0; index < 500; index++) {
      expect(await service.check(callerOf(), ask(TARGET))).toMatchObject({
        code: "approval_required",
        requestId: first.requestId,
      });
    }
    expect(store.writes - before).toBe(1);
    expect(await service.check(callerOf(DEMO), ask(TARGET))).toMatchObject({ code: "approval_required" });
    expect(store.writes - before).toBe(2);
    expect(new Set(await counts())).toEqual(new Set([1, 501]));
    expect(store.writes - before).toBe(3);
  });

  it("all at once is one write too", async () => {
    const service = await open({ rate: { burst: 1, perSecond: 0.000_001 } });
    const before = store.writes;
    const checks = await Promise.all(
      Array.from({ length: 300 }, () => service.check(callerOf(), ask(TARGET))),
    );
    expect(new Set(checks.map(({ requestId }) => requestId)).size).toBe(1);
    expect(store.writes - before).toBe(1);
    expect(await counts()).toEqual([300]);
  });

  it("as a real operation is one violation and a count, not a row each time", async () => {
    const service = await open();
    const before = store.writes;
    const operation = ask(TARGET, { attestedBy: "guard", enforced: true });
    for (let index = 0; index < 50; index++) await service.check(callerOf(), operation);
    expect(store.writes - before).toBe(1);
  });

  it("with a continuation each time runs into its rate, and into the bound of one request", async () => {
    const required = { ...ask(TARGET), resumeAction: "demo.resume" };
    let service = await open({ rate: { burst: 3, perSecond: 0.000_001 } });
    const codes = [];
    for (let index = 0; index < 5; index++) codes.push((await service.require(callerOf(), required)).code);
    const asked = ["approval_required", "approval_required", "approval_required"];
    expect(codes).toEqual([...asked, "request_limit", "request_limit"]);
    await fixture.close();
    service = await open({ limits: { continuationsMax: 3 } });
    codes.length = 0;
    for (let index = 0; index < 4; index++) codes.push((await service.require(callerOf(), required)).code);
    expect(codes).toEqual([...asked, "request_limit"]);
    expect(await service.check(callerOf(), ask(TARGET))).toMatchObject({ code: "approval_required" });
    const { rows } = await service.list.requests(adminOf());
    await service.approvePermanently(adminOf(), await shown(service, rows[0]?.id));
    expect((await service.list.jobs(adminOf())).rows).toHaveLength(3);
  });
});

describe("repeats that are counted in memory", () => {
  it("are written by themselves after a short while, as one", async () => {
    const service = await open({ repeatAgeMs: 20 });
    const { requestId } = await service.check(callerOf(), ask(TARGET));
    for (let index = 0; index < 9; index++) await service.check(callerOf(), ask(TARGET));
    const stored = () => store.real.read(async (tx) => (await tx.requests.get(requestId ?? ""))?.count);
    await expect.poll(stored).toBe(10);
  });

  it("are not lost when the service stops, nor by a store that fails meanwhile", async () => {
    let faulty: FaultyStore | undefined;
    fixture = await openFixture({
      repeatAgeMs: NEVER_MS,
      batchAgeMs: 1,
      wrap: (real) => (faulty = new FaultyStore(real)),
    });
    const { service } = fixture;
    const { requestId } = await service.check(callerOf(), ask(TARGET));
    await service.check(callerOf(), ask(TARGET));
    if (faulty === undefined) throw new Error("no store");
    faulty.failsWrites = true;
    await expect(service.sweep()).rejects.toThrow(/disk is full/);
    expect(await service.list.request(adminOf(), requestId ?? "")).toMatchObject({ count: 1 });
    faulty.failsWrites = false;
    await service.stop();
    const stored = await faulty.real.read((tx) => tx.requests.get(requestId ?? ""));
    expect(stored).toMatchObject({ count: 2, status: "pending" });
  });

  it("count for a request that was decided meanwhile, and never make it pending again", async () => {
    const service = await open();
    const { requestId } = await service.check(callerOf(), ask(TARGET));
    const seen = await shown(service, requestId);
    for (let index = 0; index < 4; index++) await service.check(callerOf(), ask(TARGET));
    await service.deny(adminOf(), seen);
    expect(await service.check(callerOf(), ask(TARGET))).toMatchObject({ code: "resource_disabled" });
    expect(await service.list.request(adminOf(), requestId ?? "")).toMatchObject({
      count: 5,
      status: "denied",
    });
  });

  it("never name a request that a decision or its end has settled", async () => {
    const clock = new TestClock();
    const service = await open({ clock, limits: { requestTtlMs: 1000 } });
    const { requestId } = await service.check(callerOf(), ask(TARGET));
    const decision = await service.approvePermanently(adminOf(), await shown(service, requestId));
    const id = decision.ok ? (decision.approval?.id ?? "") : "";
    await service.revokeApproval(adminOf(), { id });
    const again = await service.check(callerOf(), ask(TARGET));
    expect(again).toMatchObject({ code: "approval_required" });
    expect(again.requestId).not.toBe(requestId);
    clock.step(1000);
    await service.sweep();
    const third = await service.check(callerOf(), ask(TARGET));
    expect(third.requestId).not.toBe(again.requestId);
  });

  it("are told apart by every field of who asks and for what", async () => {
    const service = await open();
    const callers = [
      callerOf(),
      callerOf(DEMO),
      callerOf(READER, { organizationId: "7" }),
      callerOf(READER, { user: { id: "21", roles: [], accessLevel: null } }),
      callerOf(READER, { sessionKey: "sess-22" }),
    ];
    const ids = new Set();
    for (const caller of [...callers, ...callers])
      ids.add((await service.check(caller, ask(TARGET))).requestId);
    ids.add((await service.check(callerOf(), ask(read("/srv/a")))).requestId);
    expect(ids.size).toBe(6);
  });
});
