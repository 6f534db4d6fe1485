import { gateBounds as bounds } from "@sallyport/gate";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AskedService } from "./gate-node.ts";
import { RawChild, type RawOptions } from "../testing/raw-child.ts";
import { frameOf } from "../testing/raw-end.ts";
import {
  type Fixture,
  READER,
  adminOf,
  callerOf,
  eventsOf,
  logFaults,
  openFixture,
  receive,
  subject,
} from "../testing/service-fixture.ts";

let fixture: Fixture;
let opened: RawChild[] = [];
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(async () => {
  for (const child of opened) child.socket.destroy();
  opened = [];
  expect(await logFaults(fixture)).toEqual([]);
  await fixture.close();
});

async function open(options: RawOptions = {}): Promise<RawChild> {
  const child = await RawChild.open(fixture, options);
  opened.push(child);
  return child;
}

async function greeted(options: RawOptions = {}): Promise<RawChild> {
  const child = await open(options);
  await child.greet();
  return child;
}

const WORDS = { resource_type: "network", operation: "receive", target: "https://unknown.example.com/a" };
const ask = (id: number, changes: object = {}) => ({
  kind: "ask",
  id,
  verb: "check",
  words: WORDS,
  ...changes,
});

/** Codes with which the log says that a child broke the protocol. */
async function violations(): Promise<readonly string[]> {
  const rows = (await eventsOf(fixture)).filter(({ type }) => type === "sandbox.violation");
  return rows.map(({ body }) => {
    const { data } = JSON.parse(body) as { readonly data: { readonly requested: { operation: string } } };
    return data.requested.operation;
  });
}

/** A service whose answers come when the test says so. */
function slowService(): { readonly service: AskedService; asked: number; release: () => void } {
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  const slow = {
    asked: 0,
    release: () => release(),
    service: {
      check: async (...args) => {
        slow.asked += 1;
        await gate;
        return fixture.service.check(...args);
      },
      require: (...args) => fixture.service.require(...args),
      wait: (...args) => fixture.service.wait(...args),
      state: (...args) => fixture.service.state(...args),
    } satisfies AskedService,
  };
  return slow;
}

