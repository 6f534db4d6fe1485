/** One suite, two ways: everything embedded in this process, and the same service through a server. */
import { join } from "node:path";
import { AccessPendingError, ExternalAccessError, PermissionError } from "@sallyport/contract";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  ADMIN,
  AGENT,
  BANK,
  DECLARED,
  DEMO,
  MEMBER,
  TOOL,
  type Way,
  embeddedWay,
  remoteWay,
} from "./testing/sallyport-fixture.ts";

const UNKNOWN = {
  resourceType: "network",
  operation: "receive",
  target: "https://unknown.example.com/a",
} as const;

describe.each([
  ["embedded", embeddedWay],
  ["over HTTP", remoteWay],
])("the SDK, %s,", (_, open) => {
  let way: Way;
  beforeEach(async () => {
    way = await open();
  });
  afterEach(() => way.close());

  const asTool = <R>(fn: () => R): R => way.runtime.run(TOOL, MEMBER, fn);
  const check = (input: object) => asTool(() => way.sdk.access.checkExternalAccess(input as never));

  it("allows what the subject declared", async () => {
    const { access } = way.sdk;
    const answer = await asTool(() => access.checkExternalAccess(access.network.receive(DECLARED)));
    expect([answer.allowed, answer.code]).toEqual([true, "allowed_sandbox"]);
    expect(answer.orThrow()).toBeUndefined();
  });

  it("registers what nobody decided, and says so as a value", async () => {
    const answer = await check(UNKNOWN);
    expect(answer).toMatchObject({ allowed: false, requiresApproval: true, code: "approval_required" });
    expect(answer.message).toContain("tool:demo.read_file: network receive `https://unknown.example.com/a`");
    expect(() => answer.orThrow()).toThrow(AccessPendingError);
    expect(JSON.parse(JSON.stringify(answer))).toEqual({ ...answer });
  });

  it("leaves no request where it is told not to", async () => {
    const answer = await check({ ...UNKNOWN, registerRequest: false });
    expect([answer.code, answer.requestId]).toEqual(["approval_required", undefined]);
    expect(() => answer.orThrow()).toThrow(ExternalAccessError);
    expect(() => answer.orThrow()).not.toThrow(AccessPendingError);
  });

  it("keeps operations apart", async () => {
    expect((await check({ resourceType: "network", operation: "send", target: DECLARED })).code).toBe(
      "approval_required",
    );
  });

  it.each([
    [
      { resourceType: "url", operation: "receive", target: DECLARED },
      "invalid_operation",
      "`network` target",
    ],
    [
      { resourceType: "network", operation: "read", target: DECLARED },
      "invalid_operation",
      "connect, receive",
    ],
    [{ resourceType: "network", operation: "receive", target: "http://" }, "invalid_target", ""],
    [{ resourceType: "filesystem", operation: "read", target: "/a\0b" }, "invalid_target", ""],
    [{ ...UNKNOWN, target: "https://user:pw@declared.example.com" }, "invalid_target", ""],
    [{ ...UNKNOWN, wait: { timeoutMs: -1 } }, "invalid_operation", "timeoutMs"],
    [{ ...UNKNOWN, resumeAction: "demo.x" }, "invalid_operation", "`resumeAction` is no argument"],
    [{ ...UNKNOWN, subjectType: "tool" }, "invalid_operation", "subject name"],
  ])("says what is wrong with %j", async (input, code, part) => {
    const answer = await check(input);
    expect(answer.code).toBe(code);
    expect(answer.message).toContain(part);
    expect(answer.requestId).toBeUndefined();
  });

  it.each(["user", "userId", "organizationId", "sessionKey", "alreadyAllowed", "allowed", "mode"])(
    "takes no flag or fact `%s` from guarded code, be it true or not",
    async (key) => {
      const answer = await check({
        resourceType: "network",
        operation: "receive",
        target: DECLARED,
        [key]: true,
      });
      expect(answer.code).toBe("invalid_operation");
      expect(answer.message).toContain(`\`${key}\``);
    },
  );

  it("lets a named subject only narrow", async () => {
    const { sdk, runtime } = way;
    const named = { resourceType: "network", operation: "receive", target: DECLARED } as const;
    const asAgent = { ...named, subjectType: "agent", subjectName: AGENT.name } as const;
    expect((await check(asAgent)).code).toBe("subject_not_active");
    const both = await runtime.run(AGENT, MEMBER, () =>
      runtime.run(TOOL, {}, () => sdk.access.checkExternalAccess(asAgent)),
    );
    expect(both.code).toBe("approval_required");
  });

  it("answers a call of nobody with no_subject", async () => {
    expect((await way.sdk.access.checkExternalAccess(UNKNOWN)).code).toBe("no_subject");
  });

  it("opens by a person's session approval and stays shut elsewhere", async () => {
    const { sdk, runtime, fixture } = way;
    const { requestId } = await check(UNKNOWN);
    const by = await fixture.shown(requestId);
    const decision = await runtime.runAsHost(ADMIN, () => sdk.access.approveForSession(by));
    expect(decision).toMatchObject({ ok: true, kind: "approve_for_session", settled: [requestId] });
    expect((await check(UNKNOWN)).code).toBe("allowed_session");
    const asModule = runtime.run(DEMO, MEMBER, () => sdk.access.checkExternalAccess(UNKNOWN));
    expect((await asModule).code).toBe("approval_required");
  });

  it("approves ahead and denies by what is meant", async () => {
    const { sdk, runtime } = way;
    const whose = { subjectType: "tool", subjectName: TOOL.name } as const;
    const approved = await runtime.runAsHost(ADMIN, () =>
      sdk.access.approvePermanently(sdk.access.network.receive(UNKNOWN.target), { ...whose, maxUses: 1 }),
    );
    expect(approved).toMatchObject({ ok: true, approval: { maxUses: 1 } });
    expect((await check(UNKNOWN)).code).toBe("allowed_permanent");
    const words = { ...UNKNOWN, ...whose, reason: "not today" };
    const denied = await runtime.runAsHost(ADMIN, () => sdk.access.denyExternalAccess(words));
    expect(denied).toMatchObject({ ok: true, kind: "deny" });
    const after = await check(UNKNOWN);
    expect([after.code, after.requestId]).toEqual(["resource_disabled", undefined]);
    const odd = await runtime.runAsHost(ADMIN, () =>
      sdk.access.denyExternalAccess({ ...words, target: "http://" }),
    );
    expect(odd).toMatchObject({ ok: false, code: "invalid_target" });
    const nobody = await runtime.runAsHost(ADMIN, () => sdk.access.denyExternalAccess(UNKNOWN as never));
    expect(nobody).toMatchObject({ ok: false, code: "invalid_operation" });
  });

  it("refuses the self-approval of guarded code through the SDK, also for a super user, and records it", async () => {
    const { sdk, runtime, fixture } = way;
    const { requestId } = await check(UNKNOWN);
    const by = await fixture.shown(requestId);
    const asSuper = { ...MEMBER, ...ADMIN, organizationId: null };
    for (const options of [MEMBER, asSuper])
      for (const verb of ["approveForSession", "approvePermanently", "denyExternalAccess"] as const)
        await expect(runtime.run(TOOL, options, () => sdk.access[verb](by))).rejects.toBeInstanceOf(
          PermissionError,
        );
    const nested = runtime.runAsHost(ADMIN, () =>
      runtime.run(TOOL, {}, () => sdk.access.approvePermanently(by)),
    );
    await expect(nested).rejects.toBeInstanceOf(PermissionError);
    await expect(sdk.access.approvePermanently(by)).rejects.toBeInstanceOf(PermissionError);
    const refused = (await fixture.events()).filter(({ type }) => type === "policy.refused");
    expect(refused).toHaveLength(8);
    expect((await check(UNKNOWN)).code).toBe("approval_required");
  });

  it("waits for a person, and says how it ended", async () => {
    const { sdk, runtime, fixture } = way;
    const answer = await check(UNKNOWN);
    const waiting = asTool(() => sdk.access.waitForDecision(answer, { timeoutMs: 60_000 }));
    const by = await fixture.shown(answer.requestId);
    await runtime.runAsHost(ADMIN, () => sdk.access.denyExternalAccess(by));
    expect(await waiting).toEqual({ outcome: "denied" });
    const other = await check({ ...UNKNOWN, target: "https://x.example.com", wait: { timeoutMs: 1 } });
    expect(other.code).toBe("approval_timeout");
  });

  it("bounds what guarded code makes up by what it may do itself", async () => {
    const { sdk, runtime } = way;
    const send = { resourceType: "network", operation: "send", target: "https://bank.example.com" } as const;
    const own = await runtime.run(BANK, MEMBER, () => sdk.access.checkExternalAccess(send));
    expect(own.code).toBe("allowed_sandbox");
    const claimed = await asTool(() => sdk.run(BANK, () => sdk.access.checkExternalAccess(send)));
    expect(claimed.code).toBe("approval_required");
    expect(claimed.message).toContain("tool:demo.read_file");
    expect(() => asTool(() => sdk.run({ type: "core", name: "core" }, () => 1))).toThrow(TypeError);
  });

  it("holds the data folder closed, whatever a person approves", async () => {
    const { sdk, runtime, fixture } = way;
    const secret = join(fixture.dataFolder, "key-ring.json");
    for (const operation of ["read", "modify", "delete"] as const) {
      const file = { resourceType: "filesystem", operation, target: secret } as const;
      await runtime.runAsHost(ADMIN, () =>
        sdk.access.approvePermanently({ ...file, subjectType: "tool", subjectName: TOOL.name }),
      );
      expect((await check(file)).code).toBe("denied_rule");
    }
  });

  it("tells guarded code about itself and its own decisions only", async () => {
    const { sdk, runtime } = way;
    const answer = await check(UNKNOWN);
    const seen = asTool(() => ({
      facts: sdk.permission.facts(),
      own: sdk.permission.decision(answer.decision.id),
    }));
    expect(seen.own).toEqual(answer.decision);
    expect(seen.facts?.subjectChain.map(({ subject }) => ({ ...subject }))).toEqual([TOOL]);
    expect(JSON.stringify(seen.facts)).not.toContain("sess-21");
    expect(runtime.run(DEMO, MEMBER, () => sdk.permission.decision(answer.decision.id))).toBeUndefined();
    expect(sdk.permission.facts()).toBeUndefined();
    expect(await sdk.permission.state()).toBeUndefined();
    expect(asTool(() => sdk.sandbox.profile())).toBeNull();
  });
});
