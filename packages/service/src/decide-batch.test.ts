import { PermissionError } from "@sallyport/contract";
import { afterEach, describe, expect, it } from "vitest";
import {
  type Fixture,
  adminOf,
  ask,
  callerOf,
  closeSound,
  eventsOf,
  openFixture,
  receive,
  shown,
} from "./testing/service-fixture.ts";

let fixture: Fixture;
afterEach(() => closeSound(fixture));

async function asked(...paths: readonly string[]) {
  const ids: string[] = [];
  for (const path of paths) {
    const check = await fixture.service.check(callerOf(), ask(receive(`https://batch.example.com/${path}`)));
    ids.push(check.requestId ?? "");
  }
  return Promise.all(ids.map((id) => shown(fixture.service, id)));
}

const codeOf = async (path: string): Promise<string> => {
  const what = receive(`https://batch.example.com/${path}`);
  return (await fixture.service.check(callerOf(), ask(what, { registerRequest: false }))).code;
};

describe("decisions in a batch", () => {
  it("are made together, each with its own kind and answer", async () => {
    fixture = await openFixture();
    const [a, b, c, d] = await asked("a", "b", "c", "d");
    if (!a || !b || !c || !d) throw new Error("not asked");
    const batch = await fixture.service.decideBatch(adminOf(), [
      { kind: "approve_permanently", by: a, words: {} },
      { kind: "approve_for_session", by: b, words: {} },
      { kind: "deny", by: c, words: { reason: "not this one" } },
      { kind: "block", by: d, words: {} },
    ]);
    expect(batch).toMatchObject({
      committed: true,
      answers: [
        { ok: true, kind: "approve_permanently" },
        { ok: true, kind: "approve_for_session" },
        { ok: true, kind: "deny" },
        { ok: true, kind: "block" },
      ],
    });
    expect([await codeOf("a"), await codeOf("b"), await codeOf("c"), await codeOf("d")]).toEqual([
      "allowed_permanent",
      "allowed_session",
      "resource_disabled",
      "denied_rule",
    ]);
  });

  it("leave nothing behind where one item is refused", async () => {
    fixture = await openFixture();
    const [a, b] = await asked("a", "b");
    if (!a || !b) throw new Error("not asked");
    const events = (await eventsOf(fixture)).length;
    const batch = await fixture.service.decideBatch(adminOf(), [
      { kind: "approve_permanently", by: a, words: {} },
      { kind: "deny", by: { ...b, digest: "0".repeat(64) }, words: {} },
    ]);
    expect(batch).toMatchObject({
      committed: false,
      answers: [{ ok: true }, { ok: false, code: "digest_mismatch" }],
    });
    expect([await codeOf("a"), await codeOf("b")]).toEqual(["approval_required", "approval_required"]);
    const made = (await eventsOf(fixture)).slice(events).map(({ type }) => type);
    expect(made).not.toContain("policy.changed");
    expect((await fixture.service.list.requests(adminOf(), { status: "pending" })).rows).toHaveLength(2);
  });

  it("are not in each other's way where one covers the other", async () => {
    fixture = await openFixture();
    const [a, b] = await asked("x/a", "x/b");
    if (!a || !b) throw new Error("not asked");
    const widen = { match: "path_prefix", target: "https://batch.example.com/x/" } as const;
    const batch = await fixture.service.decideBatch(adminOf(), [
      { kind: "approve_permanently", by: a, words: { widen } },
      { kind: "approve_permanently", by: b, words: {} },
    ]);
    expect(batch).toMatchObject({ committed: true, answers: [{ repeated: false }, { repeated: true }] });
    expect(await codeOf("x/b")).toBe("allowed_permanent");
  });

  it("need authority before anything is said about what exists", async () => {
    fixture = await openFixture();
    const items = [{ kind: "deny", by: { requestId: "none", digest: "" }, words: {} }] as const;
    await expect(fixture.service.decideBatch(callerOf(), items)).rejects.toBeInstanceOf(PermissionError);
    const scoped = adminOf(1, { organizationId: 0 });
    await expect(fixture.service.decideBatch(scoped, items)).rejects.toBeInstanceOf(PermissionError);
  });
});
