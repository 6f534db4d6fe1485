import { afterEach, describe, expect, it } from "vitest";
import { AccessService } from "./access-service.ts";
import type { AccessServiceOptions } from "./service-options.ts";
import type { Decided, Decision } from "./decision-request.ts";
import { FaultyStore } from "./testing/faulty-store.ts";
import {
  type Fixture,
  READER,
  TestClock,
  adminOf,
  ask,
  callerOf,
  logFaults,
  openFixture,
  read,
  receive,
  shown,
} from "./testing/service-fixture.ts";

const TARGET = receive("https://unknown.example.com/a");
const CONTRACT = {
  kind: "contract_set",
  contract: {
    id: "contract-demo",
    access: [{ resourceType: "network", operation: "receive", target: "https://declared.example.com" }],
  },
} as const;

/** More of them with the environment variable. */
const PAIRS = Number(process.env["SALLYPORT_REVOKE_PAIRS"] ?? 20);
const LONG = { timeout: 120_000 + PAIRS * 1000 };

let fixture: Fixture;
let others: AccessService[] = [];
afterEach(async () => {
  for (const other of others) await other.stop();
  others = [];
  expect(await logFaults(fixture)).toEqual([]);
  await fixture.close();
});

/** Two nodes on one store. */
async function openNodes(
  changes: Partial<AccessServiceOptions> = {},
  engineOfA: "postgres" | "sqlite" = "postgres",
) {
  let storeA: FaultyStore | undefined;
  fixture = await openFixture({ wrap: (real) => (storeA = new FaultyStore(real, engineOfA)), ...changes });
  const real = (storeA as FaultyStore).real;
  const storeB = new FaultyStore(real, "postgres");
  const b = new AccessService({ ...fixture.options, store: storeB, nodeId: "node-b", ...changes });
  b.applyHost(CONTRACT);
  await b.start();
  others.push(b);
  return { a: fixture.service, b, storeB, real };
}

const codeOn = async (service: AccessService, what = TARGET) =>
  (await service.check(callerOf(), ask(what, { registerRequest: false }))).code;

const decided = (decision: Decision): Decided => {
  if (!decision.ok) throw new Error(decision.message);
  return decision;
};

async function approve(service: AccessService, what = TARGET): Promise<string> {
  const answer = decided(await service.approvePermanently(adminOf(), { subject: READER, access: what }));
  return answer.approval?.id ?? "";
}

describe("a node", () => {
  it("hears what another one decided", async () => {
    const { a, b } = await openNodes();
    await approve(a);
    await expect.poll(() => codeOn(b)).toBe("allowed_permanent");
    await a.deny(adminOf(), { subject: READER, access: TARGET });
    expect(await codeOn(b)).toBe("resource_disabled");
    await b.setMode(adminOf(), { mode: "never" });
    expect(await codeOn(a, read("/srv/other"))).toBe("denied_mode");
  });

  it("answers a repeated revocation or denial no earlier than the first one", async () => {
    const { a, real } = await openNodes({ leaseMs: 600_000, beatMs: 600_000 });
    const id = await approve(a);
    const deafNode = { id: "node-deaf", confirmedRevision: 0, startedMs: 0, info: null };
    const leaseUntilMs = Date.now() + 600_000;
    await real.transaction((tx) => tx.nodes.upsert({ ...deafNode, leaseUntilMs }));
    const answered: string[] = [];
    const told = <T>(name: string, answer: Promise<T>): Promise<T> =>
      answer.finally(() => answered.push(name));
    const first = told("first", a.revokeApproval(adminOf(), { id }));
    await expect.poll(() => codeOn(a)).toBe("approval_required");
    const again = told("again", a.revokeApproval(adminOf(2), { id }));
    const other = receive("https://unknown.example.com/b");
    const denial = told("denial", a.deny(adminOf(), { subject: READER, access: other }));
    await expect.poll(() => codeOn(a, other)).toBe("resource_disabled");
    const same = told("same", a.deny(adminOf(), { subject: READER, access: other }));
    // WHY: a few turns of the store, in which an answer that does not wait would have come.
    for (let turn = 0; turn < 20; turn++) await real.transaction((tx) => tx.revisions.current());
    expect(answered).toEqual([]);
    await real.transaction((tx) => tx.nodes.remove("node-deaf"));
    expect(await again).toMatchObject({ ok: true, repeated: true });
    expect(await same).toMatchObject({ ok: true, repeated: true });
    await Promise.all([first, denial]);
  });

  it("wakes a caller that waits on another one", async () => {
    const { a, b } = await openNodes();
    const waiting = b.check(callerOf(), ask(TARGET, { wait: { timeoutMs: 60_000 } }));
    await expect.poll(async () => (await a.list.requests(adminOf())).rows.length).toBe(1);
    const { rows } = await a.list.requests(adminOf());
    await a.approveForSession(adminOf(), await shown(a, rows[0]?.id));
    expect(await waiting).toMatchObject({ code: "allowed_session" });
  });

  it("takes everything anew where the log of changes was trimmed", async () => {
    const { a, b, storeB, real } = await openNodes({ beatMs: 600_000, leaseMs: 600_000 });
    storeB.deaf = true;
    const approving = [approve(a), approve(a, read("/srv/x"))];
    await Promise.all(approving);
    await real.transaction(async (tx) => tx.revisions.trim(await tx.revisions.current()));
    await b.beat();
    expect(await codeOn(b)).toBe("allowed_permanent");
    expect(await codeOn(b, receive("https://declared.example.com/x"))).toBe("allowed_sandbox");
  });

  it("takes everything anew where the beginning of what it missed was trimmed", async () => {
    const { a, b, storeB, real } = await openNodes({ beatMs: 600_000, leaseMs: 600_000 });
    storeB.deaf = true;
    await approve(a);
    await approve(a, read("/srv/x"));
    await real.transaction((tx) => tx.revisions.trim(1));
    await b.beat();
    expect(await codeOn(b)).toBe("allowed_permanent");
    expect(await codeOn(b, read("/srv/x"))).toBe("allowed_permanent");
  });

  it("that was put out joins again", async () => {
    const { a, b, real } = await openNodes({ beatMs: 600_000, leaseMs: 600_000 });
    await real.transaction((tx) => tx.nodes.remove("node-b"));
    await approve(a);
    await b.beat();
    expect(await real.read((tx) => tx.nodes.get("node-b"))).toMatchObject({ confirmedRevision: 1 });
    expect(await codeOn(b)).toBe("allowed_permanent");
  });

  it("that cannot renew its lease has no approvals and keeps its allowlist", async () => {
    const { a, b, storeB } = await openNodes({ beatMs: 20, leaseMs: 200 });
    await approve(a);
    await expect.poll(() => codeOn(b)).toBe("allowed_permanent");
    storeB.failsWrites = true;
    await expect.poll(() => b.live).toBe(false);
    expect(await codeOn(b)).toBe("unavailable");
    expect(await codeOn(b, receive("https://declared.example.com/x"))).toBe("allowed_sandbox");
    storeB.failsWrites = false;
    await expect.poll(() => codeOn(b)).toBe("allowed_permanent");
  });
});

