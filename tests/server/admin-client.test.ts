/** The administration API as console and command line use it: the real client, a real server, a real store. */
import { createAdminClient } from "@sallyport/client/admin";
import type { RequestId } from "@sallyport/contract";
import {
  type ServerFixture,
  ask,
  asked,
  guardedCaller,
  openServer,
  receive,
  tokenOf,
} from "@sallyport/server/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { browserFetch } from "./browser-fetch.ts";

let fixture: ServerFixture;
let client: ReturnType<typeof createAdminClient>;
beforeEach(async () => {
  fixture = await openServer({
    admin: {
      manifests: () => [
        {
          subject: { type: "tool", name: "demo.read_file" as never },
          phase: "runtime",
          access: [{ resourceType: "network", operation: "receive", target: "https://declared.example.com" }],
          allowedImports: [],
          source: null,
        },
      ],
    },
  });
  client = createAdminClient({ origin: fixture.origin, fetch: browserFetch(fixture.origin) });
  await client.signInWithLink(tokenOf((await fixture.server.createSignInLink()).url));
});
afterEach(async () => {
  expect(fixture.faults).toEqual([]);
  await fixture.close();
});

const by = (shown: { readonly requestId: string; readonly digest: string }) =>
  ({ kind: "request", requestId: shown.requestId as RequestId, digest: shown.digest }) as const;

const codeOf = async (path: string): Promise<string> => {
  const what = receive(`https://asked.example.com/${path}`);
  return (await fixture.service.check(guardedCaller(), ask(what, { registerRequest: false }))).code;
};

