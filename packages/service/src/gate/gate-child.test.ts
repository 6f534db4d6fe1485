import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
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
  eventsOf,
  logFaults,
  openFixture,
  receive,
  shown,
} from "../testing/service-fixture.ts";

const network = (target: string) => ({ resourceType: "network", operation: "receive", target });
const DECLARED = network("https://declared.example.com/a");
const UNKNOWN = network("https://unknown.example.com/a");
const TARGET = receive("https://unknown.example.com/a");

let programs: ChildPrograms;
let fixture: Fixture;
const children: GatedChild[] = [];

beforeAll(async () => {
  programs = await buildChildPrograms();
});
afterAll(() => programs.remove());
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(async () => {
  for (const child of children.splice(0)) await child.kill();
  expect(await logFaults(fixture)).toEqual([]);
  await fixture.close();
});

async function start(mode: "async" | "sync" = "async", caller = callerOf()) {
  const started = await startChild(fixture.service, programs, caller, mode);
  children.push(started.child);
  return started;
}

async function approve(): Promise<string> {
  const decision = await fixture.service.approvePermanently(adminOf(), { subject: READER, access: TARGET });
  if (!decision.ok) throw new Error(decision.message);
  return decision.approval?.id ?? "";
}

describe.each(["async", "sync"] as const)("a guarded process (%s)", (mode) => {
  it("is allowed what it declared from memory, and the service records it", async () => {
    const { child } = await start(mode);
    const answer = await child.run("check", DECLARED);
    expect(answer).toMatchObject({ code: "allowed_sandbox", allowed: true });
    await expect
      .poll(async () => {
        await fixture.service.audit.flush();
        return (await eventsOf(fixture)).filter(({ type }) => type === "permission.evaluated").length;
      })
      .toBe(1);
  });

  it("asks, waits for a person, is approved and goes on", async () => {
    const { child } = await start(mode);
    const waiting = child.run("check", UNKNOWN, { waitMs: 60_000 });
    const { list } = fixture.service;
    await expect.poll(async () => (await list.requests(adminOf())).rows.length).toBe(1);
    const { rows } = await list.requests(adminOf());
    expect(rows[0]).toMatchObject({
      subject: READER,
      attestedBy: "guard",
      origin: { userId: 21, organizationId: 7, sessionKey: "sess-21" },
    });
    await fixture.service.approveForSession(adminOf(), await shown(fixture.service, rows[0]?.id));
    expect(await waiting).toMatchObject({ code: "allowed_session", allowed: true });
  });

  it("hears of an approval, and a revocation is acknowledged only after it can no longer use it", async () => {
    const { child } = await start(mode);
    let stale = 0;
    for (let round = 0; round < 20; round++) {
      const id = await approve();
      await expect.poll(() => child.foreseen(UNKNOWN)).toBe("allowed_permanent");
      await fixture.service.revokeApproval(adminOf(), { id });
      if ((await child.foreseen(UNKNOWN)) === "allowed_permanent") stale += 1;
    }
    expect(stale).toBe(0);
    expect(await child.code(UNKNOWN)).toBe("approval_required");
  });

  it("that stood still holds a revocation up until its lease has run out, and then relies on nothing", async () => {
    const { child, session } = await start(mode);
    const id = await approve();
    await expect.poll(() => child.foreseen(UNKNOWN)).toBe("allowed_permanent");
    child.process.kill("SIGSTOP");
    expect(session.isFenced).toBe(false);
    await fixture.service.revokeApproval(adminOf(), { id });
    expect(session.isFenced).toBe(true);
    const answers = Array.from({ length: 50 }, () => child.foreseen(UNKNOWN));
    child.process.kill("SIGCONT");
    const codes = await Promise.all(answers);
    expect(codes).not.toContain("allowed_permanent");
    expect(await child.code(DECLARED)).toBe("allowed_sandbox");
    await expect.poll(() => child.code(UNKNOWN)).toBe("approval_required");
  });

  it("never holds a limited approval, and asks for it", async () => {
    const { child } = await start(mode);
    const aim = { subject: READER, access: TARGET };
    await fixture.service.approvePermanently(adminOf(), aim, { maxUses: 1 });
    expect(await child.foreseen(UNKNOWN)).toBe("approval_required");
    expect(await child.code({ ...UNKNOWN, enforced: true })).toBe("allowed_permanent");
    expect(await child.code({ ...UNKNOWN, enforced: true })).toBe("approval_required");
  });

  it("hears of a rule, a mode and a contract of the host", async () => {
    const { child } = await start(mode);
    await fixture.service.setMode(adminOf(), { mode: "never" });
    expect(await child.foreseen(UNKNOWN)).toBe("denied_mode");
    await fixture.service.block(adminOf(), { subject: READER, access: receive(DECLARED.target) });
    expect(await child.foreseen(DECLARED)).toBe("denied_rule");
    fixture.service.applyHost({
      kind: "contract_set",
      contract: {
        id: "contract-demo",
        access: [{ resourceType: "network", operation: "receive", target: "https://unknown.example.com" }],
      },
    });
    await expect.poll(() => child.foreseen(UNKNOWN)).toBe("allowed_sandbox");
  });

  it("fails closed for approvals and keeps the allowlist when the service is gone", async () => {
    const { child, session } = await start(mode);
    await approve();
    await expect.poll(() => child.foreseen(UNKNOWN)).toBe("allowed_permanent");
    session.close();
    await expect.poll(() => child.run("is_live")).toBe(false);
    expect(await child.code(UNKNOWN)).toBe("unavailable");
    expect(await child.foreseen(UNKNOWN)).toBe("unavailable");
    expect(await child.code(DECLARED)).toBe("allowed_sandbox");
  });
});

