/** Transactions, reads, revisions, nodes: what holds them together. */
import { describe, expect, test } from "vitest";
import { StoreConflictError, StoreUsageError, StoreValueError } from "../errors.ts";
import type { StoreTransaction } from "../port.ts";
import type { Current } from "./store-under-test.ts";
import { newApproval, newContinuation, newNode, newRequest, newRule } from "./sample-rows.ts";

export function transactionConformance(current: Current): void {
  describe("transactions", () => {
    test("a transaction that rejects leaves nothing behind", async () => {
      const { store } = current();
      const failed = store.transaction(async (tx) => {
        await tx.requests.insert(newRequest("r-1"));
        await tx.continuations.insert(newContinuation("c-1", "r-1"));
        await tx.approvals.insert(newApproval("a-1"));
        await tx.revisions.append({ body: {}, createdMs: 1 });
        await tx.settings.set("mode", "plan", 1);
        throw new Error("changed my mind");
      });
      await expect(failed).rejects.toThrow("changed my mind");
      await store.read(async (tx) => {
        expect(await tx.requests.get("r-1")).toBeNull();
        expect(await tx.continuations.get("c-1")).toBeNull();
        expect(await tx.approvals.get("a-1")).toBeNull();
        expect(await tx.settings.get("mode")).toBeNull();
        expect(await tx.revisions.current()).toBe(0);
        expect(await tx.revisions.changesAfter(0, 10)).toEqual([]);
      });
    });

    test("a transaction in which a statement failed is not committed, also where the error was swallowed", async () => {
      const { store } = current();
      const swallowed = store.transaction(async (tx) => {
        await tx.rules.insert(newRule("rule-1"));
        await tx.rules.insert(newRule("rule-1")).catch(() => {});
      });
      await expect(swallowed).rejects.toBeInstanceOf(StoreConflictError);
      expect(await store.read((tx) => tx.rules.list())).toEqual([]);
    });

    test("a transaction inside a transaction is refused instead of waiting for itself", async () => {
      const { store } = current();
      const nested = store.transaction(() => store.read((tx) => tx.revisions.current()));
      await expect(nested).rejects.toBeInstanceOf(StoreUsageError);
      expect(await store.read((tx) => tx.revisions.current())).toBe(0);
    });

    test("verbs are dead once their transaction has ended", async () => {
      const { store } = current();
      let kept: StoreTransaction | null = null;
      await store.transaction(async (tx) => {
        kept = tx;
      });
      await expect((kept as StoreTransaction | null)?.settings.set("a", 1, 1)).rejects.toBeInstanceOf(
        StoreUsageError,
      );
    });

    test("a read cannot write", async () => {
      const { store } = current();
      const sneaked = store.read((tx) => (tx as StoreTransaction).settings.set("mode", "bypass", 1));
      await expect(sneaked).rejects.toThrow();
      expect(await store.read((tx) => tx.settings.get("mode"))).toBeNull();
      await store.transaction((tx) => tx.settings.set("mode", "plan", 1));
      expect((await store.read((tx) => tx.settings.get("mode")))?.value).toBe("plan");
    });

    test("a row that refers to nothing is refused", async () => {
      const { store } = current();
      const orphan = store.transaction((tx) => tx.continuations.insert(newContinuation("c-1", "nobody")));
      await expect(orphan).rejects.toBeInstanceOf(StoreConflictError);
    });

    test("a closed store refuses calls and may be closed twice", async () => {
      const { store } = current();
      await store.close();
      await store.close();
      await expect(store.read((tx) => tx.revisions.current())).rejects.toBeInstanceOf(StoreUsageError);
    });

    test("values that an engine could not give back exactly are refused", async () => {
      const { store } = current();
      const insert = (over: Parameters<typeof newRequest>[1]) =>
        store.transaction((tx) => tx.requests.insert(newRequest("r-1", over)));
      await expect(insert({ target: "/data/\0" })).rejects.toBeInstanceOf(StoreValueError);
      await expect(insert({ target: "/data/\uD800" })).rejects.toBeInstanceOf(StoreValueError);
      await expect(insert({ sessionKey: "\uDC00" })).rejects.toBeInstanceOf(StoreValueError);
      await expect(insert({ firstSeenMs: 1.5 })).rejects.toBeInstanceOf(StoreValueError);
      await expect(insert({ expiresAtMs: 2 ** 53 })).rejects.toBeInstanceOf(StoreValueError);
      await expect(insert({ userId: Number.NaN })).rejects.toBeInstanceOf(StoreValueError);
      await expect(insert({ userId: "x".repeat(2000) })).rejects.toBeInstanceOf(StoreValueError);
      expect(await insert({ target: "/data/😀", firstSeenMs: Number.MAX_SAFE_INTEGER })).toBe(true);
      expect(await store.read((tx) => tx.requests.get("r-1"))).toMatchObject({
        target: "/data/😀",
        firstSeenMs: Number.MAX_SAFE_INTEGER,
      });
    });

    test("rows are frozen", async () => {
      const { store } = current();
      await store.transaction((tx) => tx.requests.insert(newRequest("r-1")));
      const row = await store.read((tx) => tx.requests.get("r-1"));
      expect(Object.isFrozen(row)).toBe(true);
      expect(Object.isFrozen(row?.subject)).toBe(true);
    });
  });

  describe("revisions", () => {
    test("changes are read in order from any revision, and trimmed from the front", async () => {
      const { store } = current();
      for (const body of ["a", "b", "c"]) {
        await store.transaction(async (tx) => {
          await tx.revisions.append({ body: [body], createdMs: 9 });
        });
      }
      await store.transaction(async (tx) => {
        expect(await tx.revisions.current()).toBe(3);
        const after = await tx.revisions.changesAfter(1, 10);
        expect(after.map(({ revision, body }) => ({ revision, body }))).toEqual([
          { revision: 2, body: ["b"] },
          { revision: 3, body: ["c"] },
        ]);
        expect(await tx.revisions.changesAfter(0, 1)).toHaveLength(1);
        expect(await tx.revisions.trim(2)).toBe(2);
        expect((await tx.revisions.changesAfter(0, 10)).map(({ revision }) => revision)).toEqual([3]);
        expect(await tx.revisions.current()).toBe(3);
      });
    });

    test("a log that is trimmed, also to its end, never lets revisions go back", async () => {
      const { store, other } = current();
      const append = (node = store) =>
        node.transaction((tx) => tx.revisions.append({ body: null, createdMs: 1 }));
      expect([await append(), await append(other), await append()]).toEqual([1, 2, 3]);
      expect(await store.transaction((tx) => tx.revisions.trim(3))).toBe(3);
      expect(await other.read((tx) => tx.revisions.changesAfter(0, 10))).toEqual([]);
      expect(await other.read((tx) => tx.revisions.current())).toBe(3);
      expect(await append(other)).toBe(4);
      expect(await store.transaction((tx) => tx.revisions.trim(999))).toBe(1);
      expect(await store.transaction((tx) => tx.revisions.trim(999))).toBe(0);
      const lost = store.transaction(async (tx) => {
        expect(await tx.revisions.append({ body: null, createdMs: 1 })).toBe(5);
        expect(await tx.revisions.append({ body: null, createdMs: 1 })).toBe(6);
        await tx.revisions.trim(6);
        expect(await tx.revisions.current()).toBe(6);
        throw new Error("rolled back");
      });
      await expect(lost).rejects.toThrow("rolled back");
      expect(await store.read((tx) => tx.revisions.current())).toBe(4);
      expect(await append()).toBe(5);
    });

    test("listeners hear what was committed here or elsewhere, rising, and nothing of what was not", async () => {
      const { store, other } = current();
      const heard: number[] = [];
      const arrived = new Promise<void>((resolve) => {
        store.onRevision((revision) => {
          heard.push(revision);
          if (revision >= 3) resolve();
        });
      });
      const stop = store.onRevision(() => {
        throw new Error("a listener that was stopped must not hear");
      });
      stop();
      await store
        .transaction(async (tx) => {
          await tx.revisions.append({ body: null, createdMs: 1 });
          throw new Error("rolled back");
        })
        .catch(() => {});
      await store.transaction((tx) => tx.revisions.append({ body: null, createdMs: 1 }));
      await other.transaction((tx) => tx.revisions.append({ body: null, createdMs: 1 }));
      await other.transaction((tx) => tx.revisions.append({ body: null, createdMs: 1 }));
      await arrived;
      expect(heard).toEqual(heard.toSorted((left, right) => left - right));
      expect(heard.at(-1)).toBe(3);
      expect(new Set(heard).size).toBe(heard.length);
    });

    test("a listener that throws harms nobody", async () => {
      const { store } = current();
      store.onRevision(() => {
        throw new Error("a fault of the test");
      });
      const heard = new Promise<number>((resolve) => {
        store.onRevision(resolve);
      });
      expect(await store.transaction((tx) => tx.revisions.append({ body: null, createdMs: 1 }))).toBe(1);
      expect(await heard).toBe(1);
    });
  });

  describe("nodes", () => {
    test("a node lives as long as its lease and confirms revisions that never go back", async () => {
      const { store } = current();
      await store.transaction(async (tx) => {
        await tx.nodes.upsert(newNode("n-1"));
        await tx.nodes.upsert(newNode("n-2", { leaseUntilMs: 5000 }));
        expect((await tx.nodes.listLive(2000)).map(({ id }) => id)).toEqual(["n-2"]);
        expect(await tx.nodes.heartbeat("n-1", 9000)).toBe(true);
        expect(await tx.nodes.confirm("n-1", 12)).toBe(true);
        expect(await tx.nodes.confirm("n-1", 11)).toBe(true);
        expect(await tx.nodes.get("n-1")).toEqual(
          newNode("n-1", { leaseUntilMs: 9000, confirmedRevision: 12 }),
        );
        expect((await tx.nodes.listLive(2000)).map(({ id }) => id)).toEqual(["n-1", "n-2"]);
        await tx.nodes.upsert(newNode("n-2", { startedMs: 77 }));
        expect((await tx.nodes.list())[1]).toEqual(newNode("n-2", { startedMs: 77 }));
        expect(await tx.nodes.remove("n-1")).toBe(true);
        expect(await tx.nodes.remove("n-1")).toBe(false);
        expect(await tx.nodes.heartbeat("n-1", 10_000)).toBe(false);
        expect(await tx.nodes.confirm("n-1", 13)).toBe(false);
      });
    });

    test("the shared clock gives whole milliseconds", async () => {
      const { store } = current();
      const now = await store.read((tx) => tx.nowMs());
      expect(Number.isSafeInteger(now)).toBe(true);
      expect(now).toBeGreaterThan(1_600_000_000_000);
    });
  });
}
