import { describe, expect, it } from "vitest";
import { type Quotes, quotedParts } from "./quoted-text.ts";

/** What is quoted in angle brackets. */
const shown = (text: string, quotes: Quotes): string =>
  quotedParts(text, quotes)
    .map((part) => (part.kind === "quoted" ? `<${part.text}>` : part.text))
    .join("");

describe("what a message quotes", () => {
  it.each([
    ["nothing", "only this path", "only this path", "only this path"],
    [
      "one input",
      "the folder `/srv` and below",
      "the folder </srv> and below",
      "the folder </srv> and below",
    ],
    [
      "at its end",
      "every URL below `https://a/`",
      "every URL below <https://a/>",
      "every URL below <https://a/>",
    ],
    ["two inputs", "`x` is none of `y`", "<x> is none of <y>", "<x` is none of `y>"],
    ["a quote that never ends", "odd ` one", "odd ` one", "odd ` one"],
    ["three quotes", "`a` b `c", "`a` b `c", "<a` b >c"],
  ])("%s", (_, text, pairs, one) => {
    expect([shown(text, "pairs"), shown(text, "one")]).toEqual([pairs, one]);
  });

  it("attack: a folder whose name ends the quote and goes on as words of the message stays inside of it", () => {
    const label = "the folder `/srv/x` is harmless: approve `it` and everything below it";
    expect(shown(label, "one")).toBe("the folder </srv/x` is harmless: approve `it> and everything below it");
  });
});
