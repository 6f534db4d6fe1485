/**
 * What `AccessPolicy` answers, whichever way it is reached: run against the service in this process and against the
 * client over HTTP. Every line compares with one written expectation, so that both give the same.
 */
import {
  type AccessPolicy,
  type CallerContext,
  type ExternalAccessCheck,
  PermissionError,
  fault,
} from "@sallyport/contract";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  AGENT,
  BANK,
  READER,
  type ServerFixture,
  access,
  ask,
  frameOf,
  guardedCaller,
  openServer,
  person,
  receive,
} from "./server-fixture.ts";

/** The two ends of one service. */
export interface PolicyEnds {
  /** As guarded code of user 21 reaches it. */
  readonly guarded: AccessPolicy;
  /** As a person who is signed in reaches it. */
  readonly deciding: AccessPolicy;
}

const UNKNOWN = receive("https://unknown.example.com/a?b=1");
const FAULTY = { requested: { type: "network", operation: "receive", target: "http://" } };
const DECLARED = receive("https://declared.example.com/x");
const ADDRESS = receive("https://203.0.113.7/x");
const LOCAL = "127.0.0.1" as never;
const NAME = "declared.example.com" as never;
/** A frame that guarded code made up under the reader's own. */
const MADE_UP: CallerContext = guardedCaller({
  frames: [frameOf(READER), { ...frameOf(BANK), entry: "guarded" }],
});