describe("requests", () => {
  it("are listed page by page and narrowed by every identity field", async () => {
    for (const path of ["a", "b", "c"]) await asked(fixture, path);
    await asked(fixture, "d", { user: { id: "21", roles: [], accessLevel: null }, sessionKey: null });
    const first = await client.requests({ status: "pending" }, { limit: 3 });
    expect(first.rows).toHaveLength(3);
    const rest = await client.requests({ status: "pending" }, { limit: 3, after: first.next ?? "" });
    expect(rest.rows).toHaveLength(1);
    expect(rest.next).toBeNull();
    const count = async (filter: Parameters<typeof client.requests>[0]) =>
      (await client.requests(filter)).rows.length;
    expect(await count({ userId: 21 })).toBe(3);
    expect(await count({ userId: "21" })).toBe(1);
    expect(await count({ sessionKey: null })).toBe(1);
    expect(await count({ target: "https://asked.example.com/b" })).toBe(1);
    expect(await count({ subjectType: "agent" })).toBe(0);
    expect(await count({ operation: "receive", resourceType: "network", organizationId: 7 })).toBe(4);
    expect(await count({ taskId: "task-1", status: "denied" })).toBe(0);
  });

  it("refuse a filter that is not known and a place that was not given", async () => {
    await expect(client.requests({ nonsense: 1 } as never)).rejects.toMatchObject({
      code: "invalid_request",
    });
    await expect(client.requests({}, { after: "nonsense" })).rejects.toMatchObject({ status: 400 });
    await expect(client.requests({}, { limit: 100_000 })).rejects.toMatchObject({ status: 400 });
    await expect(client.request("none")).rejects.toMatchObject({ code: "not_found", status: 404 });
  });

  it("come with what helps to decide: widenings, why, grants and near misses", async () => {
    const other = await asked(fixture, "x/a");
    await client.decide("approve_for_session", by(other));
    const session = guardedCaller({ sessionKey: "sess-22" });
    const check = await fixture.service.check(session, ask(receive("https://asked.example.com/x/a")));
    const detail = await client.request(check.requestId ?? "");
    expect(detail.request).toMatchObject({ status: "pending", decidedBy: null });
    expect(Date.parse(detail.request.expiresAt)).toBeGreaterThan(Date.now());
    expect(detail.widenings[0]).toMatchObject({ match: "exact", target: "https://asked.example.com/x/a" });
    expect(detail.widenings.map(({ match }) => match)).toContain("path_prefix");
    expect(detail.asked.mode).toBe("default");
    expect(detail.asked.reason).toContain("needs an approval");
    expect(detail.nearMisses).toMatchObject([
      { why: "other_session", message: "asked again because the grant is for another session" },
    ]);
  });

  it("are decided in each way, and the loser of a race is told who was first", async () => {
    const shown = await Promise.all(["a", "b", "c", "d"].map((path) => asked(fixture, path)));
    const kinds = ["approve_permanently", "approve_for_session", "deny", "block"] as const;
    for (const [index, kind] of kinds.entries()) {
      const one = shown[index];
      if (one === undefined) throw new Error("not asked");
      expect(await client.decide(kind, by(one))).toMatchObject({ ok: true, kind });
    }
    const codes = await Promise.all(["a", "b", "c", "d"].map(codeOf));
    expect(codes).toEqual(["allowed_permanent", "allowed_session", "resource_disabled", "denied_rule"]);
    const [first] = shown;
    if (first === undefined) throw new Error("not asked");
    const late = await client.decide("deny", by(first));
    expect(late).toMatchObject({ ok: false, code: "already_decided", decidedBy: "administrator:first" });
  });

  it("are decided in a batch wholly or not at all", async () => {
    const [a, b] = [await asked(fixture, "a"), await asked(fixture, "b")];
    const items = [
      { kind: "approve_permanently", by: by(a), words: {} },
      { kind: "deny", by: { ...by(b), digest: "0".repeat(64) }, words: {} },
    ] as const;
    expect(await client.decideBatch(items)).toMatchObject({ committed: false });
    expect(await codeOf("a")).toBe("approval_required");
    const fixed = [items[0], { ...items[1], by: by(b) }];
    expect(await client.decideBatch(fixed)).toMatchObject({
      committed: true,
      answers: [{ ok: true }, { ok: true }],
    });
    expect([await codeOf("a"), await codeOf("b")]).toEqual(["allowed_permanent", "resource_disabled"]);
  });

  it("never show a credential in a target, and a widening that was shown masked can be chosen all the same", async () => {
    const secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    const shown = await asked(fixture, `x/a?access_token=${secret}`);
    const detail = await client.request(shown.requestId);
    expect(JSON.stringify(detail)).not.toContain(secret);
    expect(detail.widenings.length).toBeGreaterThan(1);
    const [exact] = detail.widenings;
    if (exact === undefined) throw new Error("nothing is offered");
    const widen = { match: exact.match, target: exact.target };
    const decided = await client.decide("approve_permanently", by(shown), { widen });
    expect(decided).toMatchObject({ ok: true, repeated: false });
    expect(JSON.stringify(decided)).not.toContain(secret);
    expect(await codeOf(`x/a?access_token=${secret}`)).toBe("allowed_permanent");
    expect(JSON.stringify(await client.approvals())).not.toContain(secret);
    expect(JSON.stringify(await client.events())).not.toContain(secret);
  });
});

