/** Sealed contexts open for their own continuation and for nothing else. */
import type { Resource } from "@sallyport/contract";
import { parseSubject } from "@sallyport/contract";
import { describe, expect, it } from "vitest";
import { between, prng } from "../testing/seeded-random.ts";
import { CONTEXT_BYTES_MAX } from "./json-context.ts";
import { type KeyRing, activeKey, newKeyRing, retireKey, rotateKeyRing } from "./key-ring.ts";
import {
  type ContinuationIdentity,
  type Opened,
  freshNonce,
  openContext,
  sealContext,
} from "./sealed-context.ts";

const NOW = "2026-01-31T09:30:00Z";
const ring = newKeyRing(NOW);
const context = { file: "/data/import.csv", rows: [1, 2.5, null, true], note: "größer" };

function subject(type: string, name: string) {
  const parsed = parseSubject(type, name);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.value;
}

const identity: ContinuationIdentity = {
  requestId: "request-1",
  continuationId: "continuation-1",
  subject: subject("tool", "demo.read_file"),
  resource: { type: "network", operation: "receive", target: "https://a.example/x" },
  organizationId: 21,
  userId: 21,
  sessionKey: "sess-21",
  action: "demo.import",
};

function seal(from: KeyRing = ring, who = identity, what: unknown = context): Uint8Array {
  const sealed = sealContext(from, who, what);
  if (!sealed.ok) throw new Error(sealed.message);
  return sealed.bytes;
}

const open = (bytes: Uint8Array, from = ring, who = identity): Opened => openContext(from, who, bytes);

function retired(from: KeyRing, id: string): KeyRing {
  const result = retireKey(from, id);
  if (!result.ok) throw new Error(result.message);
  return result.ring;
}

describe("a sealed context", () => {
  it("opens for its own continuation, frozen all the way down", () => {
    const opened = open(seal());
    expect(opened).toEqual({ outcome: "opened", context });
    const held = (opened as { context: typeof context }).context;
    expect([held, held.rows].every((part) => Object.isFrozen(part))).toBe(true);
  });

  it("shows nothing of what it holds", () => {
    const text = Buffer.from(seal()).toString("latin1");
    for (const part of ["import", "data", "note", "demo", "sess"]) expect(text).not.toContain(part);
  });

  it("does not open with one bit flipped, at any position", () => {
    const bytes = seal();
    const outcomes = new Map<string, number>();
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = Uint8Array.from(bytes);
      flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
      const { outcome } = open(flipped);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
    expect(outcomes.get("opened")).toBeUndefined();
    expect(Object.fromEntries(outcomes)).toEqual({
      unknown_version: 8,
      unknown_key: 16 * 8,
      damaged: (bytes.length - 17) * 8,
    });
  });

  it("does not open truncated, at any length, nor with bytes added", () => {
    const bytes = seal();
    for (let length = 0; length < bytes.length; length++) {
      expect(open(bytes.subarray(0, length)).outcome).not.toBe("opened");
      expect(open(bytes.subarray(bytes.length - length)).outcome).not.toBe("opened");
    }
    expect(open(Uint8Array.from([...bytes, 0])).outcome).toBe("damaged");
    expect(open(new Uint8Array()).outcome).toBe("damaged");
  });

  it("does not open for another request, even where two were swapped", () => {
    const other = { ...identity, requestId: "request-2" };
    const [mine, theirs] = [seal(), seal(ring, other)];
    expect(open(mine, ring, other).outcome).toBe("damaged");
    expect(open(theirs).outcome).toBe("damaged");
    expect(open(theirs, ring, other).outcome).toBe("opened");
  });

  it("does not open with the parts of two envelopes of one request", () => {
    const [first, second] = [seal(), seal()];
    for (const cut of [1, 17, 29, 45]) {
      const mixed = Buffer.concat([first.subarray(0, cut), second.subarray(cut)]);
      const isSecond = cut <= 17;
      expect(open(mixed).outcome).toBe(isSecond ? "opened" : "damaged");
    }
  });

  it.each<readonly [string, Partial<ContinuationIdentity>]>([
    ["request", { requestId: "request-10" }],
    ["continuation", { continuationId: "continuation-2" }],
    ["subject type", { subject: subject("agent", "demo.read_file") }],
    ["subject name", { subject: subject("tool", "demo.read_files") }],
    ["resource type", { resource: { ...identity.resource, type: "filesystem" } as Resource }],
    ["operation", { resource: { ...identity.resource, operation: "send" } as Resource }],
    ["target", { resource: { ...identity.resource, target: "https://a.example/y" } }],
    ["organization", { organizationId: 22 }],
    ["organization as text", { organizationId: "21" }],
    ["no organization", { organizationId: null }],
    ["user", { userId: 22 }],
    ["user as text", { userId: "21" }],
    ["no user", { userId: null }],
    ["session", { sessionKey: "sess-22" }],
    ["no session", { sessionKey: null }],
    ["action", { action: "demo.import2" }],
    ["two fields that give one to the other", { requestId: "request-1c", continuationId: "ontinuation-1" }],
    ["user and organization changed over", { userId: "21", organizationId: 21 }],
  ])("does not open for another %s", (_, change) => {
    expect(open(seal(), ring, { ...identity, ...change }).outcome).toBe("damaged");
  });
});

