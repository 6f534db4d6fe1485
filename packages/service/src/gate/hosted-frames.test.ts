/** What a child may say of the subjects that it runs: those that its gate was opened for, and nobody else. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { socketPair } from "../testing/gate-fixture.ts";
import { RawEnd } from "../testing/raw-end.ts";
import {
  type Fixture,
  READER,
  adminOf,
  callerOf,
  logFaults,
  openFixture,
  subject,
} from "../testing/service-fixture.ts";

const LISTED = subject("tool", "demo.listed");
const OTHER = subject("tool", "demo.other");

let fixture: Fixture;
let ends: RawEnd[] = [];
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(async () => {
  for (const end of ends) end.socket.destroy();
  ends = [];
  expect(await logFaults(fixture)).toEqual([]);
  await fixture.close();
});

interface Opened {
  readonly end: RawEnd;
  readonly faults: readonly string[];
}

async function opened(): Promise<Opened> {
  const { near, far } = await socketPair();
  const end = new RawEnd(far);
  ends.push(end);
  const faults: string[] = [];
  const frame = { subject: LISTED, phase: "runtime", entry: "host", contracts: [] } as const;
  fixture.service.gate.attachChild(near, callerOf(READER), {
    hosted: [{ frame, imports: ["vm"] }],
    onClosed: ({ code }) => faults.push(code),
  });
  await end.greet();
  return { end, faults };
}

const WORDS = { resource_type: "network", operation: "receive", target: "https://unknown.example.com/a" };

async function codeOf({ end }: Opened, id: number, hosted: unknown, changes: object = {}): Promise<unknown> {
  end.say({ kind: "ask", id, verb: "check", words: { ...WORDS, ...changes, hosted } });
  const { check } = await end.next("answer");
  return (check as { readonly code: string }).code;
}

describe("a child whose gate was opened for a subject", () => {
  it("asks as that subject, on top of its own frames", async () => {
    const child = await opened();
    expect(await codeOf(child, 1, [LISTED])).toBe("approval_required");
    const { rows } = await fixture.service.list.requests(adminOf(), { status: "pending" });
    expect(rows.map((row) => row.subject)).toEqual([LISTED]);
    expect(rows[0]?.subjectChain.map((frame) => frame.subject)).toEqual([READER, LISTED]);
  });

  it.each([
    ["a subject that is not on the list", [OTHER], "subject_not_active"],
    ["one inside of one that is", [LISTED, OTHER], "subject_not_active"],
    ["the host", [{ type: "core", name: "core" }], "subject_not_active"],
    ["what is no subject", [{ type: "tool", name: "" }], "invalid_target"],
    ["nobody", [], "no_subject"],
  ])("attack: it says that it acts as %s", async (_, hosted, code) => {
    const child = await opened();
    expect(await codeOf(child, 1, hosted)).toBe(code);
    const { rows } = await fixture.service.list.requests(adminOf(), { status: "pending" });
    expect(rows).toEqual([]);
  });

  it.each([
    ["a subject that is not on the list", [OTHER]],
    ["nobody", []],
  ])("attack: it starts a program for %s, and is cut off", async (_, hosted) => {
    const { end, faults } = await opened();
    end.say({ kind: "branch", branch: 1, hosted });
    await expect.poll(() => faults).toEqual(["out_of_state"]);
  });

  it("is told of them in its first words", async () => {
    const { end } = await opened();
    const hello = await end.next("hello");
    expect(hello["hosted"]).toEqual([{ subject: LISTED, imports: ["vm"] }]);
  });

  it("inquires about whoever acts, and about nothing where that is nobody", async () => {
    const { end } = await opened();
    end.say({ kind: "inquire", id: 1, about: "facts", hosted: [LISTED] });
    const facts = (await end.next("told"))["value"] as { readonly chain: readonly object[] };
    expect(facts.chain).toMatchObject([{ subject: READER }, { subject: LISTED }]);
    end.say({ kind: "inquire", id: 2, about: "facts", hosted: [OTHER] });
    expect((await end.next("told"))["value"]).toMatchObject({ chain: [] });
  });
});