describe("what stands", () => {
  it("is listed and taken back: approvals, denials, rules", async () => {
    const [a, b] = [await asked(fixture, "a"), await asked(fixture, "b")];
    await client.decide("approve_permanently", by(a), { maxUses: 2, reason: "for the report" });
    await client.decide("deny", by(b));
    const [grant] = (await client.approvals({ scope: "permanent" })).rows;
    expect(grant).toMatchObject({ alive: true, lastUsedAt: null, approval: { maxUses: 2, uses: 0 } });
    expect(await client.revokeApproval(grant?.approval.id ?? "", "no longer")).toMatchObject({ ok: true });
    const [denial] = (await client.denials()).rows;
    expect(await client.revokeDenial(denial?.id ?? "")).toMatchObject({ ok: true, repeated: false });
    expect([await codeOf("a"), await codeOf("b")]).toEqual(["approval_required", "approval_required"]);
    const rule = {
      effect: "deny",
      source: "host",
      resourceType: "network",
      operation: "receive",
      target: "https://asked.example.com",
    } as const;
    const set = await client.setRule(rule);
    expect(await codeOf("a")).toBe("denied_rule");
    expect((await client.rules()).rows).toMatchObject([{ rule, createdBy: "administrator:first" }]);
    expect(await client.removeRule(set.ok ? (set.ruleId ?? "") : "")).toMatchObject({ ok: true });
    expect(await codeOf("a")).toBe("approval_required");
  });

  it("is changed by mode and by freeze, and said in the permission state", async () => {
    expect(await client.setMode({ mode: "never" })).toMatchObject({ ok: true });
    expect(await client.mode()).toEqual({ mode: "never", expiresAt: null });
    expect(await client.setMode({ mode: "bypass" })).toMatchObject({ ok: false, code: "invalid_operation" });
    expect(await client.freeze({ frozen: true, reason: "an incident" })).toMatchObject({ ok: true });
    expect(await client.freezeState()).toMatchObject({ frozen: true, reason: "an incident" });
    expect((await client.session()).server).toMatchObject({ frozen: true, mode: "never", live: true });
    const state = await client.permissionState();
    expect(state).toMatchObject({
      mode: { mode: "never" },
      freeze: { frozen: true },
      pending: 0,
      live: true,
    });
    await client.freeze({ frozen: false });
  });

  it("ends with its session", async () => {
    const shown = await asked(fixture, "a");
    await client.decide("approve_for_session", by(shown));
    await asked(fixture, "b");
    const { rows } = await client.sessions();
    expect(rows).toMatchObject([
      { organizationId: 7, userId: 21, sessionKey: "sess-21", approvals: 1, pending: 1 },
    ]);
    const [{ organizationId, userId, sessionKey } = {} as never] = rows;
    expect(await client.endSession({ organizationId, userId, sessionKey })).toMatchObject({ ok: true });
    expect((await client.sessions()).rows).toEqual([]);
    expect((await client.requests({ status: "cancelled" })).rows).toHaveLength(1);
  });

  it("come page by page, each once, and a place that the server never gave is refused", async () => {
    const keys = ["sess-1", "sess-2", "sess-3", "sess-4", "sess-5"];
    for (const sessionKey of keys) await asked(fixture, sessionKey, { sessionKey });
    const seen: string[] = [];
    let after: string | undefined;
    do {
      const page = await client.sessions({ limit: 2, after });
      expect(page.rows.length).toBeLessThanOrEqual(2);
      seen.push(...page.rows.map(({ sessionKey }) => sessionKey));
      after = page.next ?? undefined;
    } while (after !== undefined);
    expect(seen.toSorted()).toEqual(keys);
    for (const place of [
      { timeMs: 1 },
      { timeMs: 1, organizationId: {}, userId: 1, sessionKey: "s" },
      { timeMs: 1, organizationId: 1, userId: 1, sessionKey: "s", id: "x" },
      { timeMs: 1, organizationId: 1, userId: 1, sessionKey: "a\u0000b" },
    ]) {
      const forged = Buffer.from(JSON.stringify(place)).toString("base64url");
      await expect(client.sessions({ after: forged })).rejects.toMatchObject({ status: 400 });
    }
  });

  it("has jobs that are seen with their error and tried again", async () => {
    const caller = guardedCaller();
    const what = ask(receive("https://asked.example.com/job"));
    const check = await fixture.service.require(caller, { ...what, resumeAction: "demo.resume" });
    await client.decide("approve_permanently", by(await fixture.shown(check.requestId)));
    const [job] = (await client.jobs({ state: "ready" })).rows;
    expect(job).toMatchObject({ action: "demo.resume", ownerModule: "demo", attempts: 0, lastError: null });
    expect(await client.retryJob(job?.id ?? "")).toMatchObject({ ok: true, repeated: true });
    expect(await client.retryJob("none")).toMatchObject({ ok: false, code: "not_found" });
  });
});

