import { setTimeout as delay } from "node:timers/promises";
import { type PostgresServer, startPostgres } from "@sallyport/store/testing";
import { openPostgresStore } from "@sallyport/store/postgres";
import type { AccessStore } from "@sallyport/store";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { AccessService } from "./access-service.ts";
import {
  type Fixture,
  READER,
  adminOf,
  ask,
  callerOf,
  closeSound,
  openFixture,
  read,
  receive,
  shown,
} from "./testing/service-fixture.ts";

const UNKNOWN = receive("https://unknown.example.com/a");
const APPROVED = receive("https://approved.example.com/a");
const DECLARED = receive("https://declared.example.com/a");
const RECOVERY = { timeout: 300_000 };
/** Many times as long as a lease and as a store is waited for. */
const LOCKED_MS = 30_000;

let server: PostgresServer;
let url: string;
let fixture: Fixture;
let service: AccessService;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());
beforeEach(async () => {
  url = await server.makeDatabase();
  const opened = await openPostgresStore({ url, statementTimeoutMs: 200 });
  fixture = await openFixture({ opened, batchAgeMs: 20 });
  fixture.actions.register({ name: "demo.resume", module: "demo", handler: () => undefined });
  ({ service } = fixture);
  await service.approvePermanently(adminOf(), { subject: READER, access: APPROVED });
});
afterEach(() => closeSound(fixture));

const codeOn = async (node: AccessService, what: typeof UNKNOWN) =>
  (await node.check(callerOf(), ask(what))).code;

describe("a database whose tables somebody locks", () => {
  it("is unavailable after a bounded wait, for however many at once, and over when the lock is", async () => {
    const release = await server.hold(url, "lock table request, event in access exclusive mode");
    const checks = await Promise.all(
      Array.from({ length: 30 }, (_, index) => codeOn(service, read(`/srv/locked/${index}`))),
    );
    expect(new Set(checks)).toEqual(new Set(["unavailable"]));
    expect(await codeOn(service, APPROVED)).toBe("unavailable");
    expect(await codeOn(service, DECLARED)).toBe("allowed_sandbox");
    await expect(
      service.approvePermanently(adminOf(), { subject: READER, access: UNKNOWN }),
    ).rejects.toMatchObject({ code: "unavailable" });
    await release();
    await expect.poll(() => codeOn(service, APPROVED), RECOVERY).toBe("allowed_permanent");
    expect(await codeOn(service, UNKNOWN)).toBe("approval_required");
  });

  it("for 30 s, leases and all: unavailable from the first moment to the last, and over by itself", async () => {
    const { rows } = await service.list.approvals(adminOf());
    expect(rows).toHaveLength(1);
    const tables = `request, event, node, approval, denial, counter, change`;
    const release = await server.hold(url, `lock table ${tables} in access exclusive mode`);
    const endMs = performance.now() + LOCKED_MS;
    const seen = new Set<string>();
    let rounds = 0;
    while (performance.now() < endMs) {
      const asked = [UNKNOWN, APPROVED, read(`/srv/locked/${rounds}`)];
      for (const code of await Promise.all(asked.map((what) => codeOn(service, what)))) seen.add(code);
      expect(await codeOn(service, DECLARED)).toBe("allowed_sandbox");
      rounds += 1;
      await delay(250);
    }
    expect([...seen]).toEqual(["unavailable"]);
    expect(service.live).toBe(false);
    await expect(
      service.approvePermanently(adminOf(), { subject: READER, access: UNKNOWN }),
    ).rejects.toMatchObject({ code: "unavailable" });
    await release();
    await expect.poll(() => codeOn(service, APPROVED), RECOVERY).toBe("allowed_permanent");
    expect(await codeOn(service, UNKNOWN)).toBe("approval_required");
    expect((await service.list.approvals(adminOf())).rows).toEqual(rows);
  });
});

/** Every part of one decision, as the store holds it. */
async function partsOf(store: AccessStore, requestId: string) {
  return store.read(async (tx) => {
    const request = await tx.requests.get(requestId);
    const approvals = (await tx.approvals.list({ target: request?.target ?? "" }, { limit: 9 })).rows;
    const jobs = (await tx.jobs.list({ requestId }, { limit: 9 })).rows;
    const [continuation] = await tx.continuations.listOf(requestId);
    const { rows: events } = await tx.events.search({ requestId }, { limit: 9 });
    const resolved = events.filter(({ type }) => type === "permission.resolved").length;
    return `${request?.status} ${approvals.length} ${jobs.length} ${continuation?.state} ${resolved}`;
  });
}
const WHOLE = "approved_permanent 1 1 job_made 1";
const NOTHING = "pending 0 0 waiting 0";

describe("a database that is restarted in the middle of approvals", () => {
  it("keeps all that was acknowledged, has nothing by halves, and the service goes on by itself", async () => {
    const shownOnes = [];
    for (let index = 0; index < 30; index++) {
      const words = {
        ...ask(read(`/srv/restart/${index}`)),
        resumeAction: "demo.resume",
        resumeContext: { index },
      };
      const { requestId } = await service.require(callerOf(), words);
      shownOnes.push(await shown(service, requestId));
    }
    const acknowledged = new Set<string>();
    const codes = new Set<string>();
    let restarting: Promise<void> | null = null;
    for (const [index, seen] of shownOnes.entries()) {
      if (index === 10) restarting = server.restart("immediate");
      const answer = await service.approvePermanently(adminOf(), seen).catch((error: unknown) => error);
      if ((answer as { ok?: boolean }).ok === true) acknowledged.add(seen.requestId);
      else expect(answer).toMatchObject({ code: "unavailable" });
      codes.add(await codeOn(service, UNKNOWN));
      expect(await codeOn(service, DECLARED)).toBe("allowed_sandbox");
    }
    await restarting;
    expect(acknowledged.size).toBeGreaterThan(0);
    expect(acknowledged.size).toBeLessThan(shownOnes.length);
    for (const code of codes) expect(["approval_required", "unavailable"]).toContain(code);
    await expect.poll(() => codeOn(service, APPROVED), RECOVERY).toBe("allowed_permanent");
    for (const { requestId } of shownOnes) {
      const parts = await partsOf(fixture.store, requestId);
      expect(acknowledged.has(requestId) ? [WHOLE] : [WHOLE, NOTHING]).toContain(parts);
    }
    for (const seen of shownOnes)
      expect(await service.approvePermanently(adminOf(), seen)).toMatchObject({ ok: true });
  });
});

describe("a node whose listener was cut", () => {
  it("is not stale about a revocation on another node, and hears again by itself", async () => {
    const storeB = await openPostgresStore({ url, pollMs: 3_600_000 });
    const b = new AccessService({ ...fixture.options, store: storeB, nodeId: "node-b" });
    await b.start();
    for (let round = 0; round < 5; round++) {
      const what = read(`/srv/cut/${round}`);
      const answer = await service.approvePermanently(adminOf(), { subject: READER, access: what });
      if (!answer.ok) throw new Error(answer.message);
      await b.atLeast(answer.revision);
      expect(await codeOn(b, what)).toBe("allowed_permanent");
      await server.cutListeners(url);
      await service.revokeApproval(adminOf(), { id: answer.approval?.id ?? "" });
      expect(await codeOn(b, what)).not.toBe("allowed_permanent");
    }
    await service.approvePermanently(adminOf(), { subject: READER, access: UNKNOWN });
    await expect.poll(() => codeOn(b, UNKNOWN), RECOVERY).toBe("allowed_permanent");
    await b.stop();
    await storeB.close();
  });
});
