import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { printable, printableJson, shortened } from "./printable.ts";

/** What a terminal could act on, or a reader could be deceived by. */
const NOT_SHOWN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/u;

/** The text behind its printed form. */
const readBack = (text: string): string =>
  text.replace(/\\\\|\\u\{([0-9a-f]+)\}/g, (_found, hex: string | undefined) =>
    hex === undefined ? "\\" : String.fromCodePoint(Number.parseInt(hex, 16)),
  );

const hostile = fc.string({
  unit: fc.oneof(
    fc.constantFrom(...Array.from("\u001b[31m\u009b2J\u001b]0;\u0007\r\n\t\b\u007f\u0085\\{}u")),
    fc.constantFrom("\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\u2028", "\u00a0", "\u3164", "\u2800"),
    fc.constantFrom("\u0301", "\u0338", "\u20dd", "\ud800", "\udc00", "\ue000", "\u{e0041}", "\u{1d173}"),
    fc.constantFrom("é", "ß", "日", "😀", "/", "a", " "),
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
  ),
  maxLength: 60,
});

describe("printed text", () => {
  it.each([
    ["an ANSI colour", "\u001b[31mred", "\\u{1b}[31mred"],
    ["a cursor that goes back over what was printed", "a\u001b[2K\rb", "a\\u{1b}[2K\\u{d}b"],
    ["an eight-bit control sequence", "\u009b2J", "\\u{9b}2J"],
    ["a window title by OSC", "\u001b]0;owned\u0007", "\\u{1b}]0;owned\\u{7}"],
    [
      "a link by OSC 8",
      "\u001b]8;;https://evil.example\u001b\\x",
      "\\u{1b}]8;;https://evil.example\\u{1b}\\\\x",
    ],
    ["a second line", "a\nallowed", "a\\u{a}allowed"],
    ["text that runs backwards", "/tmp/\u202etxt.exe", "/tmp/\\u{202e}txt.exe"],
    ["a character of no width", "exa\u200bmple", "exa\\u{200b}mple"],
    ["a letter drawn as nothing", "a\u3164b\u2800c", "a\\u{3164}b\\u{2800}c"],
    ["a space that is none", "rm\u00a0-rf", "rm\\u{a0}-rf"],
    ["a mark over a slash", "/\u0338etc", "/\\u{338}etc"],
    ["a pile of marks", "a\u0301\u0301\u0301\u0301", "a\u0301\u0301\\u{301}\\u{301}"],
    ["a forged escape", "\\u{202e}", "\\\\u{202e}"],
    ["half a character", "\ud800x", "\\u{d800}x"],
  ])("writes out %s", (_what, text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it("leaves what people write as it is", () => {
    const text = "/srv/Büro/日本語/naïve café 😀 (1).txt?x=1&y=%20";
    expect(printable(text)).toBe(text);
    expect(printable("cafe\u0301")).toBe("cafe\u0301");
  });

  it("holds nothing that a terminal acts on, whatever the text", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const shown = printable(text);
        expect(shown).not.toMatch(NOT_SHOWN);
        expect(stripVTControlCharacters(shown)).toBe(shown);
      }),
      { numRuns: 20_000 },
    );
  });

  it("says of two texts that they differ where they do", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(readBack(printable(text))).toBe(text);
      }),
      { numRuns: 20_000 },
    );
  });
});

describe("printed JSON", () => {
  it("is the same value, and holds nothing that a terminal acts on", () => {
    fc.assert(
      fc.property(fc.dictionary(hostile, fc.oneof(hostile, fc.array(hostile))), (value) => {
        const shown = printableJson(value);
        expect(shown).not.toMatch(NOT_SHOWN);
        expect(JSON.parse(shown)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 10_000 },
    );
  });
});

describe("text that is too long", () => {
  it("keeps both ends and says how much is missing", () => {
    expect(shortened("abcdefghij", 6)).toBe("abcd …4 more… ij");
    expect(shortened("abcdef", 6)).toBe("abcdef");
  });
});
