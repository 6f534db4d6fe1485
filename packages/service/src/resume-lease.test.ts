/** Two executors on one store, of which one is slow, cut off or stubborn: a job is never run by both at the same time. */
import { afterEach, describe, expect, it } from "vitest";
import { AccessService } from "./access-service.ts";
import { ActionRegistry } from "./actions.ts";
import type { ResumeHandler } from "./actions.ts";
import { FaultyStore } from "./testing/faulty-store.ts";
import {
  type Fixture,
  TestClock,
  adminOf,
  ask,
  callerOf,
  closeSound,
  openFixture,
  receive,
  shown,
} from "./testing/service-fixture.ts";

const ACTION = "demo.resume";
const TARGET = receive("https://unknown.example.com/a");

let fixture: Fixture;
let others: AccessService[] = [];
afterEach(async () => {
  for (const other of others.splice(0)) await other.stop();
  await closeSound(fixture);
});

interface Nodes {
  readonly a: AccessService;
  readonly b: AccessService;
  readonly storeA: FaultyStore;
}

/** Both know the action, each with a handler of its own; one job is ready. */
async function openNodes(
  handlers: { readonly a: ResumeHandler; readonly b: ResumeHandler },
  { jobLeaseMs, clock }: { readonly jobLeaseMs: number; readonly clock?: TestClock },
): Promise<Nodes> {
  let storeA: FaultyStore | undefined;
  const quiet = { beatMs: 600_000, leaseMs: 600_000, batchAgeMs: 600_000, limits: { jobLeaseMs } };
  fixture = await openFixture({ wrap: (real) => (storeA = new FaultyStore(real)), clock, ...quiet });
  fixture.actions.register({ name: ACTION, module: "demo", handler: handlers.a });
  const actions = new ActionRegistry((who) => (who.name.startsWith("demo.") ? "demo" : undefined));
  actions.register({ name: ACTION, module: "demo", handler: handlers.b });
  const { real } = storeA as FaultyStore;
  const b = new AccessService({ ...fixture.options, store: real, nodeId: "node-b", actions });
  others.push(b);
  await b.start();
  const { service: a } = fixture;
  const { requestId } = await a.require(callerOf(), { ...ask(TARGET), resumeAction: ACTION });
  const decision = await a.approvePermanently(adminOf(), await shown(a, requestId));
  if (!decision.ok) throw new Error(decision.message);
  await b.atLeast(decision.revision);
  return { a, b, storeA: storeA as FaultyStore };
}

/** Something that is waited for until it is let go. */
function latch(): { readonly opened: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

const jobs = async () => (await fixture.service.list.jobs(adminOf())).rows;

describe("a job", () => {
  it("is not begun by an executor whose second look took longer than its lease", async () => {
    const clock = new TestClock();
    const ran: string[] = [];
    const nodes = await openNodes(
      { a: () => void ran.push("a"), b: () => void ran.push("b") },
      { jobLeaseMs: 30_000, clock },
    );
    const { a, b, storeA } = nodes;
    // The first transaction is the claim, the second one the look.
    let writes = 0;
    const [looking, goOn] = [latch(), latch()];
    storeA.beforeWrite = async () => {
      writes += 1;
      if (writes !== 2) return;
      looking.open();
      await goOn.opened;
    };
    const slow = a.executor.runDue();
    await looking.opened;
    clock.advance(30_000);
    expect(await b.executor.runDue()).toBe(1);
    goOn.open();
    expect(await slow).toBe(1);
    expect(ran).toEqual(["b"]);
    expect(await jobs()).toMatchObject([{ state: "done", attempts: 2 }]);
  });

  it("is not begun where the answer to the second look came after the lease was over", async () => {
    const clock = new TestClock();
    const ran: string[] = [];
    const { a, b, storeA } = await openNodes(
      { a: () => void ran.push("a"), b: () => void ran.push("b") },
      { jobLeaseMs: 30_000, clock },
    );
    const { real } = storeA;
    let writes = 0;
    storeA.transaction = async (work) => {
      const result = await real.transaction(work);
      writes += 1;
      if (writes === 2) {
        clock.advance(30_000);
        expect(await b.executor.runDue()).toBe(1);
      }
      return result;
    };
    await a.executor.runDue();
    expect(ran).toEqual(["b"]);
  });

  it("has its handler told to stop before another executor begins, though the store never answers", async () => {
    const [begun, ended] = [latch(), latch()];
    let isStopped = false;
    let seen: boolean | undefined;
    const { a, b, storeA } = await openNodes(
      {
        a: async (_, { signal }) => {
          begun.open();
          signal.addEventListener("abort", () => {
            isStopped = true;
            ended.open();
          });
          await ended.opened;
        },
        b: () => void (seen = isStopped),
      },
      { jobLeaseMs: 600 },
    );
    const running = a.executor.runDue();
    await begun.opened;
    storeA.closeWrites();
    await expect.poll(() => b.executor.runDue()).toBe(1);
    expect(seen).toBe(true);
    storeA.openWrites();
    await running;
    expect(await jobs()).toMatchObject([{ state: "done", attempts: 2 }]);
  });

  it("keeps its lease for as long as its handler runs", async () => {
    const [begun, end] = [latch(), latch()];
    const ran: string[] = [];
    const { a, b, storeA } = await openNodes(
      {
        a: async (_, { signal }) => {
          begun.open();
          await end.opened;
          ran.push(`a ${String(signal.aborted)}`);
        },
        b: () => void ran.push("b"),
      },
      { jobLeaseMs: 3000 },
    );
    const running = a.executor.runDue();
    await begun.opened;
    const leaseOf = async (): Promise<number> =>
      (await storeA.real.read((tx) => tx.jobs.list({}, { limit: 1 }))).rows[0]?.leaseUntilMs ?? 0;
    const first = await leaseOf();
    // WHY more than a lease later: without its renewals it would be over, and another executor's.
    await expect.poll(async () => (await leaseOf()) > first + 3000).toBe(true);
    expect(await b.executor.runDue()).toBe(0);
    end.open();
    await running;
    expect(ran).toEqual(["a false"]);
  });

  it("is not begun anew beside a handler of the same executor that does not stop", async () => {
    const clock = new TestClock();
    const [begun, end] = [latch(), latch()];
    let atOnce = 0;
    let most = 0;
    const stubborn: ResumeHandler = async () => {
      atOnce += 1;
      most = Math.max(most, atOnce);
      begun.open();
      await end.opened;
      atOnce -= 1;
    };
    const { a } = await openNodes({ a: stubborn, b: stubborn }, { jobLeaseMs: 30_000, clock });
    const running = a.executor.runDue();
    await begun.opened;
    clock.advance(30_000);
    expect(await a.executor.runDue()).toBe(1);
    expect(most).toBe(1);
    expect((await jobs())[0]?.lastError).toContain("its last run lost its lease and has not ended");
    end.open();
    await running;
  });
});
