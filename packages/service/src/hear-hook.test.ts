import type { Access, RewrittenAccess } from "@sallyport/contract";
import { afterEach, describe, expect, it } from "vitest";
import type { DecisionHook } from "./node-parts.ts";
import {
  type Fixture,
  READER,
  adminOf,
  ask,
  callerOf,
  closeSound,
  eventsOf,
  openFixture,
  receive,
  shown,
} from "./testing/service-fixture.ts";

const ASKED = receive("https://unknown.example.com/everything");
const NARROW = receive("https://unknown.example.com/a-part");
const DECLARED = receive("https://declared.example.com/x");

let fixture: Fixture;
let told: RewrittenAccess[];
afterEach(() => closeSound(fixture));

async function open(hook: DecisionHook): Promise<Fixture["service"]> {
  told = [];
  fixture = await openFixture({ hook });
  return fixture.service;
}

const textOf = (access: unknown) => (access as Access).target.text;

/** Puts one access in the place of another, once. */
const replacing =
  (from: Access, to: Access): DecisionHook =>
  async (_caller, { access }) =>
    textOf(access) === textOf(from) ? { answer: "rewrite", ref: "input-1", access: to } : undefined;

const takes = (what: Access) => ask(what, { takeRewritten: (rewritten) => told.push(rewritten) });

describe("input that a hook rewrites", () => {
  it("is checked from the start, and the caller learns what was decided on", async () => {
    const service = await open(replacing(ASKED, DECLARED));
    const check = await service.check(callerOf(), takes(ASKED));
    expect(check).toMatchObject({
      code: "allowed_sandbox",
      decision: { updatedInputRef: "input-1", ruleRefs: ["contract-demo"] },
    });
    expect(told).toEqual([{ access: DECLARED, ref: "input-1" }]);
    const [event] = await eventsOf(fixture);
    expect(JSON.parse(event?.body ?? "")).toMatchObject({
      data: {
        resource: { target: textOf(DECLARED) },
        requested: { target: textOf(ASKED) },
        permission_decision: { updated_input_ref: "input-1" },
      },
    });
  });

  it("is what a person is asked about, and what the approval is for", async () => {
    const service = await open(replacing(ASKED, NARROW));
    const check = await service.check(callerOf(), takes(ASKED));
    expect(check).toMatchObject({ code: "approval_required", decision: { updatedInputRef: "input-1" } });
    const request = await service.list.request(adminOf(), check.requestId ?? "");
    expect(request?.resource.target).toBe(textOf(NARROW));
    await service.approvePermanently(adminOf(), await shown(service, check.requestId));
    expect(await service.check(callerOf(), takes(ASKED))).toMatchObject({ code: "allowed_permanent" });
    expect(await service.check(callerOf(), takes(NARROW))).toMatchObject({
      code: "allowed_permanent",
      decision: { updatedInputRef: null },
    });
  });

  it("wakes its waiter with the same input", async () => {
    const service = await open(replacing(ASKED, NARROW));
    const waiting = service.check(callerOf(), { ...takes(ASKED), wait: { timeoutMs: 60_000 } });
    await expect.poll(async () => (await service.list.requests(adminOf())).rows.length).toBe(1);
    const { rows } = await service.list.requests(adminOf());
    await service.approveForSession(adminOf(), await shown(service, rows[0]?.id));
    expect(await waiting).toMatchObject({
      code: "allowed_session",
      decision: { updatedInputRef: "input-1" },
    });
  });

  it("never widens: deny rules and denials hold against it", async () => {
    const service = await open(replacing(DECLARED, NARROW));
    await service.deny(adminOf(), { subject: READER, access: NARROW });
    expect(await service.check(callerOf(), takes(DECLARED))).toMatchObject({ code: "resource_disabled" });
    await service.block(adminOf(), { subject: READER, access: NARROW });
    expect(await service.check(callerOf(), takes(DECLARED))).toMatchObject({ code: "denied_rule" });
  });

  it("attack: an allow for the rewritten input does not serve a caller that does what it asked for", async () => {
    const service = await open(replacing(ASKED, DECLARED));
    expect(await service.check(callerOf(), ask(ASKED))).toMatchObject({
      allowed: false,
      code: "denied_rule",
      decision: { decisionSource: "hook", updatedInputRef: null },
    });
  });

  it("is given to the hook again, and refused where it rewrites without end", async () => {
    let heard = 0;
    const service = await open(async () => {
      heard += 1;
      return { answer: "rewrite", ref: `input-${heard}`, access: DECLARED };
    });
    expect(await service.check(callerOf(), takes(ASKED))).toMatchObject({
      code: "denied_rule",
      decision: { decisionSource: "hook" },
    });
    expect(heard).toBe(3);
  });

  it("is unavailable to a caller that fails to take it", async () => {
    const service = await open(replacing(ASKED, DECLARED));
    const failing = () => {
      throw new Error("cannot");
    };
    expect(await service.check(callerOf(), ask(ASKED, { takeRewritten: failing }))).toMatchObject({
      code: "unavailable",
    });
  });
});
