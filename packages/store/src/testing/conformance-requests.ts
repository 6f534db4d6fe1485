/** Requests and continuations. */
import type { RequestStatus } from "@sallyport/contract";
import { describe, expect, test } from "vitest";
import { StoreUsageError } from "../errors.ts";
import type { RequestFilter, Settlement } from "../port.ts";
import type { Current } from "./store-under-test.ts";
import { newContinuation, newRequest, subject, tuple } from "./sample-rows.ts";

const settlement = (over: Partial<Settlement> = {}): Settlement => ({
  from: "pending",
  to: "approved_permanent",
  decidedBy: { id: 7 },
  decidedAtMs: 5000,
  reason: null,
  approvalId: "a-1",
  ...over,
});

export function requestConformance(current: Current): void {
  describe("requests", () => {
    test("a request comes back as it was given, pending and seen once", async () => {
      const { store } = current();
      const given = newRequest("r-1", { taskId: "t-1" });
      await store.transaction((tx) => tx.requests.insert(given));
      expect(await store.read((tx) => tx.requests.get("r-1"))).toEqual({
        ...given,
        status: "pending",
        count: 1,
        lastSeenMs: given.firstSeenMs,
        decidedBy: null,
        decidedAtMs: null,
        decisionReason: null,
        approvalId: null,
      });
      expect(await store.read((tx) => tx.requests.get("r-2"))).toBeNull();
    });

    test("one identity has one pending request, whose count rises and whose time never goes back", async () => {
      const { store } = current();
      await store.transaction(async (tx) => {
        expect(await tx.requests.insert(newRequest("r-1"))).toBe(true);
        expect(await tx.requests.insert(newRequest("r-2"))).toBe(false);
        expect(await tx.requests.touchPending("r-1", 2000)).toBe(2);
        expect(await tx.requests.touchPending("r-1", 1500)).toBe(3);
        expect(await tx.requests.get("r-1")).toMatchObject({ count: 3, firstSeenMs: 1000, lastSeenMs: 2000 });
      });
    });

    test("repeats that were counted elsewhere are added at once, also after the decision", async () => {
      const { store } = current();
      await store.transaction(async (tx) => {
        await tx.requests.insert(newRequest("r-1"));
        expect(await tx.requests.countRepeats("r-1", { times: 41, lastSeenMs: 2000 })).toBe(true);
        await tx.requests.settle("r-1", settlement());
        expect(await tx.requests.countRepeats("r-1", { times: 2, lastSeenMs: 1500 })).toBe(true);
        expect(await tx.requests.get("r-1")).toMatchObject({
          count: 44,
          lastSeenMs: 2000,
          firstSeenMs: 1000,
        });
        expect(await tx.requests.countRepeats("r-2", { times: 1, lastSeenMs: 1 })).toBe(false);
      });
    });

    test("a decided request makes room for a new one of the same identity", async () => {
      const { store } = current();
      await store.transaction(async (tx) => {
        await tx.requests.insert(newRequest("r-1"));
        expect(await tx.requests.settle("r-1", settlement({ reason: "fine" }))).toBe(true);
        expect(await tx.requests.settle("r-1", settlement({ to: "denied" }))).toBe(false);
        expect(await tx.requests.touchPending("r-1", 9000)).toBeNull();
        expect(await tx.requests.findPending(newRequest(""))).toBeNull();
        expect(await tx.requests.insert(newRequest("r-2"))).toBe(true);
        expect((await tx.requests.findPending(newRequest("")))?.id).toBe("r-2");
        const stands = { status: "approved_permanent", decidedBy: { id: 7 }, approvalId: "a-1" };
        expect(await tx.requests.lock("r-1")).toMatchObject(stands);
        expect(await tx.requests.get("r-1")).toMatchObject({
          ...stands,
          decidedAtMs: 5000,
          decisionReason: "fine",
        });
      });
    });

    test("an unknown status is refused by the database itself", async () => {
      const { store } = current();
      await store.transaction((tx) => tx.requests.insert(newRequest("r-1")));
      const odd = store.transaction((tx) =>
        tx.requests.settle("r-1", settlement({ to: "maybe" as Exclude<RequestStatus, "pending"> })),
      );
      await expect(odd).rejects.toThrow();
    });

    test("a list narrows by every field", async () => {
      const { store } = current();
      await store.transaction(async (tx) => {
        await tx.requests.insert(newRequest("base", { taskId: "t-1" }));
        await tx.requests.insert(
          newRequest("odd", {
            ...tuple({
              subject: subject("demo.agent", "agent"),
              resourceType: "network",
              operation: "send",
              target: "https://a/",
            }),
            organizationId: null,
            userId: 5,
            sessionKey: null,
            firstSeenMs: 1001,
          }),
        );
        await tx.requests.insert(newRequest("done", { target: "/done", taskId: "t-1", firstSeenMs: 1002 }));
        await tx.requests.settle("done", settlement());
        const ids = async (filter: RequestFilter) =>
          (await tx.requests.list(filter, { limit: 10, order: "oldest" })).rows.map(({ id }) => id);
        expect(await ids({})).toEqual(["base", "odd", "done"]);
        expect(await ids({ subjectType: "agent" })).toEqual(["odd"]);
        expect(await ids({ subjectName: "demo.read_file" })).toEqual(["base", "done"]);
        expect(await ids({ resourceType: "network" })).toEqual(["odd"]);
        expect(await ids({ operation: "read" })).toEqual(["base", "done"]);
        expect(await ids({ target: "/done" })).toEqual(["done"]);
        expect(await ids({ organizationId: null })).toEqual(["odd"]);
        expect(await ids({ userId: 5 })).toEqual(["odd"]);
        expect(await ids({ userId: "5" })).toEqual([]);
        expect(await ids({ sessionKey: "s-1" })).toEqual(["base", "done"]);
        expect(await ids({ taskId: null })).toEqual(["odd"]);
        expect(await ids({ taskId: "t-1", status: "pending" })).toEqual(["base"]);
        expect(await ids({ userId: undefined, status: "approved_permanent" })).toEqual(["done"]);
        expect(await tx.requests.count({ status: "pending" })).toBe(2);
        expect(await tx.requests.countPending(subject("demo.read_file"))).toBe(1);
        expect(await tx.requests.countPending(subject("demo.read_file", "agent"))).toBe(0);
      });
    });

    test("pending requests of a pair are found whatever their session and target", async () => {
      const { store } = current();
      await store.transaction(async (tx) => {
        await tx.requests.insert(newRequest("a", { target: "/a" }));
        await tx.requests.insert(newRequest("b", { target: "/b", sessionKey: null, userId: 3 }));
        await tx.requests.insert(newRequest("c", { target: "/c", operation: "modify" }));
        await tx.requests.insert(newRequest("d", { target: "/d" }));
        await tx.requests.settle("d", settlement());
        expect((await tx.requests.pendingOf(tuple())).map(({ id }) => id)).toEqual(["a", "b"]);
      });
    });

    test("pending requests of a tuple are found whatever their session", async () => {
      const { store } = current();
      await store.transaction(async (tx) => {
        await tx.requests.insert(newRequest("a", { target: "/a" }));
        await tx.requests.insert(newRequest("b", { target: "/a", sessionKey: null, userId: 3 }));
        await tx.requests.insert(newRequest("c", { target: "/a/" }));
        await tx.requests.insert(newRequest("d", { target: "/a", operation: "modify" }));
        await tx.requests.insert(newRequest("e", { target: "/a", subject: subject("demo.other") }));
        await tx.requests.insert(newRequest("f", { target: "/a", userId: 4 }));
        await tx.requests.settle("f", settlement());
        const found = await tx.requests.pendingOfTuple({ ...tuple(), target: "/a" });
        expect(found.map(({ id }) => id)).toEqual(["a", "b"]);
      });
    });

    test("requests are due at their very instant, oldest first", async () => {
      const { store } = current();
      await store.transaction(async (tx) => {
        await tx.requests.insert(newRequest("late", { target: "/late", expiresAtMs: 3000 }));
        await tx.requests.insert(newRequest("soon", { target: "/soon", expiresAtMs: 2000 }));
        await tx.requests.insert(newRequest("gone", { target: "/gone", expiresAtMs: 1000 }));
        await tx.requests.settle("gone", settlement({ to: "expired", decidedBy: null, approvalId: null }));
        expect(await tx.requests.due(1999, 10)).toEqual([]);
        expect((await tx.requests.due(3000, 10)).map(({ id }) => id)).toEqual(["soon", "late"]);
        expect((await tx.requests.due(3000, 1)).map(({ id }) => id)).toEqual(["soon"]);
      });
    });

    test.each(["newest", "oldest"] as const)(
      "pages of the %s first neither repeat nor skip, while rows come and go between them",
      async (order) => {
        const { store } = current();
        const insert = (id: string, firstSeenMs: number) =>
          store.transaction((tx) => tx.requests.insert(newRequest(id, { target: `/${id}`, firstSeenMs })));
        for (let at = 0; at < 12; at += 1)
          await insert(`r-${String(at).padStart(2, "0")}`, 1000 + Math.floor(at / 5));
        const seen: string[] = [];
        let after: { readonly timeMs: number; readonly id: string } | null = null;
        do {
          const page: Awaited<ReturnType<typeof list>> = await list(after);
          seen.push(...page.rows.map(({ id }) => id));
          after = page.next;
          // Before the place that was reached, in either order: must not appear.
          await insert(`new-${order}-${seen.length}`, order === "newest" ? 9000 : 1);
        } while (after !== null);
        const expected = Array.from({ length: 12 }, (_, at) => `r-${String(at).padStart(2, "0")}`);
        expect(seen).toEqual(order === "oldest" ? expected : expected.toReversed());

        function list(from: typeof after) {
          return store.read((tx) => tx.requests.list({}, { limit: 5, order, after: from }));
        }
      },
    );

    test("a page has a bounded length", async () => {
      const { store } = current();
      for (const limit of [0, -1, 1001, 1.5, Number.NaN]) {
        await expect(store.read((tx) => tx.requests.list({}, { limit }))).rejects.toBeInstanceOf(
          StoreUsageError,
        );
      }
    });
  });

  describe("continuations", () => {
    test("continuations keep their bytes and their order, and change state once", async () => {
      const { store } = current();
      await store.transaction(async (tx) => {
        await tx.requests.insert(newRequest("r-1"));
        const first = newContinuation("c-1", "r-1");
        const second = newContinuation("c-2", "r-1", {
          action: null,
          sealedContext: null,
          keyId: null,
          organizationId: null,
          userId: 5,
          sessionKey: null,
          taskId: null,
          createdMs: 999,
        });
        await tx.continuations.insert(first);
        await tx.continuations.insert(second);
        expect(await tx.continuations.listOf("r-1")).toEqual([
          { ...second, state: "waiting" },
          { ...first, state: "waiting" },
        ]);
        expect(await tx.continuations.countOf("r-1")).toBe(2);
        expect(await tx.continuations.countOf("r-2")).toBe(0);
        expect(await tx.continuations.setState("c-1", "waiting", "job_made")).toBe(true);
        expect(await tx.continuations.setState("c-1", "waiting", "taken_by_waiter")).toBe(false);
        expect((await tx.continuations.listOf("r-1", "waiting")).map(({ id }) => id)).toEqual(["c-2"]);
        expect((await tx.continuations.get("c-1"))?.sealedContext).toEqual(Uint8Array.from([0, 255, 1, 128]));
        expect((await tx.continuations.get("c-1"))?.sealedContext?.constructor).toBe(Uint8Array);
      });
    });

    test("empty bytes are not the same as none", async () => {
      const { store } = current();
      await store.transaction(async (tx) => {
        await tx.requests.insert(newRequest("r-1"));
        await tx.continuations.insert(newContinuation("c-1", "r-1", { sealedContext: new Uint8Array(0) }));
        expect((await tx.continuations.get("c-1"))?.sealedContext).toEqual(new Uint8Array(0));
      });
    });
  });
}