describe("attack: a peer", () => {
  it.each<[string, string, (child: RawChild) => void]>([
    ["that sends what is no JSON", "malformed_frame", (child) => child.bytes(frameOf("{"))],
    [
      "that sends what is no text",
      "malformed_frame",
      (child) => child.bytes(Buffer.from([0, 0, 0, 1, 0xff])),
    ],
    ["that claims a huge frame", "oversized_frame", (child) => child.bytes(Buffer.from([0xff, 0, 0, 0]))],
    ["that sends an unknown message", "unknown_message", (child) => child.say({ kind: "approve", id: 1 })],
    ["that sends an unknown field", "unknown_message", (child) => child.say({ ...ask(1), user_id: 1 })],
    ["that replays a frame", "out_of_sequence", (child) => child.say({ ...ask(1), n: 3 })],
    ["that says hello twice", "out_of_state", (child) => child.hello()],
    [
      "that confirms what it was not sent",
      "out_of_state",
      (child) => child.say({ kind: "confirm", revision: 9 }),
    ],
    ["that beats out of order", "out_of_state", (child) => child.beats(7)],
    ["that asks twice under one number", "duplicate_id", (child) => (child.say(ask(1)), child.say(ask(1)))],
    ["that asks under an old number", "duplicate_id", (child) => (child.say(ask(5)), child.say(ask(4)))],
  ])("%s is cut off with %s", async (_, code, attack) => {
    const child = await greeted();
    attack(child);
    expect(await child.ended()).toBe(code);
    await expect.poll(violations).toEqual([code]);
  });

  it("that is cut off is on record as the subject it is, with the fault and by its guard", async () => {
    const child = await greeted({ caller: callerOf(subject("tool", "demo.other"), { credential: "host" }) });
    child.say({ kind: "approve", id: 1 });
    await expect.poll(violations).toEqual(["unknown_message"]);
    const [event] = await eventsOf(fixture);
    expect(event).toMatchObject({
      type: "sandbox.violation",
      subjectType: "tool",
      subjectName: "demo.other",
      userId: 21,
      organizationId: 7,
      sessionKey: "sess-21",
      decision: "denied",
      code: "invalid_operation",
    });
    const { data } = JSON.parse(event?.body ?? "") as { readonly data: object };
    expect(data).toMatchObject({
      attested_by: "guard",
      resource: null,
      requested: { type: "gate", operation: "unknown_message", target: "" },
      permission_decision: { decision_reason: expect.stringContaining("`unknown_message`") as string },
    });
    expect((await fixture.service.list.requests(adminOf())).rows).toEqual([]);
  });

  it("that only goes away, or that the host ends, is not on record as a violation", async () => {
    const gone = await greeted();
    gone.socket.destroy();
    await expect.poll(() => gone.faults[0]?.code).toBe("closed");
    const ended = await greeted();
    ended.session.close();
    expect(await ended.ended()).toBe("closed");
    const marker = await greeted();
    marker.say({ kind: "approve" });
    await expect.poll(violations).toEqual(["unknown_message"]);
  });

  it("that asks before it was greeted, or before it confirmed, is cut off", async () => {
    const early = await open();
    early.say(ask(1));
    expect(await early.ended()).toBe("out_of_state");
    const unconfirmed = await open();
    unconfirmed.hello();
    unconfirmed.say(ask(1));
    expect(await unconfirmed.ended()).toBe("out_of_state");
  });

  it("of another version is cut off", async () => {
    const child = await open();
    child.say({ kind: "hello", protocol: bounds.PROTOCOL_VERSION + 1 });
    expect(await child.ended()).toBe("wrong_version");
  });

  it("that never says hello is cut off in time", async () => {
    const child = await open();
    child.timers.advance(bounds.HELLO_MS - 1);
    expect(child.faults).toEqual([]);
    child.timers.advance(1);
    expect(await child.ended()).toBe("no_hello");
  });

  it("that sends a frame byte by byte is cut off in time, however busy it is", async () => {
    const child = await greeted();
    const frame = frameOf({ n: 4, ...ask(1) });
    for (let sent = 0; sent < 4; sent++) {
      child.bytes(frame.subarray(sent, sent + 1));
      // WHY: a heartbeat cannot be sent inside a frame, so only the time that passes tells.
      await new Promise((resolve) => setImmediate(resolve));
      child.timers.advance(bounds.FRAME_MS / 4);
    }
    await expect
      .poll(() => {
        child.timers.advance(bounds.FRAME_MS / 4);
        return child.faults[0]?.code;
      })
      .toBe("slow_frame");
  });

  it("that floods the gate with questions is not read any further", async () => {
    const slow = slowService();
    const child = await greeted({ service: slow.service });
    for (let id = 1; id <= 1000; id++) child.say(ask(id, { register_request: false }));
    await expect.poll(() => slow.asked).toBe(bounds.OPEN_ASKS_MAX);
    await fixture.service.sweep();
    expect(slow.asked).toBe(bounds.OPEN_ASKS_MAX);
    slow.release();
    await expect.poll(() => slow.asked).toBe(1000);
    for (let id = 1; id <= 1000; id++) await child.next("answer");
    expect(child.faults).toEqual([]);
  });

  it("that never reads is cut off, and what is held for it is bounded", async () => {
    const child = await greeted();
    child.socket.pause();
    child.socket.removeAllListeners("data");
    let beat = 1;
    const feed = setInterval(() => {
      for (let count = 0; count < 2000; count++) child.beats(++beat);
    }, 1);
    await expect.poll(() => child.faults[0]?.code, { timeout: 60_000 }).toBe("slow_reader");
    clearInterval(feed);
  });

  it("that waits for more persons than may be is answered without waiting", async () => {
    const child = await greeted();
    for (let id = 1; id <= bounds.WAITS_MAX + 1; id++) child.say(ask(id, { wait_ms: 60_000 }));
    expect(await child.next("answer")).toMatchObject({
      id: bounds.WAITS_MAX + 1,
      check: { code: "approval_required" },
    });
    expect(child.heard.filter(({ kind }) => kind === "answer")).toEqual([]);
  });

  it("cannot name a subject that is not on its chain, nor enter one with the contract of another", async () => {
    fixture.service.applyHost({
      kind: "contract_set",
      contract: {
        id: "contract-other",
        access: [
          { resourceType: "network", operation: "receive", target: "unknown.example.com" },
          { resourceType: "network", operation: "receive", target: "declared.example.com" },
        ],
      },
    });
    const child = await greeted();
    const answer = async (id: number, changes: object) => {
      child.say(ask(id, { register_request: false, words: { ...WORDS, ...changes } }));
      return ((await child.next("answer"))["check"] as { readonly code: string }).code;
    };
    expect(await answer(1, { named: { type: "core", name: "core" } })).toBe("subject_not_active");
    const entered = (type: string, name: string, own: readonly string[] = ["contract-demo"]) => ({
      entered: [{ subject: { type, name }, contracts: ["contract-other", ...own] }],
    });
    expect(await answer(2, entered("tool", "demo.other"))).toBe("approval_required");
    expect(await answer(3, entered("core", "core"))).toBe("approval_required");
    expect(await answer(4, entered("module", "system"))).toBe("approval_required");
    expect(
      await answer(5, { ...entered("tool", "demo.other"), target: "https://declared.example.com/x" }),
    ).toBe("allowed_sandbox");
    expect(
      await answer(6, { ...entered("tool", "demo.other", []), target: "https://declared.example.com/x" }),
    ).toBe("approval_required");
    expect(await answer(7, entered("root", "x"))).toBe("invalid_target");
  });

  it("is recorded as itself, whatever it reports", async () => {
    const child = await greeted({ caller: callerOf(subject("tool", "demo.other"), { credential: "host" }) });
    child.say({ kind: "event", entries: [{ kind: "violation", words: { ...WORDS, enforced: true } }] });
    await expect.poll(async () => (await eventsOf(fixture)).length).toBe(1);
    const [event] = await eventsOf(fixture);
    expect(event).toMatchObject({
      type: "sandbox.violation",
      subjectType: "tool",
      subjectName: "demo.other",
      userId: 21,
      sessionKey: "sess-21",
    });
    expect((await fixture.service.list.requests(adminOf())).rows).toEqual([]);
  });
});

