import { StoreUnavailableError } from "@sallyport/store";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CountingStore } from "./testing/counting-store.ts";
import { type Fixture, READER, adminOf, logFaults, openFixture, receive } from "./testing/service-fixture.ts";
import { SharedTransaction } from "./shared-transaction.ts";

let fixture: Fixture;
let store: CountingStore;
beforeEach(async () => {
  fixture = await openFixture({ wrap: (real) => (store = new CountingStore(real)) });
});
afterEach(async () => {
  expect(await logFaults(fixture)).toEqual([]);
  await fixture.close();
});

const approve = (path: string) =>
  fixture.service.approvePermanently(adminOf(), {
    subject: READER,
    access: receive(`https://unknown.example.com/${path}`),
  });

describe("decisions that come together", () => {
  it("share a commit, and each has its own answer and its own revision", async () => {
    store.writes = 0;
    const decisions = await Promise.all(Array.from({ length: 10 }, (_, index) => approve(`${index}`)));
    // WHY two: the first does not wait, the others come while it is written.
    expect(store.writes).toBe(2);
    const revisions = decisions.map((decision) => (decision.ok ? decision.revision : null));
    expect(new Set(revisions).size).toBe(10);
    expect(decisions.every((decision) => decision.ok && !decision.repeated)).toBe(true);
  });

  it("see each other: of two of one kind on one thing the second is told that it was said before", async () => {
    const [, first, second] = await Promise.all([approve("other"), approve("same"), approve("same")]);
    expect([first.ok && first.repeated, second.ok && second.repeated]).toEqual([false, true]);
  });
});

describe("work that shares a transaction", () => {
  const shared = () => new SharedTransaction((work) => fixture.service.audit.transaction(work));
  const insert = (id: string) => async (tx: Parameters<Parameters<SharedTransaction["run"]>[0]>[0]) =>
    tx.records.insert({ kind: "sign_in", id, body: {}, createdMs: 1, dueMs: null });

  it("and fails is refused alone: the others are written", async () => {
    const together = shared();
    const answers = await Promise.allSettled([
      together.run(insert("first")),
      together.run(insert("second")),
      together.run(async () => {
        throw new TypeError("broken");
      }),
      together.run(insert("third")),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
    const { rows } = await fixture.store.read((tx) => tx.records.list("sign_in", { limit: 10 }));
    expect(rows.map(({ id }) => id).toSorted()).toEqual(["first", "second", "third"]);
  });

  it("is tried no second time where the store cannot answer: it may have been written", async () => {
    let tries = 0;
    const together = new SharedTransaction(async () => {
      tries += 1;
      throw new StoreUnavailableError("gone");
    });
    const answers = await Promise.allSettled([1, 2, 3].map((id) => together.run(insert(String(id)))));
    expect(answers.every(({ status }) => status === "rejected")).toBe(true);
    expect(tries).toBe(2);
  });
});
