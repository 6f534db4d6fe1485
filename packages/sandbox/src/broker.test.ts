/** The broker goes on by the word `allow` alone; whatever else happens is a refusal. */
import { describe, expect, test } from "vitest";
import { Broker, type Decide, type Recorder, type Ruling } from "./broker.ts";

const CALL = {
  pid: 7,
  call: "openat",
  requested: "file",
  parts: [{ operation: "read", target: "/data/file", exists: true }],
  gains: [],
  granted: [],
};
const GIVEN = [{ operation: "delete", target: "/data/old", exists: true }];

function open(decide: Decide, record: Recorder = async () => "allow") {
  const sent: string[] = [];
  const heard: string[] = [];
  const broker = new Broker({
    decide,
    record,
    send: (text) => void sent.push(text),
    onViolation: ({ call }) => void heard.push(`violation ${call}`),
    onStarted: () => void heard.push("started"),
    onNarrowed: () => void heard.push("narrowed"),
    onFailed: (step) => void heard.push(`failed ${step}`),
    onStrange: () => void heard.push("strange"),
  });
  return { broker, sent, heard };
}

test("an allowed call is answered with its own number", async () => {
  const { broker, sent } = open(async () => "allow");
  await broker.take({ kind: "ask", id: 12, ...CALL });
  expect(sent).toEqual(["allow 12"]);
  expect(broker.waiting).toBe(0);
});

test.each<readonly [string, Decide]>([
  ["denies", async (): Promise<Ruling> => "deny"],
  ["fails", (): Promise<Ruling> => Promise.reject(new Error("gone"))],
  ["answers nonsense", async (): Promise<Ruling> => JSON.parse("true") as Ruling],
  ["answers nothing", async (): Promise<Ruling> => JSON.parse("null") as Ruling],
  [
    "throws at once",
    (): Promise<Ruling> => {
      throw new Error("broken");
    },
  ],
])("a decider that %s refuses the call", async (_what, decide) => {
  const { broker, sent } = open(decide);
  await broker.take({ kind: "ask", id: 3, ...CALL });
  expect(sent).toEqual(["deny 3"]);
});

test("a question that was withdrawn is not answered, and its decider hears of it", async () => {
  let answer: (ruling: Ruling) => void = () => undefined;
  let signal: AbortSignal | undefined;
  const { broker, sent } = open((_call, given) => {
    signal = given;
    return new Promise((resolve) => (answer = resolve));
  });
  const asked = broker.take({ kind: "ask", id: 5, ...CALL });
  await broker.take({ kind: "cancel", id: 5 });
  expect(signal?.aborted).toBe(true);
  answer("allow");
  await asked;
  expect(sent).toEqual([]);
});

test("the end of the sandbox withdraws every question", async () => {
  const signals: AbortSignal[] = [];
  const { broker } = open((_call, signal) => (signals.push(signal), new Promise(() => undefined)));
  for (const id of [1, 2]) void broker.take({ kind: "ask", id, ...CALL });
  broker.close();
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
});

describe("what is granted and destroys", () => {
  test("is put on record and not answered where it goes on by itself", async () => {
    const told: unknown[] = [];
    const { broker, sent } = open(
      async () => "deny",
      async ({ granted }) => (told.push(granted), "allow"),
    );
    await broker.take({ kind: "granted", id: 0, ...CALL, parts: [], granted: GIVEN });
    expect({ told, sent }).toEqual({ told: [GIVEN], sent: [] });
  });

  test("goes on without a question when it is on record, where it waits for that", async () => {
    let recorded: (ruling: Ruling) => void = () => undefined;
    const { broker, sent } = open(
      async () => "deny",
      () => new Promise((resolve) => (recorded = resolve)),
    );
    const taken = broker.take({ kind: "ask", id: 4, ...CALL, parts: [], granted: GIVEN });
    expect(sent).toEqual([]);
    recorded("allow");
    await taken;
    expect(sent).toEqual(["allow 4"]);
  });

  test.each<readonly [string, Decide, Recorder, string]>([
    ["an approval and a record", async () => "allow", async () => "allow", "allow 6"],
    ["an approval and no record", async () => "allow", async () => "deny", "deny 6"],
    ["an approval and a fault", async () => "allow", () => Promise.reject(new Error("gone")), "deny 6"],
    ["a refusal", async () => "deny", async () => "allow", "deny 6"],
  ])("beside what is asked: %s", async (_what, decide, record, answer) => {
    const { broker, sent } = open(decide, record);
    await broker.take({ kind: "ask", id: 6, ...CALL, granted: GIVEN });
    expect(sent).toEqual([answer]);
  });
});

describe("attack: a message that the launcher never sends ends the sandbox", () => {
  test.each([
    null,
    "allow 1",
    {},
    { kind: "ask", id: 1 },
    { kind: "ask", id: "1", ...CALL },
    { kind: "ask", id: 1, ...CALL, parts: [] },
    { kind: "ask", id: 1, ...CALL, parts: [{ operation: "own", target: "/x", exists: true }] },
    { kind: "ask", id: 1, ...CALL, parts: [{ operation: "read", target: "relative", exists: true }] },
    { kind: "ask", id: 1, ...CALL, gains: [{ operation: "read", target: "/x", exists: true }] },
    { kind: "ask", id: 1, ...CALL, gains: undefined },
    { kind: "ask", id: 1, ...CALL, granted: undefined },
    { kind: "granted", id: 0, ...CALL, parts: [], granted: [] },
    { kind: "failed", step: 1 },
  ])("%j", async (message) => {
    const { broker, sent, heard } = open(async () => "allow");
    await broker.take(message);
    expect({ sent, heard }).toEqual({ sent: [], heard: ["strange"] });
  });
});

test("violations, the start, a narrowing and a failure are handed on", async () => {
  const { broker, heard } = open(async () => "deny");
  await broker.take({ kind: "started", pid: 1 });
  await broker.take({ kind: "violation", id: 0, ...CALL });
  await broker.take({ kind: "narrowed" });
  await broker.take({ kind: "failed", step: "landlock", error: 1 });
  expect(heard).toEqual(["started", "violation openat", "narrowed", "failed landlock"]);
});
