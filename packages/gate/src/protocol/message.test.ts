import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GateFault } from "./gate-fault.ts";
import {
  type ChildMessage,
  MessageWriter,
  type ServiceMessage,
  childMessages,
  serviceMessages,
} from "./message.ts";

const WORDS = { resourceType: "network", operation: "receive", target: "https://a.example/" };
const CHILD: readonly ChildMessage[] = [
  { kind: "hello", protocol: 1 },
  { kind: "confirm", revision: 7 },
  { kind: "ask", id: 1, verb: "check", words: WORDS },
  {
    kind: "ask",
    id: 2,
    verb: "require",
    words: {
      ...WORDS,
      requested: "HTTPS://a.example",
      address: "192.0.2.1",
      aliases: ["b.example"],
      twin: WORDS,
      named: { type: "tool", name: "t" },
      entered: [{ subject: { type: "tool", name: "t" }, contracts: ["c"] }],
      exists: true,
      enforced: true,
      evidence: "open at app.js:1",
      fault: { code: "invalid_target", field: "target", message: "no host" },
    },
    registerRequest: false,
    waitMs: 10,
    resumeAction: "demo.resume",
    resumeContext: '{"keyOfTheirs":1}',
  },
  { kind: "inquire", id: 3, about: "facts" },
  {
    kind: "inquire",
    id: 4,
    about: "request",
    entered: [{ subject: { type: "tool", name: "t" }, contracts: [] }],
    requestId: "r-1",
    waitMs: 10,
  },
  { kind: "cancel", id: 2 },
  { kind: "event", entries: [{ kind: "allowed", words: WORDS }] },
  { kind: "heartbeat", beat: 1 },
  { kind: "branch", branch: 1 },
  { kind: "branch_bytes", branch: 1, bytes: "AAEC" },
  { kind: "branch_taken", branch: 1 },
  { kind: "branch_end", branch: 1 },
  { kind: "imported", name: "child_process", evidence: "app.js:1" },
];
const SERVICE: readonly ServiceMessage[] = [
  { kind: "hello", protocol: 1, nonce: "n", leaseMs: 2000, heartbeatMs: 500, memory: "allowlist" },
  {
    kind: "hello",
    protocol: 1,
    nonce: "n",
    leaseMs: 2000,
    heartbeatMs: 500,
    memory: "nothing",
    imports: ["vm"],
    evidence: true,
  },
  { kind: "branch_bytes", branch: 1, bytes: "AAEC" },
  { kind: "branch_taken", branch: 1 },
  { kind: "branch_end", branch: 1 },
  {
    kind: "snapshot",
    revision: 3,
    isLast: true,
    changes: "[]",
    count: 0,
    context: { live: "{}", fenced: "{}" },
  },
  { kind: "delta", from: 3, to: 4, isLast: true, changes: "[]", count: 0 },
  { kind: "answer", id: 1, check: { allowed: false, request_id: "r" } },
  { kind: "told", id: 3, value: { has_session: true } },
  { kind: "heartbeat", beat: 1, live: true },
  { kind: "close", code: "closed", message: "bye" },
];

const codeOf = (run: () => unknown): string => {
  try {
    run();
    return "read";
  } catch (error) {
    return error instanceof GateFault ? error.code : `not a gate fault: ${String(error)}`;
  }
};
const numbered = (fields: object, n: unknown = 1): string => JSON.stringify({ n, ...fields });
const ask = (fields: object = {}, words: object = {}) =>
  numbered({
    kind: "ask",
    id: 1,
    verb: "check",
    words: { resource_type: "network", operation: "receive", target: "a", ...words },
    ...fields,
  });

