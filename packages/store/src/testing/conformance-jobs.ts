/** The resume outbox: leases, attempts, fences. */
import { describe, expect, test } from "vitest";
import type { JobRow } from "../port.ts";
import type { Current } from "./store-under-test.ts";
import { makeJobs, newJob } from "./sample-rows.ts";

const leaseOf = ({ id, leaseOwner, leaseNumber }: JobRow) => ({ id, owner: leaseOwner ?? "", leaseNumber });
const { action: ACTION } = newJob("any");
const CLAIM = { owner: "node-1", nowMs: 6000, leaseMs: 1000, limit: 10, actions: [ACTION] };

export function jobConformance(current: Current): void {
  describe("jobs", () => {
    test("a continuation has one job", async () => {
      const { store } = current();
      await makeJobs(store, ["j-1"]);
      await store.transaction(async (tx) => {
        expect(await tx.jobs.insert(newJob("again", { continuationId: "continuation-j-1" }))).toBe(false);
        expect(await tx.jobs.get("j-1")).toEqual({
          ...newJob("j-1"),
          state: "ready",
          attempts: 0,
          leaseNumber: 0,
          leaseOwner: null,
          leaseUntilMs: null,
          lastError: null,
          finishedMs: null,
        });
      });
    });

    test("a job is claimed when it is due and completed by its lease", async () => {
      const { store } = current();
      await makeJobs(store, ["j-1"]);
      await store.transaction(async (tx) => {
        expect(await tx.jobs.claim({ ...CLAIM, nowMs: 4999 })).toEqual([]);
        const [job] = await tx.jobs.claim({ ...CLAIM, nowMs: 5000 });
        expect(job).toMatchObject({ state: "leased", attempts: 1, leaseOwner: "node-1", leaseUntilMs: 6000 });
        expect(await tx.jobs.claim({ ...CLAIM, nowMs: 5999 })).toEqual([]);
        expect(await tx.jobs.renew(leaseOf(job as JobRow), 8000)).toBe(true);
        expect(await tx.jobs.claim({ ...CLAIM, nowMs: 7999 })).toEqual([]);
        expect(await tx.jobs.complete(leaseOf(job as JobRow), 7000)).toBe(true);
        expect(await tx.jobs.get("j-1")).toMatchObject({ state: "done", finishedMs: 7000, leaseOwner: null });
        expect(await tx.jobs.claim({ ...CLAIM, nowMs: 99_999 })).toEqual([]);
      });
    });

    test("a lease that ran out goes to the next claimer, and the old one changes nothing any more", async () => {
      const { store } = current();
      await makeJobs(store, ["j-1"]);
      await store.transaction(async (tx) => {
        const [old] = await tx.jobs.claim(CLAIM);
        const [job] = await tx.jobs.claim({ ...CLAIM, nowMs: 7000 });
        expect(job).toMatchObject({ attempts: 2, leaseNumber: 2, leaseOwner: "node-1" });
        const stale = leaseOf(old as JobRow);
        expect(await tx.jobs.renew(stale, 99_000)).toBe(false);
        expect(await tx.jobs.complete(stale, 7001)).toBe(false);
        expect(await tx.jobs.fail(stale, { nextAtMs: 1, error: "x" })).toBe(false);
        expect(await tx.jobs.park(stale, { nowMs: 1, error: "x" })).toBe(false);
        expect(await tx.jobs.complete({ ...leaseOf(job as JobRow), owner: "node-2" }, 7001)).toBe(false);
        expect(await tx.jobs.get("j-1")).toEqual(job);
      });
    });

    test("a failed job waits, a parked one waits for a person, and no fence is used twice", async () => {
      const { store } = current();
      await makeJobs(store, ["j-1"]);
      await store.transaction(async (tx) => {
        const claim = async (nowMs: number) => (await tx.jobs.claim({ ...CLAIM, nowMs }))[0] as JobRow;
        const first = await claim(6000);
        expect(await tx.jobs.fail(leaseOf(first), { nextAtMs: 8000, error: "no answer" })).toBe(true);
        expect(await tx.jobs.get("j-1")).toMatchObject({
          state: "ready",
          lastError: "no answer",
          attempts: 1,
        });
        expect(await tx.jobs.claim({ ...CLAIM, nowMs: 7999 })).toEqual([]);
        const second = await claim(8000);
        expect(await tx.jobs.park(leaseOf(second), { nowMs: 8001, error: "gave up" })).toBe(true);
        expect(await tx.jobs.claim({ ...CLAIM, nowMs: 99_000 })).toEqual([]);
        expect(await tx.jobs.get("j-1")).toMatchObject({
          state: "parked",
          lastError: "gave up",
          finishedMs: 8001,
        });
        expect(await tx.jobs.retry("j-1", 9000)).toBe(true);
        expect(await tx.jobs.retry("j-1", 9000)).toBe(false);
        const third = await claim(9000);
        expect(third).toMatchObject({ attempts: 1, leaseNumber: 3, lastError: "gave up", finishedMs: null });
        expect(await tx.jobs.complete(leaseOf(first), 9001)).toBe(false);
      });
    });

    test("claims are bounded and come in the order in which jobs are due", async () => {
      const { store } = current();
      await makeJobs(store, ["j-1", "j-2", "j-3"]);
      await store.transaction(async (tx) => {
        const [one] = await tx.jobs.claim({ ...CLAIM, limit: 1 });
        await tx.jobs.fail(leaseOf(one as JobRow), { nextAtMs: 5500, error: "later" });
        expect((await tx.jobs.claim(CLAIM)).map(({ id }) => id)).toEqual(["j-2", "j-3", "j-1"]);
      });
    });

    test("a claim takes the jobs of its actions and its session only", async () => {
      const { store } = current();
      await makeJobs(store, ["j-1", "j-2"]);
      await store.transaction(async (tx) => {
        const continuation = await tx.continuations.get("continuation-j-1");
        if (continuation === null) throw new Error("there is no continuation");
        const { organizationId, userId, sessionKey } = continuation;
        const session = { organizationId, userId, sessionKey };
        const claim = (words: object) => tx.jobs.claim({ ...CLAIM, ...words });
        for (const actions of [[], ["another"], [`${ACTION}x`, ACTION.toUpperCase()]]) {
          expect(await claim({ actions })).toEqual([]);
          expect(await claim({ actions, session })).toEqual([]);
        }
        for (const other of [{ organizationId: "x" }, { userId: "x" }, { sessionKey: "x" }])
          expect(await claim({ session: { ...session, ...other } })).toEqual([]);
        const taken = await claim({ actions: ["another", ACTION], session });
        expect(taken.map(({ id }) => id)).toEqual(["j-1", "j-2"]);
      });
    });

    test("a job that is given back unbegun has used up no attempt, and its lease is over", async () => {
      const { store } = current();
      await makeJobs(store, ["j-1"]);
      await store.transaction(async (tx) => {
        const [job] = await tx.jobs.claim(CLAIM);
        const lease = { id: "j-1", owner: "node-1", leaseNumber: job?.leaseNumber ?? 0 };
        expect(await tx.jobs.release({ ...lease, leaseNumber: 9 }, 6500)).toBe(false);
        expect(await tx.jobs.release(lease, 6500)).toBe(true);
        expect(await tx.jobs.get("j-1")).toMatchObject({ state: "ready", attempts: 0, leaseOwner: null });
        expect(await tx.jobs.renew(lease, 9000)).toBe(false);
        expect(await tx.jobs.claim(CLAIM)).toEqual([]);
        const [again] = await tx.jobs.claim({ ...CLAIM, nowMs: 6500 });
        expect(again).toMatchObject({ attempts: 1, leaseNumber: 2 });
      });
    });

    test("a list narrows and pages", async () => {
      const { store } = current();
      await makeJobs(store, ["j-1", "j-2", "j-3"]);
      await store.transaction(async (tx) => {
        await tx.jobs.claim({ ...CLAIM, limit: 1 });
        const ids = async (filter: Parameters<typeof tx.jobs.list>[0]) =>
          (await tx.jobs.list(filter, { limit: 9, order: "oldest" })).rows.map(({ id }) => id);
        expect(await ids({ state: "leased" })).toEqual(["j-1"]);
        expect(await ids({ requestId: "r-1", state: "ready" })).toEqual(["j-2", "j-3"]);
        expect(await ids({ approvalId: "a-9" })).toEqual([]);
        const page = await tx.jobs.list({}, { limit: 2 });
        expect(page.rows.map(({ id }) => id)).toEqual(["j-3", "j-2"]);
        const rest = await tx.jobs.list({}, { limit: 2, after: page.next });
        expect(rest.rows.map(({ id }) => id)).toEqual(["j-1"]);
      });
    });
  });
}