describe("the audit log", () => {
  it("is searched, counted, verified and exported", async () => {
    await asked(fixture, "a");
    await asked(fixture, "b");
    const found = await client.events({ type: "permission.requested", subjectName: "demo.read_file" });
    expect(found.rows).toHaveLength(2);
    expect(JSON.parse(found.rows[0]?.body ?? "")).toMatchObject({ type: "permission.requested" });
    const stats = await client.eventStats(60_000, { subjectName: "demo.read_file" });
    expect(stats.buckets.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThanOrEqual(2);
    expect(await client.verifyEvents()).toMatchObject({ ok: true, node: null });
    const lines: string[] = [];
    for await (const line of client.exportEvents()) lines.push(line);
    expect(lines.map((line) => (JSON.parse(line) as { type: string }).type)).toContain(
      "permission.requested",
    );
  });

  it("is followed from now on, and again from the last place that was seen", async () => {
    const stop = new AbortController();
    const following = client.followEvents({ type: "permission.requested" }, { signal: stop.signal });
    const next = following.next();
    // WHY repeated: the follower begins at the end that the log has when it arrives.
    let isHeard = false;
    void next.then(() => (isHeard = true));
    let index = 0;
    await expect
      .poll(async () => {
        await asked(fixture, `follow-${index++}`);
        return isHeard;
      })
      .toBe(true);
    const { value } = await next;
    if (value === undefined || value.kind !== "event") throw new Error("nothing was told");
    expect(value.event).toMatchObject({ type: "permission.requested", subjectName: "demo.read_file" });
    stop.abort();
    await asked(fixture, "after");
    const again = client.followEvents({ target: "https://asked.example.com/after" }, { after: value.cursor });
    const told = await again.next();
    expect(told.value).toMatchObject({ kind: "event", event: { target: "https://asked.example.com/after" } });
    await again.return(undefined);
  });

  it("tells that something changed, and never what", async () => {
    const stop = new AbortController();
    const live = client.live(stop.signal);
    expect((await live.next()).value).toMatchObject({ kind: "hello" });
    await asked(fixture, "a-secret-path");
    const { value } = await live.next();
    expect(value).toMatchObject({ kind: "changed" });
    expect(JSON.stringify(value)).not.toContain("secret");
    stop.abort();
  });
});

describe("asking without consequence", () => {
  it("says what would happen and why, and registers, spends and records nothing", async () => {
    const subject = { type: "tool", name: "demo.read_file" as never } as const;
    const resource = { type: "network", operation: "receive", target: "HTTPS://asked.example.com:443/a" };
    const before = (await fixture.events()).length;
    const answer = await client.check({ subject, resource, explain: true });
    expect(answer.check).toMatchObject({ code: "approval_required", allowed: false });
    expect(answer.explanation?.because).toContain("nothing allows it yet");
    expect(answer.explanation?.remedies.join()).toContain("approve it permanently");
    expect((await client.requests()).rows).toEqual([]);
    expect(await fixture.events()).toHaveLength(before);
    const declared = await client.check({
      subject,
      resource: { ...resource, target: "https://declared.example.com/x" },
    });
    expect(declared).toMatchObject({ check: { code: "allowed_sandbox" }, explanation: null });
    const bad = await client.check({ subject, resource: { ...resource, type: "url" } });
    expect(bad.check.code).toBe("invalid_operation");
    // WHY answered: a policy is tested before its subjects are there. Who is not registered has declared nothing.
    const nobody = { type: "tool", name: "nobody" as never } as const;
    const declaring = { ...resource, target: "https://declared.example.com/x" };
    expect((await client.check({ subject: nobody, resource: declaring })).check.code).toBe(
      "approval_required",
    );
  });
});

describe("credentials, accounts and links", () => {
  it("are handed out and taken back by persons, on record", async () => {
    const grant = {
      subjects: [{ subject: { type: "tool", name: "demo.read_file" as never }, phase: "runtime" }],
      userId: 21 as never,
      organizationId: null,
      sessionKey: "sess-9" as never,
      taskId: null,
      interactive: true,
    } as const;
    const issued = await client.issueCredential({ grant, keyThumbprint: "A".repeat(43) });
    expect(await fixture.server.credentials.verify(issued.token)).toMatchObject({ grant: { userId: 21 } });
    await client.revokeCredential(issued.credentialId, "lost");
    expect(await fixture.server.credentials.verify(issued.token)).toBeUndefined();
    const codes = (await fixture.events()).map(({ code }) => code);
    expect(codes).toEqual(expect.arrayContaining(["issue_credential", "revoke_credential"]));
    const link = await client.createSignInLink({ name: "second" });
    const other = createAdminClient({ origin: fixture.origin, fetch: browserFetch(fixture.origin) });
    expect(await other.signInWithLink(tokenOf(link.url))).toMatchObject({
      user: { name: "second" },
      mayDecide: true,
    });
    await other.signOut();
    expect((await other.session()).user).toBeNull();
    expect((await client.manifests()).rows).toMatchObject([{ subject: { name: "demo.read_file" } }]);
    expect((await client.sandboxProfiles()).rows).toEqual([]);
  });
});
