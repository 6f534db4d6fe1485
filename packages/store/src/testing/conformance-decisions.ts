/** Approvals, denials, rules, ended sessions, settings. */
import { describe, expect, test } from "vitest";
import { StoreConflictError } from "../errors.ts";
import type { Current } from "./store-under-test.ts";
import type { HeldSession, HeldSessionCursor, Page } from "../port.ts";
import {
  newApproval,
  newDenial,
  newRequest,
  newRule,
  sessionApproval,
  subject,
  tuple,
} from "./sample-rows.ts";

const SESSION = { organizationId: 21, userId: "anna", sessionKey: "s-1" } as const;
const NOT_USED = { uses: 0, lastUsedMs: null };

export function decisionConformance(current: Current): void {
  describe("approvals", () => {
    test("an approval comes back as it was given, not used yet", async () => {
      const { store } = current();
      const given = sessionApproval("a-1", {
        expiresAtMs: 9000,
        maxUses: 3,
        requestId: "r-1",
        reason: "ok",
        match: "directory",
      });
      await store.transaction(async (tx) => {
        expect(await tx.approvals.insert(given)).toBe(true);
        expect(await tx.approvals.get("a-1")).toEqual({ ...given, ...NOT_USED });
        expect(await tx.approvals.get("a-2")).toBeNull();
      });
    });

    test("one approval exists per tuple and scope, and per session where it is of a session", async () => {
      const { store } = current();
      await store.transaction(async (tx) => {
        expect(await tx.approvals.insert(newApproval("permanent"))).toBe(true);
        expect(await tx.approvals.insert(newApproval("again", { match: "directory" }))).toBe(false);
        expect(await tx.approvals.insert(sessionApproval("one"))).toBe(true);
        expect(await tx.approvals.insert(sessionApproval("same", { maxUses: 1 }))).toBe(false);
        expect(await tx.approvals.insert(sessionApproval("two", { sessionKey: "s-2" }))).toBe(true);
        expect(await tx.approvals.insert(sessionApproval("three", { userId: "ben" }))).toBe(true);
        expect((await tx.approvals.findByTuple(tuple())).map(({ id }) => id)).toEqual([
          "one",
          "permanent",
          "three",
          "two",
        ]);
        expect(await tx.approvals.findByTuple(tuple({ target: "/other" }))).toEqual([]);
      });
    });

    test("an id that is taken is a conflict and not a quiet no", async () => {
      const { store } = current();
      await store.transaction((tx) => tx.approvals.insert(newApproval("a-1")));
      const taken = store.transaction((tx) => tx.approvals.insert(newApproval("a-1", { target: "/other" })));
      await expect(taken).rejects.toBeInstanceOf(StoreConflictError);
    });

    test("a snapshot gets the permanent ones of its subjects and those of its own session", async () => {
      const { store } = current();
      await store.transaction(async (tx) => {
        await tx.approvals.insert(newApproval("a"));
        await tx.approvals.insert(newApproval("b", { subject: subject("demo.agent", "agent") }));
        await tx.approvals.insert(newApproval("c", { subject: subject("demo.agent", "tool") }));
        await tx.approvals.insert(sessionApproval("d"));
        await tx.approvals.insert(sessionApproval("e", { sessionKey: "s-2" }));
        await tx.approvals.insert(sessionApproval("f", { userId: null }));
        const both = [subject("demo.read_file"), subject("demo.agent", "agent")];
        const ids = async (...given: Parameters<typeof tx.approvals.listForSubjects>) =>
          (await tx.approvals.listForSubjects(...given)).map(({ id }) => id);
        expect(await ids(both, null)).toEqual(["a", "b"]);
        expect(await ids(both, SESSION)).toEqual(["a", "b", "d"]);
        expect(await ids(both, { ...SESSION, sessionKey: "" })).toEqual(["a", "b"]);
        expect(await ids(both, { ...SESSION, userId: null })).toEqual(["a", "b", "f"]);
        expect(await ids([], SESSION)).toEqual([]);
      });
    });

    test("removing gives back what was removed", async () => {
      const { store } = current();
      await store.transaction(async (tx) => {
        await tx.approvals.insert(newApproval("a"));
        await tx.approvals.insert(sessionApproval("b"));
        await tx.approvals.insert(sessionApproval("c", { target: "/other" }));
        expect((await tx.approvals.remove("a"))?.id).toBe("a");
        expect(await tx.approvals.remove("a")).toBeNull();
        expect((await tx.approvals.removeByTuple(tuple())).map(({ id }) => id)).toEqual(["b"]);
        expect((await tx.approvals.removeOfSession(SESSION)).map(({ id }) => id)).toEqual(["c"]);
        expect((await tx.approvals.list({}, { limit: 10 })).rows).toEqual([]);
      });
    });

    test("a list narrows and pages", async () => {
      const { store } = current();
      await store.transaction(async (tx) => {
        for (const id of ["a", "b", "c"]) await tx.approvals.insert(newApproval(id, { target: `/${id}` }));
        await tx.approvals.insert(sessionApproval("d", { requestId: "r-9" }));
        const first = await tx.approvals.list({}, { limit: 3 });
        expect(first.rows.map(({ id }) => id)).toEqual(["d", "c", "b"]);
        const second = await tx.approvals.list({}, { limit: 3, after: first.next });
        expect(second).toMatchObject({ rows: [{ id: "a" }], next: null });
        const ids = async (filter: Parameters<typeof tx.approvals.list>[0]) =>
          (await tx.approvals.list(filter, { limit: 9, order: "oldest" })).rows.map(({ id }) => id);
        expect(await ids({ scope: "session" })).toEqual(["d"]);
        expect(await ids({ target: "/b" })).toEqual(["b"]);
        expect(await ids({ sessionKey: null })).toEqual(["a", "b", "c"]);
        expect(await ids({ requestId: "r-9", userId: "anna" })).toEqual(["d"]);
      });
    });

    test("uses are counted to the last one, and none after the end", async () => {
      const { store } = current();
      await store.transaction(async (tx) => {
        await tx.approvals.insert(newApproval("counted", { maxUses: 2, expiresAtMs: 9000 }));
        await tx.approvals.insert(newApproval("endless", { target: "/endless" }));
        expect(await tx.approvals.spendUse("counted", 8999)).toEqual({ spent: true, remaining: 1 });
        expect(await tx.approvals.spendUse("counted", 9000)).toEqual({ spent: false });
        expect(await tx.approvals.spendUse("counted", 8000)).toEqual({ spent: true, remaining: 0 });
        expect(await tx.approvals.spendUse("counted", 8000)).toEqual({ spent: false });
        expect(await tx.approvals.get("counted")).toMatchObject({ uses: 2, lastUsedMs: 8000 });
        expect(await tx.approvals.spendUse("endless", 1)).toEqual({ spent: true, remaining: null });
        expect(await tx.approvals.spendUse("nobody", 1)).toEqual({ spent: false });
      });
    });
  });

  describe("denials", () => {
    test("one denial exists per tuple", async () => {
      const { store } = current();
      await store.transaction(async (tx) => {
        expect(await tx.denials.insert(newDenial("d-1"))).toBe(true);
        expect(await tx.denials.insert(newDenial("d-2", { match: "directory" }))).toBe(false);
        expect(
          await tx.denials.insert(newDenial("d-3", { operation: "delete", reason: null, requestId: "r-1" })),
        ).toBe(true);
        expect(await tx.denials.get("d-1")).toEqual(newDenial("d-1"));
        expect((await tx.denials.findByTuple(tuple()))?.id).toBe("d-1");
        expect(await tx.denials.findByTuple(tuple({ operation: "execute" }))).toBeNull();
        expect((await tx.denials.listForSubjects([tuple().subject])).map(({ id }) => id)).toEqual([
          "d-1",
          "d-3",
        ]);
        expect(await tx.denials.listForSubjects([subject("nobody")])).toEqual([]);
        expect(await tx.denials.listForSubjects([])).toEqual([]);
        const page = await tx.denials.list({ operation: "delete" }, { limit: 1 });
        expect(page).toEqual({
          rows: [newDenial("d-3", { operation: "delete", reason: null, requestId: "r-1" })],
          next: null,
        });
        expect((await tx.denials.removeByTuple(tuple()))?.id).toBe("d-1");
        expect(await tx.denials.removeByTuple(tuple())).toBeNull();
        expect((await tx.denials.remove("d-3"))?.id).toBe("d-3");
        expect(await tx.denials.remove("d-3")).toBeNull();
      });
    });
  });

  describe("rules, sessions, settings", () => {
    test("rules come back as they were given, oldest first", async () => {
      const { store } = current();
      const everybody = newRule("rule-2");
      const one = newRule("rule-1", {
        effect: "ask",
        source: "session",
        subject: subject("demo.agent", "agent"),
        match: "origin",
        ...SESSION,
        createdMs: 3999,
      });
      await store.transaction(async (tx) => {
        await tx.rules.insert(everybody);
        await tx.rules.insert(one);
        expect(await tx.rules.list()).toEqual([one, everybody]);
        expect(await tx.rules.get("rule-1")).toEqual(one);
        expect(await tx.rules.remove("rule-1")).toEqual(one);
        expect(await tx.rules.remove("rule-1")).toBeNull();
        expect(await tx.rules.get("rule-1")).toBeNull();
      });
    });

    test("only the host may allow, and the database holds to it", async () => {
      const { store } = current();
      const forged = store.transaction((tx) =>
        tx.rules.insert(newRule("x", { effect: "allow", source: "user" })),
      );
      await expect(forged).rejects.toThrow();
    });

    test("a session ends once, and only that one", async () => {
      const { store } = current();
      await store.transaction(async (tx) => {
        expect(await tx.sessions.isEnded(SESSION)).toBe(false);
        expect(await tx.sessions.end(SESSION, 5)).toBe(true);
        expect(await tx.sessions.end(SESSION, 6)).toBe(false);
        expect(await tx.sessions.isEnded(SESSION)).toBe(true);
        expect(await tx.sessions.isEnded({ ...SESSION, organizationId: "21" })).toBe(false);
        expect(await tx.sessions.isEnded({ ...SESSION, userId: null })).toBe(false);
      });
      await expect(
        store.transaction((tx) => tx.sessions.end({ ...SESSION, sessionKey: "" }, 5)),
      ).rejects.toThrow();
    });

    test("sessions that hold something are counted together and come in pages, each once", async () => {
      const { store } = current();
      const keyed = (
        organizationId: number | string | null,
        userId: number | string | null,
        sessionKey: string,
      ) => ({
        organizationId,
        userId,
        sessionKey,
      });
      // WHY alike: what looks the same when it is joined is five sessions all the same.
      const sessions = [
        keyed(21, 1, "s"),
        keyed("21", 1, "s"),
        keyed(21, "1", "s"),
        keyed(null, 1, "s"),
        keyed(21, 1, "s-2"),
      ];
      await store.transaction(async (tx) => {
        for (const [index, session] of sessions.entries()) {
          const target = `/srv/${index}`;
          await tx.requests.insert(
            newRequest(`r-${index}`, { ...session, target, firstSeenMs: 9000 - (index % 3) }),
          );
        }
        await tx.requests.insert(newRequest("r-none", { ...SESSION, sessionKey: null }));
        await tx.approvals.insert(sessionApproval("a-0", { ...keyed(21, 1, "s"), createdMs: 9500 }));
        await tx.approvals.insert(newApproval("a-permanent"));
      });
      const seen: HeldSession[] = [];
      let after: HeldSessionCursor | null = null;
      do {
        const page: Page<HeldSession, HeldSessionCursor> = await store.read((tx) =>
          tx.sessions.listHeld({ limit: 3, after }),
        );
        expect(page.rows.length).toBeLessThanOrEqual(3);
        seen.push(...page.rows);
        after = page.next;
      } while (after !== null);
      const plain = seen.map(({ organizationId, userId, sessionKey }) => ({
        organizationId,
        userId,
        sessionKey,
      }));
      expect(plain).toHaveLength(sessions.length);
      expect(plain).toEqual(expect.arrayContaining(sessions));
      expect(seen[0]).toEqual({ ...keyed(21, 1, "s"), approvals: 1, pending: 1, lastSeenMs: 9500 });
      expect(seen.map(({ lastSeenMs }) => lastSeenMs)).toEqual([9500, 9000, 8999, 8999, 8998]);
      const { rows } = await store.read((tx) => tx.sessions.listHeld({ limit: 9, order: "oldest" }));
      expect(rows).toEqual(seen.toReversed());
    });

    test("settings keep any JSON value", async () => {
      const { store } = current();
      const values = [null, true, 0.5, "text", [1, "2", null], { mode: "bypass", until: 9 }];
      await store.transaction(async (tx) => {
        for (const [at, value] of values.entries()) {
          await tx.settings.set("mode", value, at);
          expect(await tx.settings.get("mode")).toEqual({ key: "mode", value, changedMs: at });
        }
        expect(await tx.settings.setIfAbsent("mode", "other", 99)).toBe(false);
        expect(await tx.settings.setIfAbsent("setup_ended", true, 99)).toBe(true);
        expect((await tx.settings.list()).map(({ key }) => key)).toEqual(["mode", "setup_ended"]);
        expect(await tx.settings.remove("mode")).toBe(true);
        expect(await tx.settings.remove("mode")).toBe(false);
        expect(await tx.settings.get("mode")).toBeNull();
      });
    });
  });
}
