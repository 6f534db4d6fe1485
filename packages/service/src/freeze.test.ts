import { PermissionError } from "@sallyport/contract";
import { afterEach, describe, expect, it } from "vitest";
import { AccessService } from "./access-service.ts";
import { FaultyStore } from "./testing/faulty-store.ts";
import {
  CORE,
  type Fixture,
  SYSTEM,
  TestClock,
  adminOf,
  ask,
  callerOf,
  closeSound,
  eventsOf,
  frame,
  openFixture,
  read,
  receive,
  shown,
} from "./testing/service-fixture.ts";

const TARGET = receive("https://unknown.example.com/a");

let fixture: Fixture;
afterEach(() => closeSound(fixture));

const code = async (what = TARGET, caller = callerOf()): Promise<string> =>
  (await fixture.service.check(caller, ask(what))).code;

describe("while everything is frozen", () => {
  it("what was declared goes on, and everything else is refused at once and asks nobody", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    expect(await service.setFreeze(adminOf(), { frozen: true, reason: "an incident" })).toMatchObject({
      ok: true,
      repeated: false,
    });
    expect(await code(receive("https://declared.example.com/x"))).toBe("allowed_sandbox");
    const check = await service.check(callerOf(), ask(TARGET, { registerRequest: true }));
    expect(check).toMatchObject({ allowed: false, requiresApproval: false, code: "denied_mode" });
    expect(check.message).toContain("everything outside the allowlist is frozen");
    expect(check.decision).toMatchObject({
      decision: "denied",
      decisionSource: "mode",
      ruleRefs: ["freeze"],
    });
    expect((await service.list.requests(adminOf())).rows).toEqual([]);
    expect(await code(TARGET, callerOf(CORE, { frames: [frame(CORE)] }))).toBe("allowed_rule");
  });

  it.each(["session", "permanent", "rule", "bypass", "hook", "observe", "setup"] as const)(
    "an allow by %s does not hold, and holds again once the freeze is lifted",
    async (by) => {
      fixture = await openFixture({
        ...(by === "hook" ? { hook: async () => ({ answer: "allow", ref: "hook-1" }) as const } : {}),
        ...(by === "setup" ? { setup: true } : {}),
      });
      const { service } = fixture;
      const caller =
        by === "setup"
          ? callerOf(SYSTEM, { frames: [frame(SYSTEM)] })
          : callerOf(undefined, { observe: by === "observe" });
      const what = by === "setup" ? read("/etc/hosts") : TARGET;
      const { requestId } = await service.check(callerOf(), ask(TARGET));
      if (by === "session") await service.approveForSession(adminOf(), await shown(service, requestId));
      if (by === "permanent") await service.approvePermanently(adminOf(), await shown(service, requestId));
      if (by === "rule")
        await service.setRule(adminOf(), {
          effect: "allow",
          source: "host",
          resourceType: "network",
          operation: "receive",
          target: "https://unknown.example.com",
        });
      if (by === "bypass")
        await service.setMode(adminOf(), { mode: "bypass", expiresAtMs: Date.now() + 3_600_000 });
      const before = await code(what, caller);
      expect(before).toMatch(/^allowed_/);
      await service.setFreeze(adminOf(), { frozen: true });
      expect(await code(what, caller)).toBe("denied_mode");
      await service.setFreeze(adminOf(), { frozen: false });
      expect(await code(what, caller)).toBe(before);
    },
  );

  it("a refusal keeps its own code", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const { requestId } = await service.check(callerOf(), ask(TARGET));
    await service.deny(adminOf(), await shown(service, requestId));
    await service.setFreeze(adminOf(), { frozen: true });
    expect(await code()).toBe("resource_disabled");
  });

  it("a waiter that is approved is not let through", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const waiting = service.check(callerOf(), ask(TARGET, { wait: { timeoutMs: 60_000 } }));
    await expect.poll(async () => (await service.list.requests(adminOf())).rows).toHaveLength(1);
    const [request] = (await service.list.requests(adminOf())).rows;
    await service.setFreeze(adminOf(), { frozen: true });
    await service.approvePermanently(adminOf(), await shown(service, request?.id));
    expect((await waiting).allowed).toBe(false);
  });

  it("a resume that was approved waits, and runs once the freeze is lifted", async () => {
    const clock = new TestClock();
    fixture = await openFixture({ clock });
    const { service, actions } = fixture;
    const runs: unknown[] = [];
    actions.register({ name: "demo.resume", module: "demo", handler: (context) => void runs.push(context) });
    const { requestId } = await service.require(callerOf(), { ...ask(TARGET), resumeAction: "demo.resume" });
    await service.approvePermanently(adminOf(), await shown(service, requestId));
    await service.setFreeze(adminOf(), { frozen: true });
    await service.executor.runDue();
    expect(runs).toEqual([]);
    const [job] = (await service.list.jobs(adminOf())).rows;
    expect(job).toMatchObject({ state: "ready" });
    expect(job?.lastError).toContain("frozen");
    await service.setFreeze(adminOf(), { frozen: false });
    clock.step(60_000);
    await service.executor.runDue();
    expect(runs).toHaveLength(1);
  });

  it.each(["yes", null, {}, { frozen: "no" }, { frozen: 0 }, []])(
    "what cannot be read of the freeze is a freeze: %j",
    async (held) => {
      fixture = await openFixture();
      const { store, service } = fixture;
      await store.transaction(async (tx) => {
        await tx.settings.set("freeze", held, 1);
        const body = { changed: [{ kind: "setting", id: "freeze" }] };
        await tx.revisions.append({ body, createdMs: 1 });
      });
      await service.beat();
      await expect.poll(() => code()).toBe("denied_mode");
    },
  );
});

