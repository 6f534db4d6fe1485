import { expect, it } from "vitest";
import { spanText } from "./span-text.ts";

it.each([
  [0, "0 s"],
  [-5, "0 s"],
  [59, "59 s"],
  [61, "1 min"],
  [3600, "1 h"],
  [3720, "1 h 2 min"],
  [90_000, "1 d 1 h"],
])("says %d seconds as %s", (seconds, text) => {
  expect(spanText(seconds)).toBe(text);
});
