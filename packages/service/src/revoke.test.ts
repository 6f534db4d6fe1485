import { afterEach, describe, expect, it } from "vitest";
import type { Decision } from "./decision-request.ts";
import {
  type Fixture,
  READER,
  adminOf,
  ask,
  callerOf,
  closeSound,
  openFixture,
  receive,
} from "./testing/service-fixture.ts";

const TARGET = receive("https://unknown.example.com/v1/a?b=1");
const code = async (what = TARGET) =>
  (await fixture.service.check(callerOf(), ask(what, { registerRequest: false }))).code;

let fixture: Fixture;
afterEach(() => closeSound(fixture));

describe("revoking", () => {
  it("ends an approval at once and is idempotent", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const answer = await service.approvePermanently(adminOf(), { subject: READER, access: TARGET });
    const id = (answer as Extract<Decision, { ok: true }>).approval?.id ?? "";
    expect(await code()).toBe("allowed_permanent");
    expect(await service.revokeApproval(adminOf(), { id })).toMatchObject({ ok: true, repeated: false });
    expect(await code()).toBe("approval_required");
    expect(await service.revokeApproval(adminOf(), { id })).toMatchObject({ ok: true, repeated: true });
  });

  it("removes rules, and a rule that makes no sense is not taken", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const rule = {
      effect: "deny",
      source: "organization",
      organizationId: 7,
      resourceType: "network",
      operation: "receive",
      target: "https://declared.example.com",
    } as const;
    const set = await service.setRule(adminOf(), rule);
    expect(await code(receive("https://declared.example.com/x"))).toBe("denied_rule");
    await service.removeRule(adminOf(), { id: set.ruleId ?? "" });
    expect(await code(receive("https://declared.example.com/x"))).toBe("allowed_sandbox");
    expect(await service.setRule(adminOf(), { ...rule, effect: "allow" })).toMatchObject({
      code: "invalid_operation",
    });
    expect(await service.setRule(adminOf(), { ...rule, target: "not a url" })).toMatchObject({
      code: "invalid_target",
    });
  });

  it("leaves other organizations alone: a rule of one never holds for another", async () => {
    fixture = await openFixture();
    const { service } = fixture;
    const rule = {
      effect: "deny",
      source: "organization",
      resourceType: "network",
      operation: "receive",
      target: "https://declared.example.com",
    } as const;
    expect(await service.setRule(adminOf(), rule)).toMatchObject({ code: "invalid_operation" });
    const what = receive("https://declared.example.com/x");
    await service.setRule(adminOf(), { ...rule, organizationId: 8 });
    expect(await code(what)).toBe("allowed_sandbox");
    const other = callerOf(READER, { organizationId: 8 });
    expect((await service.check(other, ask(what))).code).toBe("denied_rule");
    await service.setRule(adminOf(), { ...rule, source: "session", sessionKey: "sess-21" });
    expect(await code(what)).toBe("denied_rule");
  });
});
