/** Identity: every field on its own, compared byte by byte. */
import { describe, expect, test } from "vitest";
import type { NewRequest, PrincipalId } from "../port.ts";
import type { Current } from "./store-under-test.ts";
import { newApproval, newDenial, newRequest, sessionApproval, subject, tuple } from "./sample-rows.ts";

/** Pairs that a careless store takes for one. */
const LOOK_ALIKES: readonly (readonly [
  what: string,
  left: Partial<NewRequest>,
  right: Partial<NewRequest>,
])[] = [
  ["the number 21 and the text 21 as organization", { organizationId: 21 }, { organizationId: "21" }],
  ["the number 21 and the text 21 as user", { userId: 21 }, { userId: "21" }],
  ["no user and the text null", { userId: null }, { userId: "null" }],
  ["no organization and organization 0", { organizationId: null }, { organizationId: 0 }],
  ["no user and an empty user", { userId: null }, { userId: "" }],
  ["a user and the same in quotes", { userId: "a" }, { userId: '"a"' }],
  ["two cases of a target", { target: "/data/A" }, { target: "/data/a" }],
  ["a trailing space in a target", { target: "/data/a" }, { target: "/data/a " }],
  ["composed and decomposed letters", { target: "/data/\u00e9" }, { target: "/data/e\u0301" }],
  ["two cases of a session key", { sessionKey: "S-1" }, { sessionKey: "s-1" }],
  ["a session key and none", { sessionKey: "s-1" }, { sessionKey: null }],
  ["two cases of a subject name", { subject: subject("demo.a") }, { subject: subject("Demo.a") }],
  ["two types of one subject name", { subject: subject("demo.a") }, { subject: subject("demo.a", "agent") }],
  ["two operations", { operation: "read" }, { operation: "modify" }],
  [
    "two resource types",
    { operation: "execute" },
    { operation: "execute", resourceType: "system_dependency" },
  ],
  ["a percent sign and what it stands for", { target: "/data/%" }, { target: "/data/x" }],
  [
    "a field that ends where the next begins",
    { organizationId: "ab", userId: "c" },
    { organizationId: "a", userId: "bc" },
  ],
];

export function identityConformance(current: Current): void {
  describe("identity", () => {
    test.each(LOOK_ALIKES)("%s are two requests", async (_what, left, right) => {
      const { store } = current();
      await store.transaction(async (tx) => {
        expect(await tx.requests.insert(newRequest("left", left))).toBe(true);
        expect(await tx.requests.insert(newRequest("right", right))).toBe(true);
        expect((await tx.requests.findPending(newRequest("", left)))?.id).toBe("left");
        expect((await tx.requests.findPending(newRequest("", right)))?.id).toBe("right");
        const { subject: who, ...rest } = newRequest("", right);
        const { resourceType, operation, target, organizationId, userId, sessionKey } = rest;
        const filter = { resourceType, operation, target, organizationId, userId, sessionKey };
        const found = await tx.requests.list(
          { ...filter, subjectType: who.type, subjectName: who.name },
          { limit: 10 },
        );
        expect(found.rows.map(({ id }) => id)).toEqual(["right"]);
      });
    });

    test.each<PrincipalId | null>([
      21,
      "21",
      null,
      0,
      -1,
      "",
      "null",
      "ünï",
      "a\tb",
      Number.MAX_SAFE_INTEGER,
    ])("a user %j comes back as it was", async (userId) => {
      const { store } = current();
      await store.transaction((tx) =>
        tx.requests.insert(newRequest("r-1", { userId, organizationId: userId })),
      );
      expect(await store.read((tx) => tx.requests.get("r-1"))).toMatchObject({
        userId,
        organizationId: userId,
      });
    });

    test("an empty session key is no key, wherever it is given", async () => {
      const { store } = current();
      await store.transaction(async (tx) => {
        expect(await tx.requests.insert(newRequest("r-1", { sessionKey: "" }))).toBe(true);
        expect(await tx.requests.insert(newRequest("r-2", { sessionKey: null }))).toBe(false);
        expect((await tx.requests.get("r-1"))?.sessionKey).toBeNull();
        expect((await tx.requests.list({ sessionKey: null }, { limit: 5 })).rows).toHaveLength(1);
        expect((await tx.requests.list({ sessionKey: "" }, { limit: 5 })).rows).toHaveLength(1);
      });
    });

    test("a session approval without a session key, and a permanent one with an origin, are refused", async () => {
      const { store } = current();
      for (const approval of [
        sessionApproval("a-1", { sessionKey: null }),
        sessionApproval("a-2", { sessionKey: "" }),
        newApproval("a-3", { sessionKey: "s-1" }),
        newApproval("a-4", { userId: "anna" }),
      ]) {
        await expect(store.transaction((tx) => tx.approvals.insert(approval))).rejects.toThrow();
      }
    });

    test("the longest identities are kept and told apart", async () => {
      const { store } = current();
      // WHY: no two characters alike in a row, so that nothing fits by being compressed.
      const noise = (length: number, seed: number) =>
        Array.from({ length }, (_, at) =>
          String.fromCodePoint(0x4e00 + ((at * 7919 + seed * 104_729) % 20_000)),
        ).join("");
      const longest = (id: string, seed: number) => {
        const identity = tuple({
          subject: subject("x".repeat(128)),
          target: `https://a/${noise(2700, seed)}`,
        });
        const session = { organizationId: noise(256, 1), userId: noise(256, 2), sessionKey: noise(256, 3) };
        return {
          request: newRequest(id, { ...identity, ...session }),
          approval: sessionApproval(id, { ...identity, ...session }),
          denial: newDenial(id, identity),
          session,
        };
      };
      const [one, two] = [longest("one", 4), longest("two", 5)];
      await store.transaction(async (tx) => {
        for (const { request, approval, denial } of [one, two]) {
          expect(await tx.requests.insert(request)).toBe(true);
          expect(await tx.requests.insert({ ...request, id: "again" })).toBe(false);
          expect(await tx.approvals.insert(approval)).toBe(true);
          expect(await tx.denials.insert(denial)).toBe(true);
          expect((await tx.requests.findPending(request))?.id).toBe(request.id);
        }
        expect(await tx.sessions.end(one.session, 1)).toBe(true);
        expect((await tx.denials.findByTuple(two.denial))?.id).toBe("two");
      });
    });
  });
}
