/** What holds when many do the same thing at once, on one node and on two. */
import { describe, expect, test } from "vitest";
import type { AccessStore } from "../port.ts";
import type { Current } from "./store-under-test.ts";
import { makeJobs, newApproval, newDenial, newJob, newRequest, tuple } from "./sample-rows.ts";

/** Half of them on another node. */
function racers<T>(
  { store, other }: { readonly store: AccessStore; readonly other: AccessStore },
  count: number,
  act: (store: AccessStore, at: number) => Promise<T>,
): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, at) => act(at % 2 === 0 ? store : other, at)));
}

export function concurrencyConformance(current: Current): void {
  describe("concurrency", () => {
    test("of many that settle a request one wins", async () => {
      const { store } = current();
      for (let round = 0; round < 20; round += 1) {
        const id = `r-${round}`;
        await store.transaction((tx) => tx.requests.insert(newRequest(id, { target: `/${round}` })));
        const won = await racers(current(), 8, (node, at) =>
          node.transaction((tx) =>
            tx.requests.settle(id, {
              from: "pending",
              to: at % 2 === 0 ? "denied" : "approved_permanent",
              decidedBy: at,
              decidedAtMs: 1,
              reason: null,
              approvalId: null,
            }),
          ),
        );
        expect(won.filter(Boolean)).toHaveLength(1);
        expect((await store.read((tx) => tx.requests.get(id)))?.decidedBy).toBe(won.indexOf(true));
      }
    });

    test("of many that register one identity one inserts, and every other one is counted", async () => {
      const { store } = current();
      const ids = await racers(current(), 40, (node, at) =>
        node.transaction(async (tx) => {
          if (await tx.requests.insert(newRequest(`r-${at}`))) return `r-${at}`;
          const found = await tx.requests.findPending(newRequest(""));
          if (found === null) throw new Error("the request that was in the way is not there");
          await tx.requests.touchPending(found.id, 2000 + at);
          return found.id;
        }),
      );
      expect(new Set(ids).size).toBe(1);
      expect(await store.read((tx) => tx.requests.get(ids[0] ?? ""))).toMatchObject({
        count: 40,
        lastSeenMs: 2039,
      });
    });

    test("no more uses are spent than there are", async () => {
      const { store } = current();
      await store.transaction((tx) => tx.approvals.insert(newApproval("a-1", { maxUses: 10 })));
      const spent = await racers(current(), 50, (node) =>
        node.transaction((tx) => tx.approvals.spendUse("a-1", 1)),
      );
      const remaining = spent.flatMap((use) => (use.spent ? [use.remaining] : []));
      expect(remaining.toSorted((left, right) => Number(left) - Number(right))).toEqual([
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
      ]);
      expect((await store.read((tx) => tx.approvals.get("a-1")))?.uses).toBe(10);
    });

    test("no job is leased twice, and every job is leased", async () => {
      const { store } = current();
      const actions = [newJob("any").action];
      await makeJobs(
        store,
        Array.from({ length: 60 }, (_, at) => `j-${at}`),
      );
      const claimed = await racers(current(), 8, async (node, at) => {
        const mine: string[] = [];
        for (;;) {
          const jobs = await node.transaction((tx) =>
            tx.jobs.claim({ owner: `executor-${at}`, nowMs: 6000, leaseMs: 1000, limit: 3, actions }),
          );
          expect(jobs.length).toBeLessThanOrEqual(3);
          expect(jobs.every(({ leaseOwner }) => leaseOwner === `executor-${at}`)).toBe(true);
          if (jobs.length === 0) return mine;
          mine.push(...jobs.map(({ id }) => id));
        }
      });
      const all = claimed.flat();
      expect(all).toHaveLength(60);
      expect(new Set(all).size).toBe(60);
      const again = await racers(current(), 8, (node, at) =>
        node.transaction((tx) =>
          tx.jobs.claim({ owner: `next-${at}`, nowMs: 7000, leaseMs: 1000, limit: 20, actions }),
        ),
      );
      const retaken = again.flat();
      expect(new Set(retaken.map(({ id }) => id)).size).toBe(retaken.length);
      expect(retaken.every(({ attempts }) => attempts === 2)).toBe(true);
    });

    test("revisions are committed in order: whoever sees one sees all before it", async () => {
      const { store, other } = current();
      const writers = { busy: true };
      const watch = (async () => {
        let seen = 0;
        while (writers.busy) {
          const [revision, changes] = await other.read(
            async (tx) => [await tx.revisions.current(), await tx.revisions.changesAfter(0, 1000)] as const,
          );
          expect(changes.map((change) => change.revision)).toEqual(
            Array.from({ length: revision }, (_, at) => at + 1),
          );
          expect(revision).toBeGreaterThanOrEqual(seen);
          seen = revision;
          await new Promise((resolve) => setImmediate(resolve));
        }
      })();
      const commits: number[] = [];
      await racers(current(), 60, async (node, at) => {
        const revision = await node
          .transaction(async (tx) => {
            const taken = await tx.revisions.append({ body: at, createdMs: at });
            if (at % 7 === 0) throw new Error("rolled back");
            return taken;
          })
          .catch(() => null);
        if (revision !== null) commits.push(revision);
      });
      writers.busy = false;
      await watch;
      const expected = Array.from({ length: commits.length }, (_, at) => at + 1);
      expect(commits.toSorted((left, right) => left - right)).toEqual(expected);
      expect(await store.read((tx) => tx.revisions.current())).toBe(expected.length);
    });

    test("of an approval and a denial that replace each other exactly one is left", async () => {
      const { store } = current();
      await racers(current(), 24, (node, at) =>
        node.transaction(async (tx) => {
          // The order of the service: whoever decides takes the revision first, and so waits for the one before.
          await tx.revisions.append({ body: null, createdMs: 1 });
          if (at % 2 === 0) {
            await tx.approvals.removeByTuple(tuple());
            await tx.denials.insert(newDenial(`d-${at}`));
          } else {
            await tx.denials.removeByTuple(tuple());
            await tx.approvals.removeByTuple(tuple());
            expect(await tx.approvals.insert(newApproval(`a-${at}`))).toBe(true);
          }
        }),
      );
      const [approvals, denial] = await store.read(
        async (tx) =>
          [await tx.approvals.findByTuple(tuple()), await tx.denials.findByTuple(tuple())] as const,
      );
      expect(approvals.length + (denial === null ? 0 : 1)).toBe(1);
    });

    test("transactions that take rows crosswise all end", async () => {
      const { store } = current();
      await store.transaction(async (tx) => {
        await tx.requests.insert(newRequest("r-1", { target: "/1" }));
        await tx.requests.insert(newRequest("r-2", { target: "/2" }));
      });
      await racers(current(), 8, (node, at) =>
        node.transaction(async (tx) => {
          const first = at % 2 === 0 ? "r-1" : "r-2";
          const second = at % 2 === 0 ? "r-2" : "r-1";
          await tx.requests.lock(first);
          await tx.requests.touchPending(first, 1);
          await tx.requests.touchPending(second, 1);
        }),
      );
      const counts = await store.read(async (tx) => [
        await tx.requests.get("r-1"),
        await tx.requests.get("r-2"),
      ]);
      expect(counts.map((row) => row?.count)).toEqual([9, 9]);
    });
  });
}
