import { PermissionError } from "@sallyport/contract";
import { afterEach, describe, expect, it } from "vitest";
import type { CallerContext } from "./caller-context.ts";
import {
  CORE,
  type Fixture,
  READER,
  adminOf,
  ask,
  callerOf,
  closeSound,
  eventsOf,
  frame,
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

describe("without authority", () => {
  const SUPER = { id: 1, roles: ["super"], accessLevel: null };
  const inherited = Object.create(SUPER) as typeof SUPER;
  const attackers: readonly (readonly [string, CallerContext])[] = [
    ["nobody", adminOf(1, { user: null })],
    ["a member", adminOf(1, { user: { ...SUPER, roles: ["member"] } })],
    [
      "a role that looks like one",
      adminOf(1, { user: { ...SUPER, roles: ["Super", "super ", "superuser"] } }),
    ],
    ["a user who inherits the role", adminOf(1, { user: inherited })],
    ["a super user scoped to organization 0", adminOf(1, { organizationId: 0 })],
    ["a super user scoped to an organization", adminOf(1, { organizationId: "7" })],
    ["a runtime credential of guarded code", adminOf(1, { credential: "runtime" })],
    ["guarded code that runs for a super user", adminOf(1, { frames: [frame(READER)] })],
    ["a frame that calls itself core", adminOf(1, { frames: [frame(CORE, [], "guarded")] })],
  ];

  it.each(attackers)("%s may do nothing, and is not told what exists", async (_, attacker) => {
    fixture = await openFixture();
    const { service } = fixture;
    const seen = await shown(service, await requested());
    const missing = { requestId: "request-none", digest: seen.digest };
    const forged = { ...seen, user: SUPER, decidedBy: 1, organizationId: null };
    const attempts = [
      () => service.approvePermanently(attacker, seen),
      () => service.approvePermanently(attacker, missing),
      () => service.approvePermanently(attacker, forged),
      () => service.approveForSession(attacker, seen),
      () => service.deny(attacker, seen),
      () => service.block(attacker, missing),
      () => service.revokeApproval(attacker, { id: "approval-none" }),
      () => service.revokeDenial(attacker, { id: "denial-none" }),
      () => service.removeRule(attacker, { id: "rule-none" }),
      () => service.setMode(attacker, { mode: "bypass", expiresAtMs: Date.now() + 60_000 }),
      () => service.completeSetup(attacker),
      () => service.retryResume(attacker, "job-none"),
      () => service.list.requests(attacker),
      () => service.list.request(attacker, seen.requestId),
      () => service.list.events(attacker),
    ];
    const told = new Set<string>();
    for (const attempt of attempts) {
      const error = await attempt().then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(PermissionError);
      told.add((error as Error).message.replace(/may not .*?:/, "may not …:"));
    }
    expect(told.size).toBe(1);
    const refused = (await eventsOf(fixture)).filter(({ type }) => type === "policy.refused");
    expect(refused).toHaveLength(attempts.length);
    expect(await code(callerOf())).toBe("approval_required");
  });

  it("is not what a super access level is", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const admin = adminOf(1, { user: { id: 1, roles: [], accessLevel: "super" } });
    expect(await service.approvePermanently(admin, await shown(service, await requested()))).toMatchObject({
      ok: true,
      approval: { decidedBy: 1 },
    });
  });
});
