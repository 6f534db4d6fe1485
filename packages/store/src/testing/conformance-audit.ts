/** The audit log and its checkpoints. */
import { describe, expect, test } from "vitest";
import { StoreConflictError } from "../errors.ts";
import type { CheckpointRow, EventCursor, EventReader } from "../port.ts";
import type { Current } from "./store-under-test.ts";
import { hashOf, newEvent } from "./sample-rows.ts";

const checkpoint = (seq: number, over: Partial<CheckpointRow> = {}): CheckpointRow => ({
  node: "n-1",
  seq,
  hash: hashOf(seq),
  timeMs: 9000 + seq,
  keyId: "key-1",
  signature: Uint8Array.from([9, 8, 7]),
  otherHeads: { "n-2": 4 },
  beginSeq: 0,
  beginHash: new Uint8Array(32),
  ...over,
});

const events = (node: string, count: number) =>
  Array.from({ length: count }, (_, at) => newEvent(node, at + 1));

export function auditConformance(current: Current): void {
  describe("the audit log", () => {
    test("events come back byte by byte, in order, in any number", async () => {
      const { store } = current();
      const body = '{"b":1,"a":"\\u0000 é e\u0301 \\ud83d 😀","n":1.0}';
      const odd = newEvent("n-1", 201, {
        body,
        type: "sandbox.applied",
        subjectType: null,
        subjectName: null,
        resourceType: null,
        operation: null,
        target: null,
        organizationId: null,
        userId: null,
        sessionKey: null,
        requestId: "r-1",
        decision: null,
        decisionSource: null,
        code: null,
      });
      const all = [...events("n-1", 200), odd];
      await store.transaction((tx) => tx.events.append(all));
      await store.transaction((tx) => tx.events.append([]));
      expect(await store.read((tx) => tx.events.range("n-1", { from: 1, to: 999, limit: 1000 }))).toEqual(
        all,
      );
      expect(await store.read((tx) => tx.events.range("n-1", { from: 5, to: 9, limit: 3 }))).toEqual(
        all.slice(4, 7),
      );
      expect(await store.read((tx) => tx.events.lastOf("n-1"))).toEqual(odd);
      expect(await store.read((tx) => tx.events.lastOf("n-2"))).toBeNull();
    });

    test("decisions are counted by span of time, and a filter narrows the counts", async () => {
      const { store } = current();
      const at = (seq: number, timeMs: number, decision: "allowed" | "denied" | null) =>
        newEvent("n-1", seq, { timeMs, decision, code: decision === "denied" ? "denied_rule" : null });
      await store.transaction((tx) =>
        tx.events.append([
          at(1, 1000, "allowed"),
          at(2, 1999, "allowed"),
          at(3, 1500, "denied"),
          at(4, 1600, null),
          at(5, 2000, "allowed"),
        ]),
      );
      const counts = (filter: Parameters<EventReader["countByTime"]>[0], limit = 100) =>
        store.read((tx) => tx.events.countByTime(filter, { bucketMs: 1000, limit }));
      const all = [
        { fromMs: 1000, decision: "allowed", count: 2 },
        { fromMs: 1000, decision: "denied", count: 1 },
        { fromMs: 2000, decision: "allowed", count: 1 },
      ];
      expect(await counts({})).toEqual(all);
      expect(await counts({ code: "denied_rule" })).toEqual([all[1]]);
      expect(await counts({ fromMs: 2000 })).toEqual([all[2]]);
      expect(await counts({ toMs: 1500 })).toEqual([{ ...all[0], count: 1 }]);
      expect(await counts({}, 1)).toEqual([all[0]]);
    });

    test("targets are counted by operation and answer, in pages, and a filter narrows the counts", async () => {
      const { store } = current();
      const at = (seq: number, target: string | null, changes: object = {}) =>
        newEvent("n-1", seq, {
          timeMs: seq * 1000,
          resourceType: "filesystem",
          operation: "read",
          target,
          code: "allowed_sandbox",
          ...changes,
        });
      await store.transaction((tx) =>
        tx.events.append([
          at(1, "/a"),
          at(2, "/b"),
          at(3, "/a"),
          at(4, "/a", { operation: "modify" }),
          at(5, "/a", { code: "approval_required" }),
          at(6, "/a", { subjectName: "other" }),
          at(7, null),
          at(8, "/c", { code: null }),
        ]),
      );
      type Counts = Awaited<ReturnType<EventReader["countByTarget"]>>;
      const counts = (filter: Parameters<EventReader["countByTarget"]>[0]): Promise<Counts> =>
        store.read((tx) => tx.events.countByTarget(filter, { limit: 100, after: null }));
      const read = { resourceType: "filesystem", operation: "read", code: "allowed_sandbox" };
      const first = { ...read, target: "/a", count: 3, lastMs: 6000 };
      expect(await counts({ subjectName: "other" })).toEqual([{ ...first, count: 1 }]);
      expect(await counts({ code: "approval_required" })).toEqual([
        { ...first, code: "approval_required", count: 1, lastMs: 5000 },
      ]);
      const all = await counts({});
      expect(all).toHaveLength(4);
      expect(all).toContainEqual(first);
      expect(all).toContainEqual({ ...first, operation: "modify", count: 1, lastMs: 4000 });
      expect(all).toContainEqual({ ...read, target: "/b", count: 1, lastMs: 2000 });
      const paged: Counts[number][] = [];
      for (let page: Counts | null = null; page === null || page.length > 0; paged.push(...page)) {
        const after: Counts[number] | null = paged.at(-1) ?? null;
        page = await store.read((tx) => tx.events.countByTarget({}, { limit: 1, after }));
      }
      expect(paged).toEqual(all);
    });

    test("a row is written once, and a batch wholly or not at all", async () => {
      const { store } = current();
      await store.transaction((tx) => tx.events.append(events("n-1", 3)));
      const overlapping = store.transaction((tx) =>
        tx.events.append([newEvent("n-1", 4), newEvent("n-1", 2)]),
      );
      await expect(overlapping).rejects.toBeInstanceOf(StoreConflictError);
      expect((await store.read((tx) => tx.events.lastOf("n-1")))?.seq).toBe(3);
    });

    test("every chain has a head", async () => {
      const { store } = current();
      expect(await store.read((tx) => tx.events.heads())).toEqual([]);
      await store.transaction((tx) =>
        tx.events.append([...events("b", 2), ...events("B", 1), ...events("a", 3)]),
      );
      const heads = await store.read((tx) => tx.events.heads());
      expect(heads.map(({ node, seq }) => [node, seq])).toEqual([
        ["B", 1],
        ["a", 3],
        ["b", 2],
      ]);
    });

    test("a search narrows by every field and pages over chains", async () => {
      const { store } = current();
      await store.transaction((tx) =>
        tx.events.append([
          newEvent("n-1", 1),
          newEvent("n-2", 1, {
            type: "permission.resolved",
            requestId: "r-1",
            userId: 5,
            decision: "allowed",
          }),
          newEvent("n-1", 2, { subjectType: "agent", subjectName: "demo.agent", decisionSource: "mode" }),
          newEvent("n-2", 2, {
            resourceType: "network",
            operation: "send",
            target: "https://a/",
            code: "denied_rule",
          }),
          newEvent("n-1", 3, { organizationId: null, sessionKey: null, taskId: "task-3" }),
        ]),
      );
      await store.read(async (tx) => {
        const found = async (filter: Parameters<typeof tx.events.search>[0]) =>
          (await tx.events.search(filter, { limit: 10, order: "oldest" })).rows.map(
            ({ node, seq }) => `${node} ${seq}`,
          );
        expect(await found({})).toEqual(["n-1 1", "n-2 1", "n-1 2", "n-2 2", "n-1 3"]);
        expect(await found({ node: "n-2" })).toEqual(["n-2 1", "n-2 2"]);
        expect(await found({ type: "permission.resolved" })).toEqual(["n-2 1"]);
        expect(await found({ requestId: "r-1" })).toEqual(["n-2 1"]);
        expect(await found({ userId: 5 })).toEqual(["n-2 1"]);
        expect(await found({ decision: "allowed" })).toEqual(["n-2 1"]);
        expect(await found({ decisionSource: "mode" })).toEqual(["n-1 2"]);
        expect(await found({ subjectType: "agent", subjectName: "demo.agent" })).toEqual(["n-1 2"]);
        expect(await found({ resourceType: "network" })).toEqual(["n-2 2"]);
        expect(await found({ operation: "send", target: "https://a/" })).toEqual(["n-2 2"]);
        expect(await found({ code: "denied_rule" })).toEqual(["n-2 2"]);
        expect(await found({ organizationId: null, sessionKey: null })).toEqual(["n-1 3"]);
        expect(await found({ taskId: "task-3" })).toEqual(["n-1 3"]);
        expect(await found({ taskId: null, node: "n-1" })).toEqual(["n-1 1", "n-1 2"]);
        expect(await found({ fromMs: 1002, toMs: 1003 })).toEqual(["n-1 2", "n-2 2"]);
        const seen: string[] = [];
        let after: EventCursor | null = null;
        do {
          const page: Awaited<ReturnType<typeof tx.events.search>> = await tx.events.search(
            {},
            { limit: 2, after },
          );
          seen.push(...page.rows.map(({ node, seq }) => `${node} ${seq}`));
          after = page.next;
        } while (after !== null);
        expect(seen).toEqual(["n-1 3", "n-2 2", "n-1 2", "n-2 1", "n-1 1"]);
      });
    });

    test("a chain is read without the columns that are searched by, from its oldest row on", async () => {
      const { store } = current();
      await store.transaction((tx) => tx.events.append([...events("n-1", 5), ...events("n-2", 1)]));
      await store.read(async (tx) => {
        const { seq, timeMs, body, prevHash, hash } = newEvent("n-1", 2);
        const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
        const [first, ...others] = await tx.events.chain("n-1", { from: 2, to: 4, limit: 1000 });
        expect(first).toEqual({ seq, timeMs, body, prevHash: hex(prevHash), hash: hex(hash) });
        expect(others.map((row) => row.seq)).toEqual([3, 4]);
        expect(await tx.events.chain("n-1", { from: 2, to: 4, limit: 1 })).toHaveLength(1);
        expect(await tx.events.firstOf("n-1")).toMatchObject({ seq: 1, body: '{"seq":1}' });
        expect(await tx.events.firstOf("n-3")).toBeNull();
      });
    });

    test("what is older than a moment ends before the first row that is not", async () => {
      const { store } = current();
      await store.transaction((tx) =>
        tx.events.append([
          newEvent("n-1", 1, { timeMs: 10 }),
          newEvent("n-1", 2, { timeMs: 30 }),
          newEvent("n-1", 3, { timeMs: 20 }),
          newEvent("n-2", 1, { timeMs: 5 }),
        ]),
      );
      await store.read(async (tx) => {
        expect(await tx.events.lastBefore("n-1", 10)).toBe(0);
        expect(await tx.events.lastBefore("n-1", 25)).toBe(1);
        expect(await tx.events.lastBefore("n-1", 31)).toBe(3);
        expect(await tx.events.lastBefore("n-3", 31)).toBe(0);
      });
    });

    test("old events go only where a checkpoint vouches for the rest", async () => {
      const { store } = current();
      await store.transaction(async (tx) => {
        await tx.events.append([...events("n-1", 10), ...events("n-2", 10)]);
        expect(await tx.events.deleteBefore("n-1", 10)).toBe(0);
        expect(await tx.checkpoints.insert(checkpoint(4))).toBe(true);
        expect(await tx.checkpoints.insert(checkpoint(8, { hash: hashOf(77) }))).toBe(true);
        // The newer checkpoint does not agree with its row: it vouches for nothing.
        expect(await tx.events.deleteBefore("n-1", 9)).toBe(3);
        const rest = await tx.events.range("n-1", { from: 1, to: 10, limit: 10 });
        expect(rest.map(({ seq }) => seq)).toEqual([4, 5, 6, 7, 8, 9, 10]);
        // What is left begins with the row that was signed, so every link can be followed from it.
        expect(rest[0]?.hash).toEqual((await tx.checkpoints.list("n-1", { afterSeq: 0, limit: 1 }))[0]?.hash);
        for (const [at, row] of rest.slice(1).entries()) expect(row.prevHash).toEqual(rest[at]?.hash);
        expect(await tx.events.deleteBefore("n-1", 3)).toBe(0);
        expect(await tx.events.range("n-2", { from: 1, to: 10, limit: 10 })).toHaveLength(10);
      });
    });

    test("the head of a chain stays, also under a checkpoint of its own", async () => {
      const { store } = current();
      await store.transaction(async (tx) => {
        await tx.events.append(events("n-1", 5));
        await tx.checkpoints.insert(checkpoint(5));
        expect(await tx.events.deleteBefore("n-1", 999)).toBe(4);
        expect((await tx.events.lastOf("n-1"))?.seq).toBe(5);
      });
    });

    test("checkpoints are read in order and written once", async () => {
      const { store } = current();
      await store.transaction(async (tx) => {
        expect(await tx.checkpoints.latestOf("n-1")).toBeNull();
        expect(await tx.checkpoints.nodes()).toEqual([]);
        await tx.checkpoints.insert(checkpoint(4));
        await tx.checkpoints.insert(checkpoint(8, { beginSeq: 3, beginHash: hashOf(3) }));
        await tx.checkpoints.insert(checkpoint(1, { node: "n-2" }));
        expect(await tx.checkpoints.nodes()).toEqual(["n-1", "n-2"]);
        expect(await tx.checkpoints.insert(checkpoint(8, { keyId: "key-2" }))).toBe(false);
        const newest = checkpoint(8, { beginSeq: 3, beginHash: hashOf(3) });
        expect(await tx.checkpoints.latestOf("n-1")).toEqual(newest);
        expect(await tx.checkpoints.list("n-1", { afterSeq: 0, limit: 10 })).toEqual([checkpoint(4), newest]);
        expect(await tx.checkpoints.list("n-1", { afterSeq: 4, limit: 10 })).toEqual([newest]);
      });
    });
  });
}
