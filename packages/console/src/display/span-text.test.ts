import { expect, it } from "vitest";
import { spanText } from "./span-text.ts";

it.each([
  [0, "0 s"],
  [-5, "0 s"],
  [59, "59 s"],
  [61, "1 min"],
  [3540, "59 min"],
  [3600, "1 h"],
  [3720, "1 h 2 min"],
  [90_000, "1 d 1 h"],
])("says %d seconds as %s", (seconds, text) => {
  expect(spanText(seconds)).toBe(text);
});

it.each([
  [7 * 86_400 - 1, "7 d"],
  [7 * 86_400 - 1799, "7 d"],
  [7 * 86_400 - 1801, "6 d 23 h"],
  [86_400 - 20, "1 d"],
  [7200 - 1, "2 h"],
  [3599, "1 h"],
  [119, "2 min"],
])("rounds %d seconds to %s: a moment less is not a unit less", (seconds, text) => {
  expect(spanText(seconds)).toBe(text);
});