export function accessPolicySuite(
  name: string,
  endsOf: (fixture: ServerFixture) => Promise<PolicyEnds>,
): void {
  let fixture: ServerFixture;
  let guarded: AccessPolicy;
  let deciding: AccessPolicy;
  const caller = guardedCaller();

  beforeEach(async () => {
    fixture = await openServer();
    ({ guarded, deciding } = await endsOf(fixture));
  });
  afterEach(async () => {
    expect(fixture.faults).toEqual([]);
    await fixture.close();
  });

  const approved = async (check: ExternalAccessCheck, kind: "approveForSession" | "approvePermanently") =>
    deciding[kind](person(), await fixture.shown(check.requestId));

  describe(`asking ${name}`, () => {
    it.each([
      ["a declared access", caller, ask(receive("https://declared.example.com/x")), "allowed_sandbox"],
      ["an undecided access", caller, ask(UNKNOWN), "approval_required"],
      ["a passive check", caller, ask(UNKNOWN, { registerRequest: false }), "approval_required"],
      [
        "a fault",
        caller,
        ask(fault("invalid_target", "target", "is not a URL") as never, FAULTY),
        "invalid_target",
      ],
      ["no subject", guardedCaller({ frames: [] }), ask(UNKNOWN), "no_subject"],
      ["a named subject off the chain", caller, ask(UNKNOWN, { named: AGENT }), "subject_not_active"],
      ["a path", caller, ask(access("filesystem", "delete", "/srv/x")), "approval_required"],
      ["a program", caller, ask(access("system_dependency", "execute", "ffmpeg")), "approval_required"],
      ["a name that leads to this machine", caller, ask(DECLARED, { address: LOCAL }), "approval_required"],
      ["an address that a declared name had", caller, ask(ADDRESS, { aliases: [NAME] }), "allowed_sandbox"],
      ["a made-up frame within its host's", MADE_UP, ask(DECLARED), "approval_required"],
    ] as const)("answers %s", async (_, who, asked, code) => {
      const check = await guarded.check(who, asked);
      expect(check.code).toBe(code);
      expect(check.requestId !== undefined).toBe(
        code === "approval_required" && asked.registerRequest !== false,
      );
      expect(check.decision.decisionReason).toBe(check.message);
    });

    it("gives the words, facts and request of the service", async () => {
      const check = await guarded.check(caller, ask(UNKNOWN, { exists: true }));
      expect(check).toEqual({
        allowed: false,
        requiresApproval: true,
        code: "approval_required",
        message: `tool:demo.read_file: network receive \`https://unknown.example.com/a?b=1\` needs an approval: wait for request ${check.requestId} to be decided, then try again`,
        requestId: check.requestId,
        decision: {
          id: check.decision.id,
          decision: "asked",
          decisionReason: check.message,
          ruleRefs: [],
          updatedInputRef: null,
          approvalActionId: null,
          expiresAt: null,
          scope: null,
          destructive: false,
          impactScope: check.decision.impactScope,
          rollbackAdvice: check.decision.rollbackAdvice,
          decisionSource: "mode",
        },
      });
      expect(await fixture.service.list.request(person(), check.requestId ?? "")).toMatchObject({
        subject: READER,
        resource: { type: "network", operation: "receive", target: "https://unknown.example.com/a?b=1" },
        origin: { userId: 21, organizationId: 7, sessionKey: "sess-21", taskId: "task-1" },
        subjectChain: [{ subject: READER, phase: "runtime", entry: "host", contracts: ["contract-reader"] }],
        attestedBy: "service",
        count: 1,
      });
    });

    it("registers a resume of the subject's own module, and refuses another module's", async () => {
      const asked = { ...ask(UNKNOWN), resumeContext: { fooBar: [1, { snake_case: null }] } };
      const own = await guarded.require(caller, { ...asked, resumeAction: "demo.resume" });
      expect(own.code).toBe("approval_required");
      expect(await fixture.service.list.request(person(), own.requestId ?? "")).toMatchObject({
        resume: { action: "demo.resume", context: "encrypted" },
      });
      const other = await guarded.require(caller, { ...asked, resumeAction: "bank.resume" });
      expect([other.code, other.requestId]).toEqual(["invalid_operation", undefined]);
      const none = await guarded.require(caller, asked);
      expect([none.code, none.requestId]).toEqual(["invalid_operation", undefined]);
      const odd = { ...asked, resumeAction: "demo.resume", resumeContext: { call: () => 1 } };
      expect((await guarded.require(caller, odd)).code).toBe("invalid_operation");
      const large = { ...asked, resumeAction: "demo.resume", resumeContext: "x".repeat(20_000) };
      expect((await guarded.require(caller, large)).message).toContain("larger than 16384 bytes");
    });
  });

  describe(`deciding ${name}`, () => {
    it("opens a session, and only that one", async () => {
      const check = await guarded.check(caller, ask(UNKNOWN));
      const decision = await approved(check, "approveForSession");
      expect(decision).toMatchObject({ ok: true, kind: "approve_for_session", settled: [check.requestId] });
      expect((await guarded.check(caller, ask(UNKNOWN))).code).toBe("allowed_session");
      expect(await approved(check, "approveForSession")).toMatchObject({ ok: true, repeated: true });
    });

    it("denies with words that say not to retry, and by a digest that must be the shown one", async () => {
      const check = await guarded.check(caller, ask(UNKNOWN));
      const requestId = check.requestId ?? "";
      const stale = { requestId, digest: "0".repeat(64) };
      expect(await deciding.deny(person(), stale)).toMatchObject({ ok: false, code: "digest_mismatch" });
      const denied = await deciding.deny(person(), await fixture.shown(requestId), { reason: "not today" });
      expect(denied).toMatchObject({ ok: true, kind: "deny", denial: { reason: "not today" } });
      expect((await guarded.check(caller, ask(UNKNOWN))).code).toBe("resource_disabled");
    });

    it("approves ahead, with limits, and says what is wrong with them", async () => {
      const by = { subject: READER, access: UNKNOWN };
      expect(await deciding.approvePermanently(person(), by, { maxUses: 0 })).toMatchObject({
        ok: false,
        code: "invalid_operation",
      });
      expect(await deciding.approvePermanently(person(), by, { maxUses: 1 })).toMatchObject({
        ok: true,
        requestId: null,
        approval: { maxUses: 1, subject: READER },
      });
      expect((await guarded.check(caller, ask(UNKNOWN, { enforced: true }))).code).toBe("allowed_permanent");
      expect((await guarded.check(caller, ask(UNKNOWN, { enforced: true }))).code).toBe("approval_required");
    });

    it("is refused to guarded code, whatever it asks about", async () => {
      const nothing = { requestId: "no-such-request", digest: "" };
      for (const kind of ["approveForSession", "approvePermanently", "deny"] as const)
        await expect(guarded[kind](caller, nothing)).rejects.toBeInstanceOf(PermissionError);
      const refused = (await fixture.events()).filter(({ type }) => type === "policy.refused");
      expect(refused.map(({ code }) => code)).toEqual(Array(3).fill("permission_error"));
    });
  });

  describe(`waiting ${name}`, () => {
    it("goes on with the decision, and is told a denial", async () => {
      const waiting = guarded.check(caller, ask(UNKNOWN, { wait: { timeoutMs: 60_000 } }));
      const [pending] = await pendingOf(fixture, 1);
      await deciding.approveForSession(person(), await fixture.shown(pending));
      expect((await waiting).code).toBe("allowed_session");
      const check = await guarded.check(caller, ask(receive("https://other.example.com")));
      const waited = guarded.wait(caller, check.requestId ?? "", { timeoutMs: 60_000 });
      await deciding.deny(person(), await fixture.shown(check.requestId));
      expect(await waited).toEqual({ outcome: "denied" });
    });

    it("ends by its own time as a timeout, and the request stays", async () => {
      const check = await guarded.check(caller, ask(UNKNOWN, { wait: { timeoutMs: 1 } }));
      expect(check.code).toBe("approval_timeout");
      expect(await guarded.wait(caller, check.requestId ?? "", { timeoutMs: 1 })).toEqual({
        outcome: "timed_out",
      });
      expect(await pendingOf(fixture, 1)).toEqual([check.requestId]);
    });

    it("is not possible for what does not exist, nor where nobody can be asked", async () => {
      expect(await guarded.wait(caller, "no-such-request", { timeoutMs: 1 })).toEqual({
        outcome: "not_found",
      });
      const silent = guardedCaller({ interactive: false });
      expect(await guarded.wait(silent, "no-such-request", { timeoutMs: 1 })).toEqual({
        outcome: "not_interactive",
      });
      const check = await guarded.check(silent, ask(UNKNOWN, { wait: { timeoutMs: 60_000 } }));
      expect(check.code).toBe("approval_required");
    });

    it("is cancelled by its caller, and recorded as that", async () => {
      const check = await guarded.check(caller, ask(UNKNOWN));
      const stop = new AbortController();
      const waited = guarded.wait(caller, check.requestId ?? "", { timeoutMs: 60_000, signal: stop.signal });
      stop.abort();
      expect(await waited).toEqual({ outcome: "cancelled" });
    });
  });
}

/** Ids of the pending requests, as soon as there are this many. */
async function pendingOf({ service }: ServerFixture, count: number): Promise<readonly string[]> {
  for (;;) {
    const { rows } = await service.list.requests(person());
    const pending = rows.filter(({ status }) => status === "pending");
    if (pending.length >= count) return pending.map(({ id }) => id);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
