/** One text for one value, the same as the library's, for anything that is JSON. */
import canonicalize from "canonicalize";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampleEvent } from "../testing/sample-event.ts";
import { canonical } from "./canonical-json.ts";

/** Keys and texts from everywhere, escapes and pairs of surrogates included. */
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: fc.constantFrom("\u0000", "\u001f", '"', "\\", "\u007f", "\u2028", "é", "😀", "a") }),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(null, true, false, undefined),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    text,
    fc.array(tie("value"), { maxLength: 5 }),
    fc.dictionary(text, tie("value"), { maxKeys: 40 }),
  ),
}));

describe("canonical JSON", () => {
  it("is byte for byte what the library writes", () => {
    fc.assert(
      fc.property(fc.oneof(fc.array(value), fc.dictionary(text, value)), (held) => {
        expect(canonical(held)).toBe(canonicalize(held));
      }),
      { numRuns: 2000 },
    );
    expect(canonical(sampleEvent(1))).toBe(canonicalize(sampleEvent(1)));
  });

  it("sorts keys by UTF-16 code units, however many there are and wherever they stood", () => {
    const names = Array.from({ length: 80 }, (_, at) =>
      String.fromCodePoint((at % 2 === 0 ? 0xffdf : 0xd7ff) - at * 90, 0x1f600 + at),
    );
    fc.assert(
      fc.property(fc.shuffledSubarray(names), (keys) => {
        const held = Object.fromEntries(keys.map((key) => [key, key.length]));
        expect(canonical(held)).toBe(canonicalize(held));
        expect(Object.keys(JSON.parse(canonical(held)) as object)).toHaveLength(keys.length);
      }),
    );
  });

  it("is the same text again after it was read", () => {
    fc.assert(
      fc.property(fc.dictionary(text, value), (held) => {
        const once = canonical(held);
        expect(canonical(JSON.parse(once))).toBe(once);
      }),
    );
  });

  it("shows half a surrogate pair, in values and in keys, and keeps the order of what is shown", () => {
    const odd = { "b\ud800": "x\udfff", a: ["\ud83d"], "b\\": 1 };
    expect(canonical(odd)).toBe(canonicalize({ "b\\ud800": "x\\udfff", a: ["\\ud83d"], "b\\": 1 }));
  });

  it.each([
    ["NaN", { held: Number.NaN }],
    ["Infinity", [Number.POSITIVE_INFINITY]],
    ["a function", { held: () => undefined }],
    ["a bigint", [1n]],
    ["a date", { held: new Date(0) }],
    ["nothing", undefined],
    ["a bare text", "x"],
  ])("refuses %s instead of writing something else", (_, held) => {
    expect(() => canonical(held)).toThrow(TypeError);
  });

  it("refuses a value that holds itself", () => {
    const held: { self?: unknown } = {};
    held.self = held;
    expect(() => canonical(held)).toThrow(/nested too deep/);
  });
});
