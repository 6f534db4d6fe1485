/** Children of two nodes on a real PostgreSQL server. */
import { type PostgresServer, startPostgres } from "@sallyport/store/testing";
import { openPostgresStore } from "@sallyport/store/postgres";
import type { AccessStore } from "@sallyport/store";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { AccessService } from "../access-service.ts";
import {
  type ChildPrograms,
  type GatedChild,
  buildChildPrograms,
  socketPair,
  startChild,
} from "../testing/gate-fixture.ts";
import { RawEnd } from "../testing/raw-end.ts";
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
const DECLARED = { ...UNKNOWN, target: "https://declared.example.com/a" };
const LONG_LEASE_MS = 600_000;

let server: PostgresServer;
let url: string;
let programs: ChildPrograms;
let fixture: Fixture;
let storeB: AccessStore;
let a: AccessService;
let b: AccessService;
const children: GatedChild[] = [];
const ends: RawEnd[] = [];

beforeAll(async () => {
  server = await startPostgres();
  programs = await buildChildPrograms();
});
afterAll(async () => {
  programs.remove();
  await server.stop();
});
afterEach(async () => {
  for (const child of children.splice(0)) await child.kill();
  for (const end of ends.splice(0)) end.socket.destroy();
  await b.stop();
  expect(await logFaults(fixture)).toEqual([]);
  expect(await a.audit.verify(new Map(), "node-b")).toMatchObject({ ok: true });
  await fixture.close();
  await storeB.close();
});

async function openNodes(timing: { readonly leaseMs?: number } = {}): Promise<void> {
  url = await server.makeDatabase();
  storeB = await openPostgresStore({ url });
  fixture = await openFixture({ opened: await openPostgresStore({ url }), ...timing });
  a = fixture.service;
  b = new AccessService({ ...fixture.options, store: storeB, nodeId: "node-b" });
  b.applyHost({
    kind: "contract_set",
    contract: {
      id: "contract-demo",
      access: [{ resourceType: "network", operation: "receive", target: "https://declared.example.com" }],
    },
  });
  await b.start();
}

async function childOf(node: AccessService, mode: "async" | "sync" = "async") {
  const started = await startChild(node, programs, callerOf(), mode);
  children.push(started.child);
  return started;
}

async function approveOn(node: AccessService): Promise<string> {
  const by = { subject: READER, access: receive(UNKNOWN.target) };
  const decision = await node.approvePermanently(adminOf(), by);
  if (!decision.ok) throw new Error(decision.message);
  return decision.approval?.id ?? "";
}

describe("a revocation on one node", () => {
  it("is acknowledged when no child of either node can use it any more, whichever revokes", async () => {
    await openNodes();
    const started = [await childOf(a), await childOf(b), await childOf(b, "sync")];
    let stale = 0;
    for (let round = 0; round < 10; round++) {
      const node = round % 2 === 0 ? a : b;
      const id = await approveOn(node);
      for (const { child } of started)
        await expect.poll(() => child.foreseen(UNKNOWN)).toBe("allowed_permanent");
      await node.revokeApproval(adminOf(), { id });
      for (const { child } of started)
        if ((await child.foreseen(UNKNOWN)) === "allowed_permanent") stale += 1;
    }
    expect(stale).toBe(0);
  });

  it("waits until the child of the other node has confirmed, and no longer", async () => {
    await openNodes({ leaseMs: LONG_LEASE_MS });
    const { near, far } = await socketPair();
    const end = new RawEnd(far);
    ends.push(end);
    const session = b.gate.attachChild(near, callerOf());
    await end.greet();
    const id = await approveOn(a);
    end.confirms(await end.next("delta"));
    let acknowledged = false;
    const revoking = a.revokeApproval(adminOf(), { id }).then((answer) => {
      acknowledged = true;
      return answer;
    });
    const taken = await end.next("delta");
    expect(JSON.parse(taken["changes"] as string)).toEqual([{ kind: "approval_removed", id }]);
    // Whatever the nodes still say to each other, only the child can end it.
    for (let round = 0; round < 5; round++) {
      await b.beat();
      await a.beat();
    }
    expect(acknowledged).toBe(false);
    expect(session.isFenced).toBe(false);
    end.confirms(taken);
    expect(await revoking).toMatchObject({ ok: true });
    expect(session.isFenced).toBe(false);
    // WHY: the lease is long, and a service that stops waits for children that do not say that they are gone.
    end.socket.end();
    await expect.poll(() => session.isFenced).toBe(true);
  });

  it("waits for the lease of a child of the other node that stands still", async () => {
    await openNodes();
    const { child, session } = await childOf(b);
    const id = await approveOn(a);
    await expect.poll(() => child.foreseen(UNKNOWN)).toBe("allowed_permanent");
    child.process.kill("SIGSTOP");
    expect(session.isFenced).toBe(false);
    await a.revokeApproval(adminOf(), { id });
    expect(session.isFenced).toBe(true);
    const codes = Array.from({ length: 20 }, () => child.foreseen(UNKNOWN));
    child.process.kill("SIGCONT");
    expect(await Promise.all(codes)).not.toContain("allowed_permanent");
  });

  it("does not wait for a child of the other node that is gone", async () => {
    await openNodes({ leaseMs: LONG_LEASE_MS });
    const { child } = await childOf(b);
    const id = await approveOn(a);
    await expect.poll(() => child.foreseen(UNKNOWN)).toBe("allowed_permanent");
    await child.kill();
    expect(await a.revokeApproval(adminOf(), { id })).toMatchObject({ ok: true });
  });
});

describe("a child of a node whose database is gone", () => {
  it("loses its approvals, keeps its allowlist, and has both when it is back", async () => {
    await openNodes();
    const { child } = await childOf(b);
    await approveOn(a);
    await expect.poll(() => child.foreseen(UNKNOWN)).toBe("allowed_permanent");
    const release = await server.hold(url, "lock table node in access exclusive mode");
    await expect.poll(() => child.foreseen(UNKNOWN), { timeout: 30_000 }).toBe("unavailable");
    expect(await child.code(DECLARED)).toBe("allowed_sandbox");
    await release();
    await expect.poll(() => child.foreseen(UNKNOWN), { timeout: 30_000 }).toBe("allowed_permanent");
  });
});
