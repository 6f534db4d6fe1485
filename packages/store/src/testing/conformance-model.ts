/**
 * Random histories against a plain model in memory: whatever order verbs come in, the store answers as the model.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AccessStore, PrincipalId } from "../port.ts";
import type { Current } from "./store-under-test.ts";
import { newApproval, newDenial, newRequest, tuple } from "./sample-rows.ts";

interface Model {
  readonly requests: Map<string, { key: string; pending: boolean; count: number }>;
  readonly approvals: Map<string, { key: string; target: string; left: number | null }>;
  readonly denials: Map<string, string>;
  revision: number;
}

const targets = ["/a", "/A", "/a ", "/\u00e9", "/e\u0301"];
const users: readonly (PrincipalId | null)[] = [21, "21", null];
const sessions = [null, "s", "S"];

const target = fc.constantFrom(...targets);
const user = fc.constantFrom(...users);
const session = fc.constantFrom(...sessions);

type Step =
  | {
      readonly kind: "request";
      readonly target: string;
      readonly user: PrincipalId | null;
      readonly session: string | null;
    }
  | { readonly kind: "settle"; readonly pick: number }
  | {
      readonly kind: "approve";
      readonly target: string;
      readonly user: PrincipalId | null;
      readonly session: string | null;
      readonly maxUses: number | null;
    }
  | { readonly kind: "spend"; readonly pick: number }
  | { readonly kind: "deny"; readonly target: string }
  | { readonly kind: "rollback"; readonly target: string };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("request" as const), target, user, session }),
  fc.record({ kind: fc.constant("settle" as const), pick: fc.nat() }),
  fc.record({
    kind: fc.constant("approve" as const),
    target,
    user,
    session,
    maxUses: fc.constantFrom(null, 1, 2),
  }),
  fc.record({ kind: fc.constant("spend" as const), pick: fc.nat() }),
  fc.record({ kind: fc.constant("deny" as const), target }),
  fc.record({ kind: fc.constant("rollback" as const), target }),
);

/** A key of the model only; the store has none. */
const keyOf = (...parts: readonly unknown[]): string => JSON.stringify(parts);

async function apply(
  store: AccessStore,
  model: Model,
  at: number,
  given: Step,
  prefix: string,
): Promise<void> {
  const id = `${prefix}-${at}`;
  const place = (text: string) => `${prefix}${text}`;
  switch (given.kind) {
    case "request": {
      const request = newRequest(id, {
        target: place(given.target),
        userId: given.user,
        sessionKey: given.session,
      });
      const key = keyOf(given.target, given.user, given.session);
      const known = [...model.requests].find(([, row]) => row.pending && row.key === key);
      const outcome = await store.transaction(async (tx) => {
        if (await tx.requests.insert(request)) return null;
        const found = await tx.requests.findPending(request);
        return found === null ? "lost" : [found.id, await tx.requests.touchPending(found.id, 2000)];
      });
      if (known === undefined) {
        expect(outcome).toBeNull();
        model.requests.set(id, { key, pending: true, count: 1 });
      } else {
        known[1].count += 1;
        expect(outcome).toEqual([known[0], known[1].count]);
      }
      return;
    }
    case "settle": {
      const [picked, row] = [...model.requests][given.pick % Math.max(1, model.requests.size)] ?? [
        "nobody",
        null,
      ];
      const settled = await store.transaction((tx) =>
        tx.requests.settle(picked, {
          from: "pending",
          to: "denied",
          decidedBy: 1,
          decidedAtMs: 1,
          reason: null,
          approvalId: null,
        }),
      );
      expect(settled).toBe(row?.pending ?? false);
      if (row !== null) row.pending = false;
      return;
    }
    case "approve": {
      const of =
        given.session === null
          ? {}
          : { scope: "session" as const, userId: given.user, sessionKey: given.session };
      const key = keyOf(given.target, given.session === null ? null : given.user, given.session);
      const free = ![...model.approvals.values()].some((row) => row.key === key);
      const inserted = await store.transaction(async (tx) => {
        await tx.denials.removeByTuple(tuple({ target: place(given.target) }));
        const done = await tx.approvals.insert(
          newApproval(id, { target: place(given.target), maxUses: given.maxUses, ...of }),
        );
        await tx.revisions.append({ body: null, createdMs: 1 });
        return done;
      });
      expect(inserted).toBe(free);
      if (free) model.approvals.set(id, { key, target: given.target, left: given.maxUses });
      model.denials.delete(given.target);
      model.revision += 1;
      return;
    }
    case "spend": {
      const [picked, row] = [...model.approvals][given.pick % Math.max(1, model.approvals.size)] ?? [
        "nobody",
        null,
      ];
      const use = await store.transaction((tx) => tx.approvals.spendUse(picked, 1));
      if (row === null || row.left === 0) expect(use).toEqual({ spent: false });
      else {
        if (row.left !== null) row.left -= 1;
        expect(use).toEqual({ spent: true, remaining: row.left });
      }
      return;
    }
    case "deny": {
      const removed = await store.transaction(async (tx) => {
        const gone = await tx.approvals.removeByTuple(tuple({ target: place(given.target) }));
        await tx.denials.insert(newDenial(id, { target: place(given.target) }));
        await tx.revisions.append({ body: null, createdMs: 1 });
        return gone.map((row) => row.id);
      });
      const expected = [...model.approvals]
        .filter(([, row]) => row.target === given.target)
        .map(([key]) => key);
      expect(removed.toSorted()).toEqual(expected.toSorted());
      for (const key of expected) model.approvals.delete(key);
      if (!model.denials.has(given.target)) model.denials.set(given.target, id);
      model.revision += 1;
      return;
    }
    case "rollback": {
      const failed = store.transaction(async (tx) => {
        await tx.approvals.removeByTuple(tuple({ target: place(given.target) }));
        await tx.denials.removeByTuple(tuple({ target: place(given.target) }));
        await tx.revisions.append({ body: null, createdMs: 1 });
        throw new Error("rolled back");
      });
      await expect(failed).rejects.toThrow("rolled back");
    }
  }
}

async function compare(store: AccessStore, model: Model, base: number, prefix: string): Promise<void> {
  await store.read(async (tx) => {
    for (const [id, row] of model.requests) {
      expect(await tx.requests.get(id)).toMatchObject({
        count: row.count,
        status: row.pending ? "pending" : "denied",
      });
    }
    for (const text of targets) {
      const here = tuple({ target: `${prefix}${text}` });
      const approvals = [...model.approvals].filter(([, row]) => row.target === text).map(([id]) => id);
      expect((await tx.approvals.findByTuple(here)).map(({ id }) => id).toSorted()).toEqual(
        approvals.toSorted(),
      );
      expect((await tx.denials.findByTuple(here))?.id).toBe(model.denials.get(text));
    }
    expect(await tx.revisions.current()).toBe(base + model.revision);
  });
}

export function modelConformance(current: Current): void {
  describe("the model", () => {
    test("random histories end in the state of the model", async () => {
      const { store } = current();
      let run = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
          run += 1;
          const prefix = `/run-${run}`;
          const base = await store.read((tx) => tx.revisions.current());
          const model: Model = { requests: new Map(), approvals: new Map(), denials: new Map(), revision: 0 };
          for (const [at, given] of steps.entries()) await apply(store, model, at, given, prefix);
          await compare(store, model, base, prefix);
        }),
        { numRuns: 25 },
      );
    });
  });
}
