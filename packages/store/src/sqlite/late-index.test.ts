/** Events that are indexed later are found by every search, as if they were indexed at once. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AccessStore, EventFilter, EventRow } from "../port.ts";
import { newEvent } from "../testing/sample-rows.ts";
import { openSqliteStore } from "./open-sqlite-store.ts";

let folder: string;
let store: AccessStore;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "sp-late-"));
  store = await open();
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});
const open = (): Promise<AccessStore> => openSqliteStore({ path: join(folder, "store.db") });

const FIELDS = ["target", "code", "decisionSource", "sessionKey", "taskId", "requestId", "userId"] as const;
const VALUE = fc.integer({ min: 0, max: 3 });
const STEP = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("append" as const), count: fc.integer({ min: 1, max: 4 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("append" as const), count: fc.constantFrom(120, 300) }),
  },
  // WHY: a hundred that are alike are indexed at once, whatever was left before them.
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("alike" as const), count: fc.constantFrom(100, 103) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("lost" as const), count: fc.constantFrom(1, 280) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("reopen" as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("search" as const),
      field: fc.constantFrom(...FIELDS),
      value: VALUE,
      inWrite: fc.boolean(),
    }),
  },
);

const valueOf = (field: (typeof FIELDS)[number], value: number): string | number =>
  field === "userId" ? value : `${field}-${value}`;

/** Fields of a row follow from its number, each in its own rhythm. */
function rowOf(seq: number): EventRow {
  const values = Object.fromEntries(
    FIELDS.map((field, at) => [field, valueOf(field, ((seq + at) % (at + 3)) % 4)]),
  );
  return newEvent("n-1", seq, { ...values, timeMs: 1000 + seq });
}

describe("a search", () => {
  it("finds what a look at every row finds, whatever was appended, lost or opened again before", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(STEP, { minLength: 1, maxLength: 20 }), async (steps) => {
        const kept: EventRow[] = [];
        const from = await store.read(async (tx) => (await tx.events.lastOf("n-1"))?.seq ?? 0);
        let seq = from;
        for (const step of steps) {
          if (step.kind === "append" || step.kind === "alike") {
            const like = rowOf(seq);
            const rows = Array.from({ length: step.count }, () =>
              step.kind === "append" ? rowOf(++seq) : { ...like, seq: ++seq, timeMs: 1000 + seq },
            );
            await store.transaction((tx) => tx.events.append(rows));
            kept.push(...rows);
          } else if (step.kind === "lost") {
            const rows = Array.from({ length: step.count }, (_, at) => rowOf(seq + at + 1));
            const fault = new Error("lost");
            const lost = store.transaction(async (tx) => {
              await tx.events.append(rows);
              await tx.events.search({ code: "code-1" }, { limit: 1 });
              throw fault;
            });
            await expect(lost).rejects.toBe(fault);
          } else if (step.kind === "reopen") {
            await store.close();
            store = await open();
          } else {
            const value = valueOf(step.field, step.value);
            const filter = { [step.field]: value, fromMs: 1000 + from + 1 } as EventFilter;
            const look = step.inWrite ? store.transaction.bind(store) : store.read.bind(store);
            const { rows } = await look((tx) => tx.events.search(filter, { limit: 1000 }));
            const wanted = kept.filter((row) => row[step.field] === value).map((row) => row.seq);
            expect(rows.map((row) => row.seq).toSorted((a, b) => a - b)).toEqual(wanted);
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});
