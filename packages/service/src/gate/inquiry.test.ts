/** What a child may learn over its socket: its own facts, what it stands under, how its own requests were decided. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RawChild, type RawOptions } from "../testing/raw-child.ts";
import {
  type Fixture,
  READER,
  adminOf,
  ask,
  callerOf,
  openFixture,
  receive,
  subject,
} from "../testing/service-fixture.ts";

const PERSON = adminOf();
let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

async function greeted(options: RawOptions = {}): Promise<RawChild> {
  const child = await RawChild.open(fixture, options);
  await child.greet();
  return child;
}

async function told(child: RawChild, id: number, inquiry: object): Promise<unknown> {
  child.say({ kind: "inquire", id, ...inquiry });
  const message = await child.next("told");
  expect(message["id"]).toBe(id);
  return message["value"];
}

const UNKNOWN = receive("https://unknown.example.com/");

describe("a child", () => {
  it("learns who it is, and nothing that is the host's", async () => {
    const caller = callerOf(READER, { taskId: "task-9", interactive: true });
    const value = await told(await greeted({ caller }), 1, { about: "facts" });
    expect(value).toEqual({
      chain: [{ subject: READER, phase: "runtime", entry: "host" }],
      has_session: true,
      task_id: "task-9",
      interactive: true,
      mode: null,
      sandbox_profile: null,
    });
  });

  it("learns of the rules that can meet it, and of no others", async () => {
    const rule = { effect: "deny", resourceType: "network", operation: "receive" } as const;
    const set = async (words: object, target: string) => {
      const answer = await fixture.service.setRule(PERSON, {
        ...rule,
        source: "host",
        target,
        ...words,
      } as never);
      if (!answer.ok) throw new Error(answer.message);
      return answer.ruleId;
    };
    const everybody = await set({}, "a.example.com");
    const own = await set({ subject: READER }, "b.example.com");
    await set({ subject: subject("tool", "bank.transfer") }, "c.example.com");
    const child = await greeted();
    expect(await told(child, 1, { about: "state" })).toEqual({
      state: {
        mode: "default",
        rules: [everybody, own],
        policy_sources: ["builtin", "manifest", "approval", "host"],
        interactive: callerOf().interactive,
      },
    });
    const entered = [{ subject: { type: "tool", name: "bank.transfer" }, contracts: [] }];
    const wider = (await told(child, 2, { about: "state", entered })) as { state: { rules: string[] } };
    expect(wider.state.rules).toHaveLength(3);
    const bad = [{ subject: { type: "url", name: "x" }, contracts: [] }];
    expect(await told(child, 3, { about: "state", entered: bad })).toEqual({ state: null });
  });

  it("waits for its own request, and hears of no other one", async () => {
    const caller = callerOf(READER, { interactive: true });
    const { requestId = "" } = await fixture.service.check(caller, ask(UNKNOWN));
    const child = await greeted({ caller });
    child.say({ kind: "inquire", id: 1, about: "request", request_id: requestId, wait_ms: 60_000 });
    const record = await fixture.service.list.request(PERSON, requestId);
    await fixture.service.deny(PERSON, { requestId, digest: record?.digest ?? "" });
    expect(await child.next("told")).toMatchObject({ id: 1, value: { outcome: "denied" } });
    const stranger = await greeted({ caller: { ...caller, sessionKey: "sess-other" } });
    const asked = { about: "request", request_id: requestId, wait_ms: 60_000 };
    expect(await told(stranger, 1, asked)).toEqual({ outcome: "not_found" });
  });

  it("is told at once where it stops waiting", async () => {
    const caller = callerOf(READER, { interactive: true });
    const { requestId = "" } = await fixture.service.check(caller, ask(UNKNOWN));
    const child = await greeted({ caller });
    child.say({ kind: "inquire", id: 1, about: "request", request_id: requestId, wait_ms: 60_000 });
    child.say({ kind: "cancel", id: 1 });
    expect(await child.next("told")).toMatchObject({ id: 1, value: { outcome: "cancelled" } });
  });

  it("that inquires twice under one number, or before it confirmed, is cut off", async () => {
    const child = await greeted();
    child.say({ kind: "inquire", id: 1, about: "facts" });
    child.say({ kind: "inquire", id: 1, about: "facts" });
    expect(await child.ended()).toBe("duplicate_id");
    const early = await RawChild.open(fixture);
    early.hello();
    early.say({ kind: "inquire", id: 1, about: "facts" });
    expect(await early.ended()).toBe("out_of_state");
  });
});
