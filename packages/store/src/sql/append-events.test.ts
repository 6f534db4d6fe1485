/** The rows of a batch are what was appended, however much or little its events have in common. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { EventRow } from "../port.ts";
import { type SqliteStore, openSqliteStore } from "../sqlite/open-sqlite-store.ts";
import { newEvent } from "../testing/sample-rows.ts";
import { ALIKE_CHUNK } from "./append-events.ts";

let folder: string;
let store: SqliteStore;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "sp-append-"));
  store = await openSqliteStore({ path: join(folder, "store.db") });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** So many sets of facts, in turns; every event has its own target, time and body. */
const eventsOf = (count: number, sets: number): readonly EventRow[] =>
  Array.from({ length: count }, (_, at) =>
    newEvent("n-1", at + 1, { subjectName: `demo.tool_${at % sets}`, target: `/data/${at}` }),
  );

const appended = async (events: readonly EventRow[]): Promise<readonly EventRow[]> => {
  await store.transaction((tx) => tx.events.append(events));
  return store.read((tx) => tx.events.range("n-1", { from: 1, to: 1000, limit: 1000 }));
};

test.each([
  ["one event", 1, 1],
  ["one less than a chunk", ALIKE_CHUNK - 1, 1],
  ["a whole chunk of one kind", ALIKE_CHUNK, 1],
  ["two kinds", ALIKE_CHUNK * 2, 2],
  ["as many kinds as there is room for, and a rest", ALIKE_CHUNK * 2 + 7, 16],
  ["more kinds than there is room for", ALIKE_CHUNK, 17],
  ["nothing in common at all", ALIKE_CHUNK * 2, ALIKE_CHUNK * 2],
])("%s is appended as it is", async (_name, count, sets) => {
  const events = eventsOf(count, sets);
  expect(await appended(events)).toEqual(events);
});

test("events that differ in one field only, or only in the kind of an id, stay apart", async () => {
  const changes: readonly Partial<EventRow>[] = [
    {},
    { type: "sandbox.violation" },
    { subjectType: "agent" },
    { subjectName: null },
    { resourceType: "network" },
    { operation: "delete" },
    { organizationId: null },
    { organizationId: "21" },
    { userId: 21 },
    { userId: "21" },
    { sessionKey: null },
    { taskId: "task-1" },
    { requestId: "r-1" },
    { decision: "allowed" },
    { decisionSource: null },
    { code: null },
  ];
  const events = Array.from({ length: ALIKE_CHUNK }, (_, at) =>
    newEvent("n-1", at + 1, changes[at % changes.length] ?? {}),
  );
  expect(await appended(events)).toEqual(events);
});

test("a batch with a row that is there already leaves nothing behind", async () => {
  const [first, ...others] = eventsOf(ALIKE_CHUNK, 3);
  if (first === undefined) throw new Error("there are no events");
  await appended([first]);
  await expect(appended([...others, first])).rejects.toThrow();
  expect(await store.read((tx) => tx.events.range("n-1", { from: 1, to: 1000, limit: 1000 }))).toEqual([
    first,
  ]);
});
