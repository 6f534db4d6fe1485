/** Children and workers are whom the host started them as, by the gate that they inherit and by nothing else. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type GatedPrograms, buildPrograms, childAnswers, workerAnswers } from "./testing/gated-children.ts";
import {
  ADMIN,
  BANK,
  DECLARED,
  DEMO,
  type Fixture,
  MEMBER,
  TOOL,
  adminCaller,
  openFixture,
} from "./testing/sallyport-fixture.ts";

const UNKNOWN = "https://unknown.example.com/a";
let programs: GatedPrograms;
let fixture: Fixture;
beforeAll(async () => {
  programs = await buildPrograms();
});
afterAll(() => programs.remove());
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

describe.each([
  [
    "child",
    (task: object, who: object) =>
      fixture.runtime.run(who as never, MEMBER, () => childAnswers(fixture.runtime, programs, task).answers),
  ],
  [
    "worker",
    (task: object, who: object) =>
      fixture.runtime.run(who as never, MEMBER, () => workerAnswers(fixture.runtime, programs, task)),
  ],
])("a %s", (_, start) => {
  it("has the rules of its subject, and no variable of the gate", async () => {
    const { codes, gateVariable } = await start({ targets: [DECLARED, UNKNOWN] }, TOOL);
    expect([codes, gateVariable]).toEqual([["allowed_sandbox", "approval_required"], false]);
  });

  it("waits for a person, and goes on", async () => {
    const answers = start({ waitsFor: UNKNOWN }, TOOL);
    const [request] = await pending();
    const by = await fixture.shown(request?.id);
    expect(request).toMatchObject({
      subject: TOOL,
      origin: { userId: 21, sessionKey: "sess-21" },
      attestedBy: "guard",
    });
    await fixture.runtime.runAsHost(ADMIN, () => fixture.sdk.access.approveForSession(by));
    expect((await answers).codes).toEqual(["allowed_session"]);
  });

  it("cannot approve, and cannot read Sallyport's own files", async () => {
    const file = join(fixture.dataFolder, "key-ring.json");
    expect(await start({ approves: true, file }, TOOL)).toMatchObject({
      approval: "PermissionError",
      file: "ExternalAccessError",
    });
  });

  it("reads what its subject declared through the SDK", async () => {
    writeFileSync(join(fixture.folder, "demo", "a.txt"), "a");
    expect((await start({ file: join(fixture.folder, "demo", "a.txt") }, DEMO)).file).toBe("a");
  });

  it("gains nothing by a claimed subject", async () => {
    const { codes } = await start({ claim: BANK, targets: [DECLARED, "https://bank.example.com/"] }, TOOL);
    expect(codes).toEqual(["approval_required", "approval_required"]);
  });
});

describe("a child", () => {
  it("gains nothing by what stands in its environment", async () => {
    const env = { SALLYPORT_SUBJECT: "module:bank", SALLYPORT_USER: "1", SALLYPORT_SESSION: "sess-1" };
    const { answers } = fixture.runtime.run(TOOL, MEMBER, () =>
      childAnswers(fixture.runtime, programs, { targets: [DECLARED] }, env),
    );
    expect((await answers).codes).toEqual(["allowed_sandbox"]);
  });

  it("cannot use another subject's socket", async () => {
    const { runtime } = fixture;
    const other = runtime.run(BANK, MEMBER, () => childAnswers(runtime, programs, { waitsFor: UNKNOWN }));
    const [request] = await pending();
    const descriptors = [3, 4, 5].map((fd) => `/proc/${other.pid}/fd/${fd}`);
    const { answers } = runtime.run(TOOL, MEMBER, () => childAnswers(runtime, programs, { descriptors }));
    const opened = (await answers).descriptors ?? [];
    expect(opened).toContain("ENXIO");
    const by = await fixture.shown(request?.id);
    await runtime.runAsHost(ADMIN, () => fixture.sdk.access.denyExternalAccess(by));
    await other.answers;
  });

  it("keeps the contract that it was started with while it lives, over a reload", async () => {
    const { runtime, registry } = fixture;
    const late = "https://late.example.com/";
    const started = runtime.run(TOOL, MEMBER, () =>
      childAnswers(runtime, programs, { waitsFor: late, targets: [] }),
    );
    const [request] = await pending();
    const tool = registry.enter(TOOL as never);
    if (!tool.ok) throw new Error(tool.message);
    tool.leave();
    const held = tool.frame.contracts;
    registry.reload(tool.frame.subject, { access: [] });
    const caller = { ...adminCaller(), frames: [tool.frame], credential: "runtime" as const };
    const access = fixture.sdk.access.network.receive(DECLARED);
    if (!access.ok) throw new Error(access.message);
    const ask = {
      access: access.value,
      attestedBy: "service",
      enforced: false,
      registerRequest: false,
    } as const;
    expect([held.length, (await fixture.service.check(caller, ask)).code]).toEqual([1, "allowed_sandbox"]);
    const by = await fixture.shown(request?.id);
    await runtime.runAsHost(ADMIN, () => fixture.sdk.access.denyExternalAccess(by));
    await started.answers;
    expect((await fixture.service.check(caller, ask)).code).toBe("approval_required");
  });

  it("is not started for nobody", () => {
    expect(() => fixture.runtime.spawn(process.execPath)).toThrow("nobody acts");
    expect(() => fixture.runtime.worker(programs.program)).toThrow("nobody acts");
  });
});

/** The pending requests, as soon as there is one. */
async function pending() {
  for (;;) {
    const { rows } = await fixture.service.list.requests(adminCaller());
    if (rows.length > 0) return rows;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