describe("a guarded process that asks synchronously", () => {
  it("gets the answers that it gets asynchronously", async () => {
    const { child } = await start("sync");
    await approve();
    for (const words of [
      DECLARED,
      UNKNOWN,
      network("https://other.example.com"),
      network("http://["),
      network(""),
    ]) {
      const options = { registerRequest: false };
      const { code } = await child.run("check", words, options);
      expect(await child.run("check_sync", words, options)).toMatchObject({ code });
    }
    expect(await child.run("check_sync", UNKNOWN)).toMatchObject({ code: "allowed_permanent" });
  });

  it("hears of a revocation although its thread never comes to rest", async () => {
    const { child } = await start("sync");
    const id = await approve();
    await expect.poll(() => child.foreseen(UNKNOWN)).toBe("allowed_permanent");
    const spinning = child.run("spin", UNKNOWN, { timeoutMs: 60_000 });
    await fixture.service.revokeApproval(adminOf(), { id });
    expect(await spinning).toMatchObject({ last: "approval_required" });
  });

  it("is not blocked for longer than it said", async () => {
    const { child, session } = await start("sync");
    child.socket.pause();
    expect(session.isFenced).toBe(false);
    const answer = await child.run("check_sync", UNKNOWN, { timeoutMs: 50 });
    expect(answer).toMatchObject({ code: "unavailable", allowed: false });
  });

  it("attack: built-ins that foreign code replaced turn no refusal into an allow", async () => {
    const { child } = await start("sync");
    expect(await child.run("check_sync", UNKNOWN)).toMatchObject({ code: "approval_required" });
    expect(await child.run("tampered", UNKNOWN)).toMatchObject({ value: "approval_required", replaced: 14 });
    expect(await child.run("tampered", DECLARED)).toMatchObject({ value: "allowed_sandbox" });
  });

  it("whose worker was killed has no approvals and keeps the allowlist", async () => {
    const { child } = await start("sync");
    await approve();
    const asking = child.run("check", network("https://other.example.com/a"), { waitMs: 600_000 });
    await expect.poll(async () => (await fixture.service.list.requests(adminOf())).rows.length).toBe(1);
    await child.run("kill_worker");
    expect(await asking).toMatchObject({ code: "unavailable", allowed: false });
    expect(await child.run("check_sync", UNKNOWN)).toMatchObject({ code: "unavailable" });
    expect(await child.run("check", UNKNOWN)).toMatchObject({ code: "unavailable" });
    expect(await child.run("check_sync", DECLARED)).toMatchObject({ code: "allowed_sandbox" });
  });
});