describe("a child", () => {
  it("that cancels stops waiting, and its request stays", async () => {
    const child = await greeted();
    child.say(ask(1, { wait_ms: 600_000 }));
    await expect.poll(async () => (await fixture.service.list.requests(adminOf())).rows.length).toBe(1);
    child.say({ kind: "cancel", id: 1 });
    expect(await child.next("answer")).toMatchObject({ id: 1, check: { code: "approval_required" } });
  });

  it("that goes away leaves no waiter behind", async () => {
    const child = await greeted();
    child.say(ask(1, { wait_ms: 600_000 }));
    await expect.poll(async () => (await fixture.service.list.requests(adminOf())).rows.length).toBe(1);
    child.socket.destroy();
    await expect
      .poll(async () => (await eventsOf(fixture)).filter(({ type }) => type === "permission.resolved").length)
      .toBe(1);
    expect(child.children.count).toBe(0);
  });

  it("that beats and does not confirm is renewed for one lease more, and is fenced by its last one", async () => {
    const child = await greeted();
    expect(child.session.isFenced).toBe(false);
    await fixture.service.approvePermanently(adminOf(), {
      subject: READER,
      access: receive("https://unknown.example.com/a"),
    });
    child.moveTo(1);
    child.beats(2);
    expect(await child.next("heartbeat")).toMatchObject({ live: true });
    child.timers.advance(bounds.LEASE_MS - 1);
    child.beats(3);
    expect(await child.next("heartbeat")).toMatchObject({ live: true });
    child.timers.advance(1);
    child.beats(4);
    expect(await child.next("heartbeat")).toMatchObject({ live: false });
    let heard = false;
    const waiting = child.children.atLeast(1).then(() => (heard = true));
    child.timers.advance(bounds.LEASE_MS - 2);
    await Promise.resolve();
    expect(heard).toBe(false);
    expect(child.children.confirmable(1)).toBe(0);
    child.timers.advance(1);
    await waiting;
    expect(child.children.confirmable(1)).toBe(1);
    expect(child.session.isFenced).toBe(true);
  });

  it("that was cut off holds a revocation up until its lease has run out", async () => {
    const child = await greeted();
    child.bytes(frameOf("{"));
    expect(await child.ended()).toBe("malformed_frame");
    let heard = false;
    const waiting = child.children.atLeast(1).then(() => (heard = true));
    child.timers.advance(bounds.LEASE_MS - 1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(heard).toBe(false);
    child.timers.advance(1);
    await waiting;
    await expect.poll(() => child.children.count).toBe(0);
  });

  it("is not renewed by a node that cannot vouch for its view", async () => {
    const child = await greeted();
    child.vouch(false);
    child.beats(2);
    expect(await child.next("heartbeat")).toMatchObject({ beat: 2, live: false });
    child.vouch(true);
    child.beats(3);
    expect(await child.next("heartbeat")).toMatchObject({ beat: 3, live: true });
  });
});