describe("a revocation", LONG, () => {
  /** How often a deaf node still allowed what another one had revoked and acknowledged. */
  async function staleAllows(engineOfA: "postgres" | "sqlite"): Promise<number> {
    const { a, b, storeB } = await openNodes({ beatMs: 20, leaseMs: 2000 }, engineOfA);
    storeB.deaf = true;
    let stale = 0;
    for (let round = 0; round < PAIRS; round++) {
      const what = read(`/srv/revoke/${round}`);
      const id = await approve(a, what);
      await expect.poll(() => codeOn(b, what)).toBe("allowed_permanent");
      await a.revokeApproval(adminOf(), { id });
      if ((await codeOn(b, what)) === "allowed_permanent") stale += 1;
    }
    return stale;
  }

  it("is acknowledged only when no node can still allow", async () => {
    expect(await staleAllows("postgres")).toBe(0);
  });

  it("would leave stale allows if nobody waited for the nodes", async () => {
    expect(await staleAllows("sqlite")).toBeGreaterThan(0);
  });

  it("is acknowledged when the lease of a node that is cut off has run out", async () => {
    const { a, b, storeB } = await openNodes({ beatMs: 20, leaseMs: 300 });
    const id = await approve(a);
    await expect.poll(() => codeOn(b)).toBe("allowed_permanent");
    storeB.deaf = true;
    storeB.failsReads = true;
    storeB.failsWrites = true;
    await a.revokeApproval(adminOf(), { id });
    expect(b.live).toBe(false);
    expect(await codeOn(b)).toBe("unavailable");
    storeB.failsReads = false;
    storeB.failsWrites = false;
    await expect.poll(() => codeOn(b)).toBe("approval_required");
  });

  /** A node whose lease has run out, which beats while another one revokes and is acknowledged without it. */
  async function returning(state: "put_out" | "lapsed") {
    let storeA: FaultyStore | undefined;
    const lasting = { leaseMs: 600_000, beatMs: 600_000 };
    fixture = await openFixture({
      wrap: (opened) => (storeA = new FaultyStore(opened, "postgres")),
      ...lasting,
    });
    const { real } = storeA as FaultyStore;
    const storeB = new FaultyStore(real, "postgres");
    const clock = new TestClock();
    const b = new AccessService({ ...fixture.options, store: storeB, nodeId: "node-b", clock, ...lasting });
    others.push(b);
    await b.start();
    storeB.deaf = true;
    const id = await approve(fixture.service);
    await b.beat();
    expect(await codeOn(b)).toBe("allowed_permanent");
    clock.advance(lasting.leaseMs);
    const gone = { id: "node-b", confirmedRevision: 1, leaseUntilMs: 0, startedMs: 0, info: null };
    await real.transaction<unknown>((tx) =>
      state === "put_out" ? tx.nodes.remove(gone.id) : tx.nodes.upsert(gone),
    );
    // The write that brings it back: its heartbeat, or its row where there is none.
    let writes = state === "put_out" ? 2 : 1;
    storeB.beforeWrite = async () => {
      if (--writes !== 0) return;
      expect(await fixture.service.revokeApproval(adminOf(), { id })).toMatchObject({ ok: true });
      storeB.closeReads();
    };
    const beating = b.beat();
    const isBack = async () => ((await real.read((tx) => tx.nodes.get("node-b")))?.leaseUntilMs ?? 0) > 0;
    await expect.poll(isBack).toBe(true);
    return { b, storeB, beating };
  }

  it.each(["put_out", "lapsed"] as const)(
    "attack: acknowledged without a node that is on its way back (%s) is known to it before it is live",
    async (state) => {
      const { b, storeB, beating } = await returning(state);
      try {
        expect(b.live).toBe(false);
        expect(await codeOn(b)).toBe("unavailable");
      } finally {
        storeB.openReads();
      }
      await beating;
      expect(b.live).toBe(true);
      expect(await codeOn(b)).toBe("approval_required");
    },
  );
});
