import { expect, it } from "vitest";
import { principalOf, principalText } from "./principal-text.ts";

it.each([
  [7, "7"],
  ["7", '"7"'],
  ["acme", "acme"],
  [0, "0"],
  ['"7"', '""7""'],
])("the id %j is written as %s and comes back as it was", (id, text) => {
  expect(principalText(id)).toBe(text);
  expect(principalOf(text)).toBe(id);
});

it("nothing written is no id, and not an empty one", () => {
  expect(principalOf("  ")).toBeUndefined();
});

it("a number that cannot be kept exactly stays a text", () => {
  expect(principalOf("9007199254740993")).toBe("9007199254740993");
});
