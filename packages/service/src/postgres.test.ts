import { type PostgresServer, startPostgres } from "@sallyport/store/testing";
import { openPostgresStore } from "@sallyport/store/postgres";
import type { AccessStore } from "@sallyport/store";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { AccessService } from "./access-service.ts";
import type { Decided, Decision } from "./decision-request.ts";
import {
  type Fixture,
  READER,
  adminOf,
  ask,
  callerOf,
  logFaults,
  openFixture,
  read,
  receive,
  shown,
} from "./testing/service-fixture.ts";

const TARGET = receive("https://unknown.example.com/a");
/** More of them with the environment variable. */
const PAIRS = Number(process.env["SALLYPORT_REVOKE_PAIRS"] ?? 200);
const ROUNDS = Number(process.env["SALLYPORT_RACE_ROUNDS"] ?? 50);
/** WHY: a machine may be slow, and the numbers may be large. */
const LONG = { timeout: 120_000 + (PAIRS + ROUNDS) * 1000 };

let server: PostgresServer;
let fixture: Fixture;
let storeB: AccessStore;
let a: AccessService;
let b: AccessService;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

beforeEach(async () => {
  const url = await server.makeDatabase();
  const storeA = await openPostgresStore({ url });
  storeB = await openPostgresStore({ url });
  fixture = await openFixture({ opened: storeA });
  a = fixture.service;
  b = new AccessService({ ...fixture.options, store: storeB, nodeId: "node-b" });
  await b.start();
});
afterEach(async () => {
  await b.stop();
  expect(await logFaults(fixture)).toEqual([]);
  expect(await a.audit.verify(new Map(), "node-b")).toMatchObject({ ok: true });
  await fixture.close();
  await storeB.close();
});

const codeOn = async (service: AccessService, what = TARGET) =>
  (await service.check(callerOf(), ask(what, { registerRequest: false }))).code;

const decided = (decision: Decision): Decided => {
  if (!decision.ok) throw new Error(decision.message);
  return decision;
};

describe("two nodes on PostgreSQL", LONG, () => {
  it("never allow what was revoked and acknowledged on the other", async () => {
    let stale = 0;
    for (let pair = 0; pair < PAIRS; pair++) {
      const [here, there] = pair % 2 === 0 ? [a, b] : [b, a];
      const what = read(`/srv/revoke/${pair}`);
      const approval = await here.approvePermanently(adminOf(), { subject: READER, access: what });
      const { revision, approval: given } = decided(approval);
      await there.atLeast(revision);
      expect(await codeOn(there, what)).toBe("allowed_permanent");
      await here.revokeApproval(adminOf(), { id: given?.id ?? "" });
      if ((await codeOn(there, what)) === "allowed_permanent") stale += 1;
    }
    expect(stale).toBe(0);
  });

  it("have one winner where both decide the same request", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const what = read(`/srv/race/${round}`);
      const { requestId } = await a.check(callerOf(), ask(what));
      const seen = await shown(a, requestId);
      const [approved, denied] = await Promise.all([
        a.approvePermanently(adminOf(1), seen),
        b.deny(adminOf(2), seen),
      ]);
      expect([approved.ok, denied.ok].filter(Boolean)).toHaveLength(1);
      expect(approved.ok ? denied : approved).toMatchObject({ code: "already_decided" });
      const expected = approved.ok ? "allowed_permanent" : "resource_disabled";
      await Promise.all([a.beat(), b.beat()]);
      expect([await codeOn(a, what), await codeOn(b, what)]).toEqual([expected, expected]);
    }
  });

  it("count the uses of one approval together", async () => {
    const { requestId } = await a.check(callerOf(), ask(TARGET));
    const answer = decided(await a.approvePermanently(adminOf(), await shown(a, requestId), { maxUses: 3 }));
    await b.atLeast(answer.revision);
    const operation = ask(TARGET, { enforced: true, registerRequest: false });
    const checks = await Promise.all(
      Array.from({ length: 30 }, (_, index) => (index % 2 === 0 ? a : b).check(callerOf(), operation)),
    );
    expect(checks.filter(({ allowed }) => allowed)).toHaveLength(3);
  });

  it("make one request of the same question at the same time", async () => {
    const checks = await Promise.all(
      Array.from({ length: 30 }, (_, index) => (index % 2 === 0 ? a : b).check(callerOf(), ask(TARGET))),
    );
    expect(new Set(checks.map(({ requestId }) => requestId)).size).toBe(1);
    await b.sweep();
    expect((await a.list.requests(adminOf())).rows).toMatchObject([{ count: 30 }]);
  });

  it("wake a caller that waits on the other", async () => {
    const waiting = b.check(callerOf(), ask(TARGET, { wait: { timeoutMs: 60_000 } }));
    await expect.poll(async () => (await a.list.requests(adminOf())).rows.length).toBe(1);
    const { rows } = await a.list.requests(adminOf());
    await a.approveForSession(adminOf(), await shown(a, rows[0]?.id));
    expect(await waiting).toMatchObject({ code: "allowed_session" });
  });

  it("run every resume once between them", async () => {
    const runs: unknown[] = [];
    fixture.actions.register({
      name: "demo.resume",
      module: "demo",
      handler: (context) => void runs.push(context),
    });
    const required = { ...ask(TARGET), resumeAction: "demo.resume" };
    for (let page = 0; page < 10; page++)
      await a.require(callerOf(), { ...required, resumeContext: { page } });
    const { rows } = await a.list.requests(adminOf());
    const answer = await a.approvePermanently(adminOf(), await shown(a, rows[0]?.id));
    await b.atLeast(decided(answer).revision);
    await expect
      .poll(async () => {
        await Promise.all([a.executor.runDue(), b.executor.runDue()]);
        return (await a.list.jobs(adminOf(), { state: "done" })).rows.length;
      })
      .toBe(10);
    expect(new Set(runs.map((context) => (context as { page: number }).page)).size).toBe(10);
    expect(runs).toHaveLength(10);
  });

  it("come back by themselves after their connections were cut", async () => {
    await a.approvePermanently(adminOf(), { subject: READER, access: TARGET });
    await server.restart();
    expect(["unavailable", "allowed_permanent"]).toContain(await codeOn(a));
    await expect.poll(() => codeOn(a), { timeout: 20_000 }).toBe("allowed_permanent");
    await expect.poll(() => codeOn(b), { timeout: 20_000 }).toBe("allowed_permanent");
  });
});