describe("a rotation while requests are pending", () => {
  it("opens the old ones with their key and seals new ones with the new", () => {
    const before = seal();
    const rotated = rotateKeyRing(ring, NOW);
    const after = seal(rotated);
    expect(open(before, rotated).outcome).toBe("opened");
    expect(open(after, rotated).outcome).toBe("opened");
    expect(open(after, ring).outcome).toBe("unknown_key");
    expect(activeKey(rotated).id).not.toBe(activeKey(ring).id);
  });

  it("ends what a retired key sealed, and says so", () => {
    const before = seal();
    const after = retired(rotateKeyRing(ring, NOW), activeKey(ring).id);
    const opened = open(before, after);
    expect(opened).toMatchObject({ outcome: "retired_key", message: expect.stringContaining("retired") });
    expect(open(seal(after), after).outcome).toBe("opened");
  });

  it("is right for every context over a long random life of a ring", () => {
    const random = prng(3);
    let now = ring;
    const sealed: {
      readonly bytes: Uint8Array;
      readonly keyId: string;
      readonly who: ContinuationIdentity;
    }[] = [];
    for (let step = 0; step < 400; step++) {
      const roll = between(random, 0, 9);
      const idle = now.keys.filter(({ state }) => state === "kept");
      if (roll === 0) now = rotateKeyRing(now, NOW);
      else if (roll === 1 && idle[0] !== undefined) now = retired(now, idle[0].id);
      else {
        const who = { ...identity, requestId: `request-${step}` };
        sealed.push({ bytes: seal(now, who, { step }), keyId: activeKey(now).id, who });
      }
      for (const { bytes, keyId, who } of sealed.slice(-20)) {
        const isRetired = now.keys.some(({ id, state }) => id === keyId && state === "retired");
        expect(open(bytes, now, who).outcome).toBe(isRetired ? "retired_key" : "opened");
      }
    }
    expect(now.keys.length).toBeGreaterThan(20);
  });
});

describe("a nonce", () => {
  it("never comes twice among a million", () => {
    const drawn = new BigUint64Array(1_000_000);
    for (let index = 0; index < drawn.length; index++) drawn[index] = freshNonce().readBigUInt64BE(4);
    drawn.sort();
    let repeats = 0;
    for (let index = 1; index < drawn.length; index++) if (drawn[index] === drawn[index - 1]) repeats++;
    expect(repeats).toBe(0);
  });

  it("is fresh in every envelope", () => {
    const nonces = new Set<string>();
    for (let index = 0; index < 20_000; index++)
      nonces.add(Buffer.from(seal(ring, identity, null)).toString("latin1", 17, 29));
    expect(nonces.size).toBe(20_000);
  });
});

describe("what can be sealed", () => {
  it("is anything of JSON, up to 16 KiB to the byte", () => {
    const room = CONTEXT_BYTES_MAX - 2;
    for (const fits of [
      null,
      0,
      "",
      [],
      {},
      false,
      "a".repeat(room),
      "é".repeat(room / 2),
      { a: undefined, b: 1 },
    ]) {
      const expected = JSON.parse(JSON.stringify(fits)) as unknown;
      expect(open(seal(ring, identity, fits))).toEqual({ outcome: "opened", context: expected });
    }
    for (const large of [
      "a".repeat(room + 1),
      "é".repeat(room / 2 + 1),
      "\u0001".repeat(3000),
      Array(20_000).fill(0),
    ]) {
      expect(sealContext(ring, identity, large)).toEqual({
        ok: false,
        message:
          "the resume context is larger than 16384 bytes: keep the data elsewhere and give a reference to it",
      });
    }
  });

  const loop: unknown[] = [];
  loop.push(loop);
  const throwing = {
    get secret(): string {
      throw new Error("hunter2");
    },
  };
  it.each<readonly [string, unknown, RegExp]>([
    ["nothing", undefined, /not plain JSON at ``/],
    ["a function", { run: () => 0 }, /at `\/run`/],
    ["a date", { list: [new Date(0)] }, /at `\/list\/0`/],
    ["a map", new Map(), /not plain JSON/],
    ["a big integer", 1n, /not plain JSON/],
    ["not a number", [Number.NaN], /at `\/0`/],
    ["a hole", [undefined], /at `\/0`/],
    ["a loop", loop, /nested deeper|larger/],
    ["a prototype key", JSON.parse('{"__proto__":{"admin":true}}'), /`__proto__`/],
    ["an object that throws", throwing, /^the resume context cannot be read/],
    ["an object with its own toJSON", { toJSON: () => "x" }, /at `\/toJSON`/],
  ])("is not %s", (_, value, message) => {
    const sealed = sealContext(ring, identity, value);
    expect(sealed).toMatchObject({ ok: false, message: expect.stringMatching(message) });
  });
});
