/** The digest changes with everything that was shown, and with nothing else. */
import { requestRecordWire } from "@sallyport/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Shown, digestText, parseDigest, shownDigest } from "./shown-digest.ts";

const subject = { type: "tool", name: "demo.read_file" };
const frame = (more = {}) => ({ subject, phase: "runtime", entry: "host", contracts: ["c1", "c2"], ...more });
const base = {
  subject,
  resource: { type: "network", operation: "receive", target: "https://a.example/x" },
  origin: { userId: 21, organizationId: null, sessionKey: "sess-21", taskId: null },
  subjectChain: [frame({ subject: { type: "agent", name: "demo.reader_agent" } }), frame()],
  actions: ["demo.import", "demo.notify"],
};
const digest = (shown: unknown): string => shownDigest(shown as Shown);

describe("a digest", () => {
  it.each<readonly [string, object]>([
    ["subject type", { subject: { ...subject, type: "agent" } }],
    ["subject name", { subject: { ...subject, name: "demo.read_files" } }],
    ["resource type", { resource: { ...base.resource, type: "filesystem" } }],
    ["operation", { resource: { ...base.resource, operation: "send" } }],
    ["target", { resource: { ...base.resource, target: "https://a.example/y" } }],
    ["user", { origin: { ...base.origin, userId: 22 } }],
    ["user as text", { origin: { ...base.origin, userId: "21" } }],
    ["no user", { origin: { ...base.origin, userId: null } }],
    ["organization", { origin: { ...base.origin, organizationId: 0 } }],
    ["session", { origin: { ...base.origin, sessionKey: "sess-22" } }],
    ["task", { origin: { ...base.origin, taskId: "task" } }],
    ["session as a task", { origin: { ...base.origin, sessionKey: null, taskId: "sess-21" } }],
    ["shorter chain", { subjectChain: [frame()] }],
    ["chain the other way round", { subjectChain: base.subjectChain.toReversed() }],
    ["phase", { subjectChain: [base.subjectChain[0], frame({ phase: "install" })] }],
    ["entry", { subjectChain: [base.subjectChain[0], frame({ entry: "guarded" })] }],
    ["contract", { subjectChain: [base.subjectChain[0], frame({ contracts: ["c1"] })] }],
    ["contracts joined", { subjectChain: [base.subjectChain[0], frame({ contracts: ["c1c2"] })] }],
    ["action more", { actions: [...base.actions, "demo.wipe"] }],
    ["action less", { actions: ["demo.import"] }],
    ["order of actions", { actions: base.actions.toReversed() }],
    ["action twice", { actions: ["demo.import", "demo.import"] }],
    ["continuation without an action", { actions: [...base.actions, null] }],
    ["empty action", { actions: [...base.actions, ""] }],
  ])("is another with another %s", (_, change) => {
    expect(digest({ ...base, ...change })).not.toBe(digest(base));
  });

  it("is the same for an origin whose fields are null and one whose fields are left out", () => {
    expect(digest({ ...base, origin: { userId: 21, sessionKey: "sess-21" } })).toBe(digest(base));
  });

  it("is a digest on the wire, and has a form that names its algorithm", () => {
    const made = shownDigest(base as unknown as Shown);
    expect(requestRecordWire.schema.shape.digest.safeParse(made).success).toBe(true);
    expect(digestText(made)).toMatch(/^sha256-[0-9a-f]{64}$/);
    expect([parseDigest(made), parseDigest(digestText(made))]).toEqual([made, made]);
    for (const wrong of [
      "",
      "sha256-",
      made.toUpperCase(),
      `sha512-${made}`,
      `${made} `,
      `sha256-sha256-${made}`,
    ]) {
      expect(parseDigest(wrong)).toBeUndefined();
    }
  });

  it("cannot be met by moving text from one field into the next, whatever the delimiters", () => {
    const hostile = fc.array(fc.constantFrom("a", "b", "\0", ",", '"', "\u0001", "]", "/", ":", "\n"), {
      maxLength: 5,
    });
    const text = hostile.map((parts) => parts.join(""));
    const shown = fc.record({
      name: text,
      target: text,
      session: text,
      actions: fc.array(text, { maxLength: 3 }),
    });
    const made = (from: { name: string; target: string; session: string; actions: string[] }) =>
      digest({
        ...base,
        subject: { type: "tool", name: from.name },
        resource: { ...base.resource, target: from.target },
        origin: { sessionKey: from.session },
        actions: from.actions,
      });
    fc.assert(
      fc.property(shown, shown, (left, right) => {
        expect(made(left) === made(right)).toBe(JSON.stringify(left) === JSON.stringify(right));
      }),
      { numRuns: 5_000, seed: 9 },
    );
  });
});
