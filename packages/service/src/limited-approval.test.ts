import { afterEach, describe, expect, it } from "vitest";
import type { CallerContext } from "./caller-context.ts";
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

const TARGET = receive("https://unknown.example.com/v1/a?b=1");
const code = async (caller: CallerContext, what = TARGET) =>
  (await fixture.service.check(caller, ask(what, { registerRequest: false }))).code;

let fixture: Fixture;
afterEach(() => closeSound(fixture));

async function requested(caller: CallerContext = callerOf()): Promise<string> {
  const { requestId } = await fixture.service.check(caller, ask(TARGET));
  if (requestId === undefined) throw new Error("nothing was registered");
  return requestId;
}

describe("limited approvals", () => {
  it("are spent exactly as often as they say by fifty operations at once", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const seen = await shown(service, await requested());
    await service.approvePermanently(adminOf(), seen, { maxUses: 3 });
    const operation = ask(TARGET, { enforced: true, attestedBy: "guard" });
    const checks = await Promise.all(Array.from({ length: 50 }, () => service.check(callerOf(), operation)));
    expect(checks.filter(({ code: given }) => given === "allowed_permanent")).toHaveLength(3);
    expect(checks.filter(({ code: given }) => given === "approval_required")).toHaveLength(47);
    expect((await service.list.approvals(adminOf())).rows).toMatchObject([{ maxUses: 3, uses: 3 }]);
  });

  it("are not spent by explicit checks", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    await service.approveForSession(adminOf(), await shown(service, await requested()), { maxUses: 1 });
    for (let index = 0; index < 5; index++) expect(await code(callerOf())).toBe("allowed_session");
    const operation = ask(TARGET, { enforced: true, registerRequest: false });
    expect(await service.check(callerOf(), operation)).toMatchObject({ code: "allowed_session" });
    expect(await service.check(callerOf(), operation)).toMatchObject({ code: "approval_required" });
  });

  it("are dead at their end", async () => {
    const clock = new TestClock();
    fixture = await openFixture({ clock });
    const { service } = fixture;
    const expiresAtMs = clock.atMs + 1000;
    await service.approvePermanently(adminOf(), { subject: READER, access: TARGET }, { expiresAtMs });
    clock.step(999);
    expect(await code(callerOf())).toBe("allowed_permanent");
    clock.step(1);
    expect(await code(callerOf())).toBe("approval_required");
  });

  it("settle only the request that was looked at when their uses are counted", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const first = await requested();
    await requested(callerOf(READER, { sessionKey: "sess-22" }));
    expect(
      await service.approvePermanently(adminOf(), await shown(service, first), { maxUses: 1 }),
    ).toMatchObject({ settled: [first] });
  });
});
