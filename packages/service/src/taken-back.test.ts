import { afterEach, describe, expect, it } from "vitest";
import { AccessService } from "./access-service.ts";
import { CredentialBook } from "./credential-book.ts";
import { systemClock } from "./node-clock.ts";
import { FaultyStore } from "./testing/faulty-store.ts";
import { type Fixture, adminOf, logFaults, openFixture } from "./testing/service-fixture.ts";

let fixture: Fixture;
let other: AccessService | undefined;
afterEach(async () => {
  await other?.stop();
  other = undefined;
  expect(await logFaults(fixture)).toEqual([]);
  await fixture.close();
});

/** Two nodes on one store. */
async function openNodes() {
  let storeA: FaultyStore | undefined;
  fixture = await openFixture({ wrap: (real) => (storeA = new FaultyStore(real, "postgres")) });
  const storeB = new FaultyStore((storeA as FaultyStore).real, "postgres");
  other = new AccessService({ ...fixture.options, store: storeB, nodeId: "node-b" });
  await other.start();
  return { a: fixture.service, b: other, storeA: storeA as FaultyStore, storeB };
}

const TOKEN = { credentialId: "credential-1", tokenId: "token-1" };
const LATER_MS = Date.now() + 3_600_000;

describe("a credential that is taken back", () => {
  it("on one node is taken by no other from the moment that is acknowledged", async () => {
    const { a, b, storeA, storeB } = await openNodes();
    const here = new CredentialBook(storeA, systemClock, a.overview);
    const there = new CredentialBook(storeB, systemClock, b.overview);
    expect(await there.isRevoked(TOKEN)).toBe(false);
    // WHY not awaited: it is answered from memory.
    expect(there.isRevoked(TOKEN)).toBe(false);
    await here.revoke(TOKEN.credentialId, LATER_MS);
    expect(await there.isRevoked(TOKEN)).toBe(true);
    expect(await here.isRevoked(TOKEN)).toBe(true);
    expect(await there.isRevoked({ ...TOKEN, credentialId: "credential-2", tokenId: "token-2" })).toBe(false);
  });

  it("is read again by a node that cannot vouch for what it holds, and refused where the store is silent", async () => {
    const { b, storeB } = await openNodes();
    const there = new CredentialBook(storeB, systemClock, b.overview);
    expect(await there.isRevoked(TOKEN)).toBe(false);
    await b.stop();
    expect(b.overview.standing()).toBeNull();
    expect(await there.isRevoked(TOKEN)).toBe(false);
    storeB.failsReads = true;
    expect(await there.isRevoked(TOKEN)).toBe(true);
    storeB.failsReads = false;
  });

  it("by its token alone leaves other tokens of the credential as they are", async () => {
    const { a, storeA } = await openNodes();
    const here = new CredentialBook(storeA, systemClock, a.overview);
    const renewed = { ...TOKEN, tokenId: "token-2" };
    expect(await here.isRevoked(renewed)).toBe(false);
    await here.revoke(TOKEN.tokenId, LATER_MS);
    // WHY in this order: what is known of one token must not pass for the other.
    expect(await here.isRevoked(renewed)).toBe(false);
    expect(await here.isRevoked(TOKEN)).toBe(true);
  });
});

describe("records that are taken back", () => {
  it("change what every node stands by, and nothing of the policy", async () => {
    const { a, b } = await openNodes();
    await a.overview.writeRecords((records) =>
      records.insert({ kind: "sign_in", id: "s", body: {}, createdMs: 1, dueMs: LATER_MS }),
    );
    const before = b.overview.standing();
    const gone = await a.overview.takeBackRecords((records) => records.remove("sign_in", "s"));
    expect(gone?.id).toBe("s");
    expect(b.overview.standing()).toBeGreaterThan(before ?? Number.NaN);
    const standing = a.overview.standing();
    expect(await a.overview.takeBackRecords((records) => records.remove("sign_in", "s"))).toBeNull();
    expect(a.overview.standing()).toBe(standing);
    expect((await a.list.rules(adminOf())).length).toBe(0);
  });

  it("with an act are told to every node as well, in the transaction of the act", async () => {
    const { a, b } = await openNodes();
    const before = b.overview.standing();
    const act = { value: true, before: null, after: null };
    await a.overview.act(adminOf(), "set_account", async () => act);
    expect(b.overview.standing()).toBe(before);
    await a.overview.act(adminOf(), "set_account", async () => ({ ...act, isTakenBack: true }));
    expect(b.overview.standing()).toBeGreaterThan(before ?? Number.NaN);
  });
});
