import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { AccessService } from "../access-service.ts";
import { FaultyStore } from "../testing/faulty-store.ts";
import {
  type ChildPrograms,
  type GatedChild,
  buildChildPrograms,
  startChild,
} from "../testing/gate-fixture.ts";
import {
  type Fixture,
  READER,
  adminOf,
  callerOf,
  logFaults,
  openFixture,
  receive,
} from "../testing/service-fixture.ts";

const UNKNOWN = { resourceType: "network", operation: "receive", target: "https://unknown.example.com/a" };
const LEASE_MS = 1000;

let programs: ChildPrograms;
let fixture: Fixture;
let other: AccessService;
let child: GatedChild;

beforeAll(async () => {
  programs = await buildChildPrograms();
});
afterAll(() => programs.remove());
afterEach(async () => {
  await child.kill();
  await other.stop();
  expect(await logFaults(fixture)).toEqual([]);
  await fixture.close();
});

/** Two nodes on one store; the child is at the second one. */
async function openNodes() {
  let storeA: FaultyStore | undefined;
  const timing = { beatMs: 50, leaseMs: LEASE_MS };
  fixture = await openFixture({ wrap: (real) => (storeA = new FaultyStore(real, "postgres")), ...timing });
  const storeB = new FaultyStore((storeA as FaultyStore).real, "postgres");
  other = new AccessService({ ...fixture.options, store: storeB, nodeId: "node-b" });
  await other.start();
  const started = await startChild(other, programs, callerOf());
  child = started.child;
  return { a: fixture.service, storeB, session: started.session };
}

async function approve(a: AccessService): Promise<string> {
  const by = { subject: READER, access: receive(UNKNOWN.target) };
  const decision = await a.approvePermanently(adminOf(), by);
  if (!decision.ok) throw new Error(decision.message);
  await expect.poll(() => child.foreseen(UNKNOWN)).toBe("allowed_permanent");
  return decision.approval?.id ?? "";
}

describe("a revocation on one node", () => {
  it("is acknowledged only when no child of another node can still use it", async () => {
    const { a } = await openNodes();
    let stale = 0;
    for (let round = 0; round < 10; round++) {
      const id = await approve(a);
      await a.revokeApproval(adminOf(), { id });
      if ((await child.foreseen(UNKNOWN)) === "allowed_permanent") stale += 1;
    }
    expect(stale).toBe(0);
  });

  it("waits for the lease of a child of another node that stands still", async () => {
    const { a, session } = await openNodes();
    const id = await approve(a);
    child.process.kill("SIGSTOP");
    expect(session.isFenced).toBe(false);
    await a.revokeApproval(adminOf(), { id });
    expect(session.isFenced).toBe(true);
    const codes = Array.from({ length: 20 }, () => child.foreseen(UNKNOWN));
    child.process.kill("SIGCONT");
    expect(await Promise.all(codes)).not.toContain("allowed_permanent");
  });

  it("waits for the children of a node that is cut off from the store", async () => {
    const { a, storeB } = await openNodes();
    const id = await approve(a);
    storeB.deaf = true;
    storeB.failsReads = true;
    storeB.failsWrites = true;
    await a.revokeApproval(adminOf(), { id });
    expect(await child.foreseen(UNKNOWN)).toBe("unavailable");
    storeB.deaf = false;
    storeB.failsReads = false;
    storeB.failsWrites = false;
    await expect.poll(() => child.foreseen(UNKNOWN)).toBe("approval_required");
  });
});
