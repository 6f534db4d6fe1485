import { afterEach, describe, expect, it } from "vitest";
import {
  type Fixture,
  TestClock,
  adminOf,
  ask,
  callerOf,
  openFixture,
  read,
  receive,
  shown,
} from "./testing/service-fixture.ts";

let fixture: Fixture;
afterEach(() => fixture.close());

const requested = async (what: ReturnType<typeof receive>, caller = callerOf()): Promise<string> =>
  (await fixture.service.check(caller, ask(what))).requestId ?? "";

const why = async (id: string) =>
  (await fixture.service.overview.request(adminOf(), id))?.nearMisses.map((near) => near.why);

const A = receive("https://near.example.com/a");

describe("a request is asked again because", () => {
  it("the grant is for another session or another user", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    await service.approveForSession(adminOf(), await shown(service, await requested(A)));
    expect(await why(await requested(A, callerOf(undefined, { sessionKey: "sess-22" })))).toEqual([
      "other_session",
    ]);
    const other = callerOf(undefined, { user: { id: "21", roles: [], accessLevel: null } });
    expect(await why(await requested(A, other))).toEqual(["other_user"]);
  });

  it("the grant has run out or is used up", async () => {
    const clock = new TestClock();
    clock.atMs = Date.now();
    fixture = await openFixture({ clock });
    const { service } = fixture;
    const expiresAtMs = clock.nowMs() + 60_000;
    await service.approvePermanently(adminOf(), await shown(service, await requested(A)), { expiresAtMs });
    clock.step(60_000);
    await service.beat();
    expect(await why(await requested(A))).toEqual(["expired"]);
    const B = receive("https://other.example.com/b");
    await service.approvePermanently(adminOf(), await shown(service, await requested(B)), { maxUses: 1 });
    expect((await service.check(callerOf(), ask(B, { enforced: true }))).code).toBe("allowed_permanent");
    const again = await requested(B);
    expect(await why(again)).toEqual(["used_up"]);
    await service.approvePermanently(adminOf(), await shown(service, again));
    expect(await why(again)).toEqual([]);
  });

  it("nothing any more, once it is decided: its own approval is used up or has run out later", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const id = await requested(A);
    await service.approvePermanently(adminOf(), await shown(service, id), { maxUses: 1 });
    expect((await service.check(callerOf(), ask(A, { enforced: true }))).code).toBe("allowed_permanent");
    expect(await why(id)).toEqual([]);
    expect(await why(await requested(A))).toEqual(["used_up"]);
  });

  it("the grant is for another operation, or for a target beside it", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    await service.approvePermanently(adminOf(), await shown(service, await requested(read("/srv/x/a"))));
    expect(await why(await requested(read("/srv/x/b")))).toEqual(["other_target"]);
    expect(await why(await requested(read("/srv/y/b")))).toEqual([]);
    const { access } = await import("./testing/service-fixture.ts");
    expect(await why(await requested(access("filesystem", "delete", "/srv/x/a") as never))).toEqual([
      "other_operation",
    ]);
  });
});