describe("freezing", () => {
  it("takes authority, and the attempt of anybody else is recorded", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    for (const caller of [
      callerOf(),
      adminOf(1, { organizationId: 0 }),
      adminOf(1, { credential: "runtime" }),
    ])
      await expect(service.setFreeze(caller, { frozen: true })).rejects.toBeInstanceOf(PermissionError);
    expect(await code()).toBe("approval_required");
    const refused = (await eventsOf(fixture)).filter(({ type }) => type === "policy.refused");
    expect(refused).toHaveLength(3);
  });

  it("is recorded once with who and why, and repeats are told as such", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    await service.setFreeze(adminOf("anna"), { frozen: true, reason: "an incident" });
    expect(await service.setFreeze(adminOf("bert"), { frozen: true })).toMatchObject({ repeated: true });
    const events = (await eventsOf(fixture)).filter(({ code: action }) => action === "set_freeze");
    expect(events.map(({ userId }) => userId)).toEqual(["anna"]);
    expect(service.overview.stateUnchecked().freeze).toMatchObject({
      frozen: true,
      reason: "an incident",
      changedBy: "anna",
    });
  });

  it("is acknowledged once every live node refuses", async () => {
    let storeA: FaultyStore | undefined;
    fixture = await openFixture({ wrap: (real) => (storeA = new FaultyStore(real, "postgres")) });
    const { service, options } = fixture;
    const storeB = new FaultyStore((storeA as FaultyStore).real, "postgres");
    const other = new AccessService({ ...options, store: storeB, nodeId: "node-b" });
    await other.start();
    const { requestId } = await service.check(callerOf(), ask(TARGET));
    await service.approvePermanently(adminOf(), await shown(service, requestId));
    await expect
      .poll(async () => (await other.check(callerOf(), ask(TARGET, { registerRequest: false }))).code)
      .toBe("allowed_permanent");
    // WHY deaf: it must not be luck that the hint came in time.
    storeB.deaf = true;
    expect(await service.setFreeze(adminOf(), { frozen: true })).toMatchObject({ ok: true });
    expect((await other.check(callerOf(), ask(TARGET))).allowed).toBe(false);
    await other.stop();
  });

  it("reaches a node that starts later from the store", async () => {
    fixture = await openFixture();
    const { service, options } = fixture;
    await service.setFreeze(adminOf(), { frozen: true });
    await service.stop();
    const next = new AccessService({ ...options, nodeId: "node-b" });
    await next.start();
    expect((await next.check(callerOf(), ask(TARGET))).code).toBe("denied_mode");
    await next.stop();
  });
});
