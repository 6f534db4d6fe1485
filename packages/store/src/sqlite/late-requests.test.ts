/** Requests and approvals that are indexed later are listed, counted and found due as if they were indexed at once. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RequestStatus } from "@sallyport/contract";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AccessStore, StoreReader } from "../port.ts";
import { newApproval, newRequest } from "../testing/sample-rows.ts";
import { openSqliteStore } from "./open-sqlite-store.ts";

let folder: string;
let store: AccessStore;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "sp-late-requests-"));
  store = await open();
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});
const open = (): Promise<AccessStore> => openSqliteStore({ path: join(folder, "store.db") });

const SETTLED = ["approved_permanent", "denied", "expired"] as const;
type Settled = (typeof SETTLED)[number];
const STATUSES: readonly RequestStatus[] = ["pending", ...SETTLED];
const TTL_MS = 1000;

const settled = fc.record({ to: fc.constantFrom(...SETTLED), pick: fc.nat({ max: 400 }) });
const STEP = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("ask" as const),
      count: fc.constantFrom(1, 2, 3, 300),
      isLost: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("settle" as const),
      each: fc.array(settled, { minLength: 1, maxLength: 5 }),
      isLost: fc.boolean(),
      looksInside: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("settle all" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("revoke" as const), pick: fc.nat({ max: 400 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("reopen" as const) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("look" as const), inWrite: fc.boolean() }) },
);

/** What the store must say, in the order in which it was asked for. */
interface Model {
  readonly requests: Map<string, { readonly at: number; status: RequestStatus }>;
  readonly approvals: string[];
}

const settlement = (to: Settled, approvalId: string | null) =>
  ({ from: "pending", to, decidedBy: null, decidedAtMs: 1, reason: null, approvalId }) as const;
const fault = new Error("lost");

describe("a list", () => {
  it("holds what a look at every row finds, whatever was settled, undone or opened again before", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(STEP, { minLength: 1, maxLength: 24 }), async (steps) => {
        await store.close();
        rmSync(folder, { recursive: true, force: true });
        folder = mkdtempSync(join(tmpdir(), "sp-late-requests-"));
        store = await open();
        const model: Model = { requests: new Map(), approvals: [] };
        for (const step of steps) await apply(model, step);
        await store.read((tx) => compare(tx, model));
      }),
      { numRuns: 40 },
    );
  });
});

type Step = typeof STEP extends fc.Arbitrary<infer T> ? T : never;
let at = 0;

async function apply(model: Model, step: Step): Promise<void> {
  if (step.kind === "ask") {
    const made = Array.from({ length: step.count }, () => ++at);
    const asked = store.transaction(async (tx) => {
      for (const each of made)
        await tx.requests.insert(
          newRequest(`r-${each}`, { target: `/${each}`, firstSeenMs: each, expiresAtMs: each + TTL_MS }),
        );
      if (step.isLost) throw fault;
    });
    if (step.isLost) await expect(asked).rejects.toBe(fault);
    else await asked;
    if (!step.isLost)
      for (const each of made) model.requests.set(`r-${each}`, { at: each, status: "pending" });
  } else if (step.kind === "settle") {
    await settle(model, step.each, step);
  } else if (step.kind === "settle all") {
    const each = [...model.requests.keys()].map((_, pick) => ({ to: "denied" as const, pick }));
    await settle(model, each, { isLost: false, looksInside: false });
  } else if (step.kind === "revoke") {
    const id = model.approvals[step.pick % Math.max(1, model.approvals.length)];
    if (id === undefined) return;
    expect(await store.transaction((tx) => tx.approvals.remove(id))).not.toBeNull();
    model.approvals.splice(model.approvals.indexOf(id), 1);
  } else if (step.kind === "reopen") {
    await store.close();
    store = await open();
  } else {
    const look = step.inWrite ? store.transaction.bind(store) : store.read.bind(store);
    await look((tx) => compare(tx, model));
  }
}

async function settle(
  model: Model,
  each: readonly { readonly to: Settled; readonly pick: number }[],
  { isLost, looksInside }: { readonly isLost: boolean; readonly looksInside: boolean },
): Promise<void> {
  const ids = [...model.requests.keys()];
  const after: Model = {
    requests: new Map([...model.requests].map(([id, row]) => [id, { ...row }])),
    approvals: [...model.approvals],
  };
  const done = store.transaction(async (tx) => {
    for (const { to, pick } of each) {
      const id = ids[pick % Math.max(1, ids.length)];
      const row = id === undefined ? undefined : after.requests.get(id);
      if (id === undefined || row === undefined) continue;
      const approvalId = to === "approved_permanent" ? `a-${row.at}` : null;
      expect(await tx.requests.settle(id, settlement(to, approvalId))).toBe(row.status === "pending");
      if (row.status !== "pending") continue;
      row.status = to;
      if (approvalId === null) continue;
      await tx.approvals.insert(newApproval(approvalId, { target: `/${row.at}`, createdMs: row.at }));
      after.approvals.push(approvalId);
    }
    if (looksInside) await compare(tx, after);
    if (isLost) throw fault;
  });
  if (isLost) return expect(done).rejects.toBe(fault);
  await done;
  for (const [id, row] of after.requests) model.requests.set(id, row);
  model.approvals.splice(0, Infinity, ...after.approvals);
}

async function compare(tx: StoreReader, model: Model): Promise<void> {
  for (const status of STATUSES) {
    const wanted = [...model.requests].filter(([, row]) => row.status === status).map(([id]) => id);
    const { rows } = await tx.requests.list({ status }, { limit: 1000, order: "oldest" });
    expect(rows.map(({ id }) => id)).toEqual(wanted.slice(0, 1000));
    expect(await tx.requests.count({ status })).toBe(wanted.length);
    if (status !== "pending") continue;
    const due = await tx.requests.due(at + TTL_MS, 1000);
    expect(due.map(({ id }) => id)).toEqual(wanted.slice(0, 1000));
  }
  const { rows } = await tx.approvals.list({}, { limit: 1000 });
  expect(rows.map(({ id }) => id).toSorted()).toEqual(model.approvals.toSorted());
}
