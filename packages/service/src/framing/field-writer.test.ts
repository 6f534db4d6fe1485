/** Framed fields: different records never have the same bytes. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Field, FieldWriter, framed } from "./field-writer.ts";

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.constantFrom("", "a", "a\0", "\0\0\0\u0001a", "21", "\ud800", "\udc00", "\ufffd", "é", "e\u0301"),
);
const field: fc.Arbitrary<Field> = fc.letrec<{ field: Field }>((tie) => ({
  field: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.maxSafeInteger(),
    fc.constant(null),
    fc.uint8Array({ maxLength: 4 }),
    fc.array(tie("field"), { maxLength: 3 }),
  ),
})).field;

/** Told apart the slow and obvious way. */
function same(left: Field, right: Field): boolean {
  if (left instanceof Uint8Array || right instanceof Uint8Array) {
    const areBytes = left instanceof Uint8Array && right instanceof Uint8Array;
    return areBytes && left.length === right.length && left.every((byte, index) => byte === right[index]);
  }
  if (!Array.isArray(left) || !Array.isArray(right)) return left === right;
  return left.length === right.length && left.every((member, index) => same(member, right[index] as Field));
}

describe("framed fields", () => {
  it("have the same bytes only where every field is the same", () => {
    fc.assert(
      fc.property(fc.array(field, { maxLength: 4 }), fc.array(field, { maxLength: 4 }), (left, right) => {
        expect(framed("d", left).equals(framed("d", right))).toBe(same(left, right));
        expect(framed("d", left).equals(framed("d", [...left]))).toBe(true);
      }),
      { numRuns: 20_000, seed: 11 },
    );
  });

  it.each<readonly [string, readonly Field[], readonly Field[]]>([
    ["a number and its text", [21], ["21"]],
    ["nothing and the empty text", [null], [""]],
    ["one text and two", ["ab"], ["a", "b"]],
    ["a list and its members", [["a", "b"]], ["a", "b"]],
    ["nested lists of one reading", [[["a"], "b"]], [["a", ["b"]]]],
    ["two lone surrogates", ["\ud800"], ["\ud801"]],
    ["a lone surrogate and its replacement", ["\ud800"], ["\ufffd"]],
    ["a text and its UTF-16 bytes", ["\ud800\u0080"], ["\u0000\u0600\u0000"]],
    ["two texts and one that holds the head of the second", ["a", "b"], ["a\u0001\0\0\0\u0001b"]],
    ["two texts and one that holds an empty head", ["a", "b"], ["a\u0001\0\0\0\0b"]],
    ["a text and its bytes", ["a"], [new Uint8Array([0x61])]],
    ["numbers that share their low half", [1], [2 ** 32 + 1]],
    ["a number and its negative", [1], [-1]],
  ])("tell apart %s", (_, left, right) => {
    expect(framed("d", left).equals(framed("d", right))).toBe(false);
  });

  it("tell the domain from the first field", () => {
    expect(framed("ab", ["c"]).equals(framed("a", ["bc"]))).toBe(false);
    expect(framed("a", ["b"]).equals(framed("b", ["a"]))).toBe(false);
  });

  it("refuse numbers that are not safe integers", () => {
    for (const value of [0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      expect(() => framed("d", [value])).toThrow(/safe integer/);
    }
  });

  it("grow with a long text and forget it at the next record", () => {
    const writer = new FieldWriter();
    writer.begin("d");
    writer.field("é".repeat(20_000));
    expect(writer.bytes().length).toBe(6 + 5 + 40_000);
    writer.begin("d");
    writer.field(-7);
    expect(writer.bytes().equals(framed("d", [-7]))).toBe(true);
  });
});
