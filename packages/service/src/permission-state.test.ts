/** What a caller may know of the policy that it stands under: its own, bounded, and nothing of others. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { AccessService } from "./access-service.ts";
import { eventOfRow } from "./audit/event-chain.ts";
import {
  type Fixture,
  type FixtureOptions,
  READER,
  SYSTEM,
  adminOf,
  ask,
  callerOf,
  eventsOf,
  frame,
  openFixture,
  receive,
} from "./testing/service-fixture.ts";

const ADMIN = adminOf();
const DECLARED = receive("https://declared.example.com/a");
let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

async function reopened(options: FixtureOptions): Promise<void> {
  await fixture.close();
  fixture = await openFixture(options);
}

async function ruled(words: object): Promise<string> {
  const rule = { effect: "deny", source: "host", resourceType: "network", operation: "receive" };
  const answer = await fixture.service.setRule(ADMIN, {
    ...rule,
    target: "a.example.com",
    ...words,
  } as never);
  if (!answer.ok) throw new Error(answer.message);
  return answer.ruleId ?? "";
}

const stateOf = (changes: Parameters<typeof callerOf>[1] = {}) =>
  fixture.service.state(callerOf(READER, changes));

it("names the mode, whether a person can be asked, and the kinds of policy", async () => {
  expect(await stateOf({ interactive: true })).toEqual({
    mode: "default",
    rules: [],
    policySources: ["builtin", "manifest", "approval"],
    interactive: true,
  });
  expect(await stateOf({ interactive: false, mode: "plan" })).toMatchObject({
    mode: "plan",
    interactive: false,
  });
  await fixture.service.setMode(ADMIN, { mode: "never" } as never);
  expect((await stateOf())?.mode).toBe("never");
});

it("names the rules of the caller's chain, user, organization and session only", async () => {
  const { organizationId, user, sessionKey } = callerOf();
  const [own, outer] = [await ruled({ subject: READER }), await ruled({ subject: SYSTEM })];
  const mine = [
    await ruled({ source: "organization", organizationId }),
    await ruled({ source: "user", userId: user?.id }),
    await ruled({ source: "session", sessionKey }),
  ];
  await ruled({ source: "organization", organizationId: "another" });
  await ruled({ source: "user", userId: String(user?.id) });
  await ruled({ source: "session", sessionKey: "another" });
  expect(await stateOf()).toMatchObject({
    rules: [own, ...mine],
    policySources: ["builtin", "manifest", "approval", "host", "organization", "user", "session"],
  });
  const frames = [frame(SYSTEM), frame(READER)];
  expect((await stateOf({ frames }))?.rules).toEqual([own, outer, ...mine]);
  const stranger = await stateOf({ user: null, organizationId: null, sessionKey: null });
  expect(stranger).toMatchObject({
    rules: [own],
    policySources: ["builtin", "manifest", "approval", "host"],
  });
});

it("says nothing to nobody", async () => {
  await ruled({});
  expect(await stateOf({ frames: [] })).toBeUndefined();
});

it("tells of a hook, and of a classifier where the mode asks it", async () => {
  await reopened({ hook: async () => undefined, classifier: async () => undefined });
  expect((await stateOf())?.policySources).toEqual(["builtin", "manifest", "approval", "hook"]);
  expect((await stateOf({ mode: "auto" }))?.policySources).toContain("classifier");
});

it("is bounded, and frozen", async () => {
  await fixture.store.transaction(async (tx) => {
    for (let index = 0; index < 1100; index++)
      await tx.rules.insert({
        id: `rule-${index}`,
        effect: "deny",
        source: "host",
        subject: null,
        resourceType: "network",
        operation: "receive",
        target: `r${index}.example.com`,
        match: null,
        organizationId: null,
        userId: null,
        sessionKey: null,
        createdBy: null,
        createdMs: index,
      });
  });
  const another = new AccessService({ ...fixture.options, nodeId: "node-b" });
  await another.start();
  const state = await another.state(callerOf());
  await another.stop();
  expect([state?.rules.length, Object.isFrozen(state)]).toEqual([1000, true]);
});

it("stands in every event as it is when the event is recorded, also where one rule came or went since the last", async () => {
  const rulesOf = async (): Promise<unknown> => {
    await fixture.service.check(callerOf(), ask(DECLARED));
    const last = (await eventsOf(fixture)).findLast(({ type }) => type === "permission.evaluated");
    const event = eventOfRow({ body: last?.body ?? "" });
    if (!event.ok || event.event.type !== "permission.evaluated") throw new Error("there is no such event");
    const { rules, policySources } = event.event.data.permissionState;
    return { rules, policySources };
  };
  const none = { rules: [], policySources: ["builtin", "manifest", "approval"] };
  expect(await rulesOf()).toEqual(none);
  const id = await ruled({});
  expect(await rulesOf()).toEqual({ rules: [id], policySources: [...none.policySources, "host"] });
  await fixture.service.removeRule(ADMIN, { id });
  expect(await rulesOf()).toEqual(none);
});
