import { parseHost } from "@sallyport/contract";
import { afterEach, describe, expect, it } from "vitest";
import type { NetworkAllowed } from "./node-parts.ts";
import {
  type Fixture,
  type FixtureOptions,
  READER,
  access,
  adminOf,
  ask,
  callerOf,
  closeSound,
  eventsOf,
  openFixture,
  parseUrl,
  receive,
} from "./testing/service-fixture.ts";

const DECLARED = receive("https://declared.example.com/x");
const APPROVED = receive("https://approved.example.com:8443/a");
const ADDRESS = parseHost("93.184.216.34", parseUrl);

let fixture: Fixture;
let heard: NetworkAllowed[];
let faults: unknown[];
afterEach(() => closeSound(fixture));

async function open(changes: FixtureOptions = {}): Promise<Fixture["service"]> {
  heard = [];
  faults = [];
  fixture = await openFixture({
    onNetworkAllowed: (allowed) => void heard.push(allowed),
    onFault: (error) => void faults.push(error),
    ...changes,
  });
  return fixture.service;
}

async function observed(): Promise<unknown[]> {
  const events = await eventsOf(fixture);
  return events
    .filter(({ type }) => type === "permission.evaluated")
    .map(({ body }) => (JSON.parse(body) as { data: { observed_target?: string } }).data.observed_target);
}

describe("an allowed network access", () => {
  it("is recorded with the endpoint that is dialled, and told to whoever stands at the wall", async () => {
    const service = await open();
    await service.approvePermanently(adminOf(), { subject: READER, access: APPROVED });
    const first = await service.check(callerOf(), ask(DECLARED, { address: ADDRESS }));
    const second = await service.check(callerOf(), ask(APPROVED));
    const session = { organizationId: 7, userId: 21, sessionKey: "sess-21" };
    expect(heard).toEqual([
      { decisionId: first.decision.id, subject: READER, access: DECLARED, address: ADDRESS, session },
      { decisionId: second.decision.id, subject: READER, access: APPROVED, address: null, session },
    ]);
    expect(heard.every((allowed) => Object.isFrozen(allowed))).toBe(true);
    expect(await observed()).toEqual(["93.184.216.34:443", "approved.example.com:8443"]);
  });

  it("by a counted approval is told once for each use", async () => {
    const service = await open();
    await service.approvePermanently(adminOf(), { subject: READER, access: APPROVED }, { maxUses: 1 });
    await service.check(callerOf(), ask(APPROVED, { enforced: true }));
    await service.check(callerOf(), ask(APPROVED, { enforced: true }));
    expect(heard).toHaveLength(1);
  });

  it("is told after it is on record", async () => {
    let stored = Promise.resolve(-1);
    const service = await open({
      onNetworkAllowed: () => {
        stored = fixture.store.read(async (tx) => (await tx.events.lastOf("node-a"))?.seq ?? 0);
      },
    });
    await service.approvePermanently(adminOf(), { subject: READER, access: APPROVED });
    const before = await fixture.store.read(async (tx) => (await tx.events.lastOf("node-a"))?.seq ?? 0);
    await service.check(callerOf(), ask(APPROVED));
    expect(await stored).toBe(before + 1);
  });

  it("stays allowed where the listener throws, and the host hears of it", async () => {
    const service = await open({
      onNetworkAllowed: () => {
        throw new Error("the sandbox is gone");
      },
    });
    expect(await service.check(callerOf(), ask(DECLARED))).toMatchObject({ code: "allowed_sandbox" });
    expect(faults).toHaveLength(1);
  });
});

describe("what is not told", () => {
  it("is a network access that is not allowed, and a file", async () => {
    const service = await open();
    await service.check(callerOf(), ask(receive("https://unknown.example.com/"), { address: ADDRESS }));
    await service.check(callerOf(), ask(access("filesystem", "modify", "/srv/declared/x")));
    expect(heard).toEqual([]);
    expect(await observed()).toEqual([undefined]);
  });
});
