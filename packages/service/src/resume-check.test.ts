import { afterEach, describe, expect, it } from "vitest";
import type { AccessService } from "./access-service.ts";
import type { Decided } from "./decision-request.ts";
import {
  type Fixture,
  READER,
  TestClock,
  adminOf,
  ask,
  callerOf,
  closeSound,
  openFixture,
  receive,
  shown,
} from "./testing/service-fixture.ts";

const TARGET = receive("https://unknown.example.com/a");

let fixture: Fixture;
let clock: TestClock;
let runs: unknown[];

afterEach(() => closeSound(fixture));

async function open(): Promise<AccessService> {
  clock = new TestClock();
  runs = [];
  fixture = await openFixture({ clock });
  fixture.actions.register({
    name: "demo.resume",
    module: "demo",
    handler: (context) => void runs.push(context),
  });
  return fixture.service;
}

const required = () => ({ ...ask(TARGET), resumeAction: "demo.resume", resumeContext: { page: 3 } });

async function requireAndApprove(): Promise<Decided> {
  const { service } = fixture;
  const check = await service.require(callerOf(), required());
  const decision = await service.approveForSession(adminOf(), await shown(service, check.requestId));
  if (!decision.ok) throw new Error(decision.message);
  return decision;
}

const jobs = async () => (await fixture.service.list.jobs(adminOf())).rows;

describe("the second look before a resume", () => {
  const parkedError = async () => {
    await fixture.service.executor.runDue();
    expect(runs).toEqual([]);
    return (await jobs())[0]?.lastError;
  };

  it("parks it when its approval was revoked", async () => {
    const service = await open();
    const { approval } = await requireAndApprove();
    await service.revokeApproval(adminOf(), { id: approval?.id ?? "" });
    expect(await parkedError()).toContain("its approval was revoked");
  });

  it("parks it when its approval has run out", async () => {
    const service = await open();
    const check = await service.require(callerOf(), required());
    const expiresAtMs = clock.atMs + 1000;
    await service.approvePermanently(adminOf(), await shown(service, check.requestId), { expiresAtMs });
    clock.step(1000);
    expect(await parkedError()).toContain("its approval was revoked or has run out");
  });

  it("parks it when its session has ended", async () => {
    const service = await open();
    const check = await service.require(callerOf(), required());
    await service.approvePermanently(adminOf(), await shown(service, check.requestId));
    await service.endSession(adminOf(), { organizationId: 7, userId: 21, sessionKey: "sess-21" });
    expect(await parkedError()).toContain("its session has ended");
  });

  it("parks it when policy blocks it now", async () => {
    const service = await open();
    await requireAndApprove();
    await service.setRule(adminOf(), {
      effect: "deny",
      source: "host",
      resourceType: "network",
      operation: "receive",
      target: "unknown.example.com",
    });
    expect(await parkedError()).toContain("policy does not allow it any more (denied_rule)");
  });

  it("parks it when the action changed hands", async () => {
    await open();
    await requireAndApprove();
    fixture.actions.unregister("demo.resume");
    fixture.actions.register({ name: "demo.resume", module: "other", handler: () => undefined });
    expect(await parkedError()).toContain("belongs to another module now");
  });

  it("parks it when the subject may no longer name the action", async () => {
    const service = await open();
    fixture.actions.register({
      name: "open.resume",
      module: "other",
      handler: () => undefined,
      openTo: [READER],
    });
    const check = await service.require(callerOf(), { ...required(), resumeAction: "open.resume" });
    await service.approvePermanently(adminOf(), await shown(service, check.requestId));
    fixture.actions.register({ name: "open.resume", module: "other", handler: () => undefined });
    expect(await parkedError()).toContain("may no longer name the action");
  });

  it("leaves a job whose action nobody knows where it is", async () => {
    const service = await open();
    await requireAndApprove();
    fixture.actions.unregister("demo.resume");
    expect(await service.executor.runDue()).toBe(0);
    expect(await jobs()).toMatchObject([{ state: "ready", attempts: 0 }]);
  });
});
