/** What the server of persons keeps: one owner per id, one winner per race. */
import { describe, expect, test } from "vitest";
import type { NewRecord } from "../port.ts";
import type { Current } from "./store-under-test.ts";

const record = (id: string, changes: Partial<NewRecord> = {}): NewRecord => ({
  kind: "account",
  id,
  body: { name: id },
  createdMs: 1000,
  dueMs: null,
  ...changes,
});

export function recordConformance(current: Current): void {
  describe("records of the server", () => {
    test("an id is taken once in each kind", async () => {
      const { store } = current();
      await store.transaction(async (tx) => {
        expect(await tx.records.insert(record("anna"))).toBe(true);
        expect(await tx.records.insert(record("anna", { body: "another" }))).toBe(false);
        expect(await tx.records.insert(record("anna", { kind: "sign_in" }))).toBe(true);
        expect(await tx.records.get("account", "anna")).toEqual({ ...record("anna"), version: 1 });
        expect(await tx.records.get("delivery", "anna")).toBeNull();
      });
    });

    test("of two who change what they read, the second is told", async () => {
      const { store } = current();
      await store.transaction(async (tx) => {
        await tx.records.insert(record("anna"));
        const read = { ...record("anna"), version: 1 };
        expect(await tx.records.replace({ ...read, body: { name: "first" } })).toBe(true);
        expect(await tx.records.replace({ ...read, body: { name: "second" } })).toBe(false);
        expect(await tx.records.get("account", "anna")).toMatchObject({
          body: { name: "first" },
          version: 2,
        });
      });
    });

    test("of many who remove one, exactly one gets it", async () => {
      const { store } = current();
      await store.transaction((tx) => tx.records.insert(record("once", { kind: "sign_in_link" })));
      const removed = await Promise.all(
        Array.from({ length: 8 }, () => store.transaction((tx) => tx.records.remove("sign_in_link", "once"))),
      );
      expect(removed.filter((row) => row !== null)).toHaveLength(1);
    });

    test("what is due goes to one claimer at a time, oldest first, within the limit", async () => {
      const { store } = current();
      await store.transaction(async (tx) => {
        for (const [index, id] of ["a", "b", "c"].entries())
          await tx.records.insert(record(id, { kind: "delivery", dueMs: 5000 + index, createdMs: index }));
        await tx.records.insert(record("never", { kind: "delivery" }));
        await tx.records.insert(record("other", { dueMs: 1 }));
      });
      const claim = { nowMs: 6000, untilMs: 9000, limit: 2 };
      const claims = await Promise.all(
        [1, 2].map(() => store.transaction((tx) => tx.records.claimDue("delivery", claim))),
      );
      expect(
        claims
          .flat()
          .map(({ id }) => id)
          .toSorted(),
      ).toEqual(["a", "b", "c"]);
      await store.transaction(async (tx) => {
        expect(await tx.records.claimDue("delivery", claim)).toEqual([]);
        expect(await tx.records.get("delivery", "a")).toMatchObject({ dueMs: 9000, version: 2 });
        expect(await tx.records.claimDue("delivery", { ...claim, nowMs: 9000 })).toHaveLength(2);
      });
    });

    test("what has run out is removed, and nothing else", async () => {
      const { store } = current();
      await store.transaction(async (tx) => {
        for (const [id, dueMs] of [
          ["old", 10],
          ["new", 20],
          ["never", null],
        ] as const)
          await tx.records.insert(record(id, { kind: "sign_in", dueMs }));
        await tx.records.insert(record("old", { dueMs: 10 }));
        expect(await tx.records.removeDue("sign_in", 10)).toBe(1);
        const { rows } = await tx.records.list("sign_in", { limit: 9, order: "oldest" });
        expect(rows.map(({ id }) => id)).toEqual(["never", "new"]);
        expect(await tx.records.get("account", "old")).not.toBeNull();
      });
    });
  });
}