describe("messages", () => {
  it("of every kind come back as they were written", () => {
    const [child, fromChild] = [new MessageWriter(), childMessages()];
    for (const message of CHILD) expect(fromChild.read(child.write(message))).toEqual(message);
    const [service, fromService] = [new MessageWriter(), serviceMessages()];
    for (const message of SERVICE) expect(fromService.read(service.write(message))).toEqual(message);
  });

  it("are spelled in snake case on the wire", () => {
    const text = new MessageWriter().write(CHILD[3] as ChildMessage);
    expect(text).toContain('"resource_type"');
    expect(text).toContain('"register_request":false');
    expect(text).toContain("keyOfTheirs");
  });

  it("attack: a replayed, reordered or left-out message is refused", () => {
    const writer = new MessageWriter();
    const [first, second, third] = [1, 2, 3].map((beat) => writer.write({ kind: "heartbeat", beat })) as [
      string,
      string,
      string,
    ];
    for (const sequence of [[first, first], [second], [first, third], [first, second, first]]) {
      const reader = childMessages();
      expect(codeOf(() => sequence.map((text) => reader.read(text)))).toBe("out_of_sequence");
    }
    for (const n of [0, -1, 2, 1.5, "1", null])
      expect(codeOf(() => childMessages().read(numbered({ kind: "heartbeat", beat: 1 }, n)))).toBe(
        "out_of_sequence",
      );
  });

  it("attack: who the child is cannot be said in any message", () => {
    const claims = [
      { subject: { type: "core", name: "core" } },
      { user: 1 },
      { user_id: 1 },
      { organization_id: 1 },
      { session_key: "sess-1" },
      { frames: [] },
      { caller: {} },
      { attested_by: "kernel" },
      { mode: "bypass" },
      { allowed: true },
    ];
    for (const claim of claims) {
      expect(codeOf(() => childMessages().read(ask(claim)))).toBe("unknown_message");
      expect(codeOf(() => childMessages().read(ask({}, claim)))).toBe("unknown_message");
      const inquiry = numbered({ kind: "inquire", id: 1, about: "state", ...claim });
      expect(codeOf(() => childMessages().read(inquiry))).toBe("unknown_message");
      expect(codeOf(() => childMessages().read(numbered({ kind: "hello", protocol: 1, ...claim })))).toBe(
        "unknown_message",
      );
    }
    expect(codeOf(() => childMessages().read(ask()))).toBe("read");
  });

  it("attack: other types, lengths and keys than a message has are refused", () => {
    const faults: readonly string[] = [
      numbered({ kind: "__proto__" }),
      numbered({ kind: "toString" }),
      numbered({ kind: 1 }),
      numbered({}),
      ask({ id: -1 }),
      ask({ id: 1.5 }),
      ask({ id: "1" }),
      ask({ id: 2 ** 60 }),
      ask({ verb: "approve" }),
      numbered({ kind: "inquire", id: 1, about: "approvals" }),
      ask({ wait_ms: null }),
      ask({}, { target: "a".repeat(16_385) }),
      ask({}, { target: 1 }),
      ask({}, { aliases: Array.from({ length: 65 }, () => "a") }),
      ask({}, { entered: [{ subject: { type: "tool", name: "t" }, contracts: [], entry: "host" }] }),
      ask({}, { named: { type: "tool", name: "t", extra: 1 } }),
      ask({}, { fault: { code: "allowed_sandbox", field: "", message: "" } }),
      '{"n":1,"kind":"hello","protocol":1,"__proto__":{"x":1}}',
      numbered({ kind: "event", entries: Array.from({ length: 101 }, () => 1) }),
    ];
    for (const text of faults)
      expect(
        codeOf(() => childMessages().read(text)),
        text,
      ).toBe("unknown_message");
    for (const text of ["", "[]", "null", "1", "{", '"x"', "{}{}"])
      expect(
        codeOf(() => childMessages().read(text)),
        text,
      ).toBe("malformed_frame");
  });

  it("attack: mutated messages are read or refused with a gate fault, never anything else", () => {
    const texts = CHILD.map((message) => new MessageWriter().write(message));
    const mutation = fc.record({
      text: fc.constantFrom(...texts),
      at: fc.nat(),
      by: fc.constantFrom(
        "",
        '"',
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "0",
        "-",
        "null",
        "\\",
        "\u0000",
        "1e999",
        "__proto__",
      ),
      cut: fc.nat(3),
    });
    fc.assert(
      fc.property(fc.array(mutation, { minLength: 1, maxLength: 1 }), ([one]) => {
        const { text, at, by, cut } = one as NonNullable<typeof one>;
        const place = at % text.length;
        const code = codeOf(() => childMessages().read(text.slice(0, place) + by + text.slice(place + cut)));
        expect(["read", "malformed_frame", "unknown_message", "out_of_sequence"]).toContain(code);
      }),
      { numRuns: 5000 },
    );
  });
});
