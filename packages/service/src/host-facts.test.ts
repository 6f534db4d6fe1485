import { afterEach, describe, expect, it } from "vitest";
import type { AccessStore } from "@sallyport/store";
import { HostFacts } from "./host-facts.ts";
import { LiveSnapshot } from "./live-snapshot.ts";
import { systemClock } from "./node-clock.ts";
import { type Fixture, DEMO, READER, openFixture, parseUrl, seed } from "./testing/service-fixture.ts";

let fixture: Fixture;
afterEach(() => fixture.close());

const contract = (id: string) => ({ kind: "contract_set", contract: { id, access: [] } }) as const;

describe("facts of the host", () => {
  it("are there as they stand, without what is over", async () => {
    fixture = await openFixture();
    const facts = new HostFacts();
    for (let index = 0; index < 1000; index++) {
      facts.take(contract(`one-off-${index}`));
      facts.take({ kind: "contract_removed", id: `one-off-${index}` });
    }
    const demo = { kind: "subject_registered", registration: { subject: DEMO, contracts: [] } } as const;
    facts.take(contract("kept"));
    facts.take(demo);
    facts.take({ kind: "subject_registered", registration: { subject: READER, contracts: [] } });
    facts.take({ kind: "subject_unregistered", subject: READER });
    expect([...facts]).toEqual([contract("kept"), demo]);
  });

  it("that make no sense are refused, and not remembered", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const access = [{ resourceType: "filesystem", operation: "read", target: "not absolute" }] as const;
    expect(() => service.applyHost({ kind: "contract_set", contract: { id: "bad", access } })).toThrow(
      /^contract_set: /,
    );
  });

  it("that are stated while the view is made anew are in the new view", async () => {
    fixture = await openFixture();
    const { store } = fixture;
    let whileLoading: () => void = () => undefined;
    const read: AccessStore["read"] = (work) =>
      store.read(async (tx) => {
        const result = await work(tx);
        if (result instanceof Object && "held" in result) whileLoading();
        return result;
      });
    const watched: AccessStore = {
      engine: store.engine,
      read,
      transaction: (work) => store.transaction(work),
      onRevision: (listener) => store.onRevision(listener),
      close: () => store.close(),
    };
    const live = new LiveSnapshot({
      store: watched,
      nodeId: "node-b",
      clock: systemClock,
      seed,
      parseUrl,
      confirmable: (revision) => revision,
      hostFacts: [contract("first")],
      faulted: (error) => expect.fail(String(error)),
    });
    whileLoading = () => live.applyHost(contract("late"));
    await live.start();
    await live.stop();
    expect([...live.snapshot.contracts.keys()]).toEqual(["first", "late"]);
  });
});
