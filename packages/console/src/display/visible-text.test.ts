import { describe, expect, it } from "vitest";
import { hostileText as random, seededRandom } from "../testing/hostile-text.ts";
import { folded, isMixedAlphabet, visibleParts } from "./visible-text.ts";

const shown = (text: string): string =>
  visibleParts(text)
    .map((part) =>
      part.kind === "hidden" ? `[${part.code}]` : part.kind === "foreign" ? `{${part.text}}` : part.text,
    )
    .join("");

describe("text from outside", () => {
  it.each([
    ["a right-to-left override", "evil\u202egpj.exe", "evil[U+202E]gpj.exe"],
    ["an isolate", "a\u2066b\u2069", "a[U+2066]b[U+2069]"],
    ["a zero-width space", "/srv/da\u200bta", "/srv/da[U+200B]ta"],
    ["a byte order mark", "\ufeffx", "[U+FEFF]x"],
    ["a soft hyphen", "pay\u00adpal", "pay[U+00AD]pal"],
    ["a line break", "ok\nApproved", "ok[U+000A]Approved"],
    ["an escape sequence", "\u001b[2J", "[U+001B][2J"],
    ["a null", "a\0b", "a[U+0000]b"],
    ["a no-break space", "a\u00a0b", "a[U+00A0]b"],
    ["a Hangul filler", "a\u3164b", "a[U+3164]b"],
    ["a tag character", "a\u{e0041}b", "a[U+E0041]b"],
    ["a variation selector", "a\ufe0fb", "a[U+FE0F]b"],
    ["a private character", "\ue000", "[U+E000]"],
    ["a lone surrogate", "a\ud800b", "a[U+D800]b"],
    ["a space at the end", "/bin/ls ", "/bin/ls[U+0020]"],
    ["a space in front", " /bin", "[U+0020]/bin"],
    ["spaces in a row", "a   b", "a[U+0020][U+0020][U+0020]b"],
    ["a letter of another alphabet", "p\u0430ypal", "p{\u0430}ypal"],
    ["a pile of accents", "e\u0301\u0301\u0301", "e{\u0301}[U+0301][U+0301]"],
    ["plain text", "/srv/a b/c.txt", "/srv/a b/c.txt"],
  ])("names %s", (_, text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  it("drops nothing and adds nothing: the parts are the text", () => {
    const next = seededRandom(7);
    for (let round = 0; round < 5000; round++) {
      const text = random(next);
      expect(
        visibleParts(text)
          .map((part) => part.text)
          .join(""),
      ).toBe(text);
    }
  });

  it("leaves no invisible or direction-changing character in what is printed as it is", () => {
    const next = seededRandom(11);
    for (let round = 0; round < 5000; round++) {
      for (const part of visibleParts(random(next))) {
        if (part.kind === "hidden") continue;
        expect(part.text).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u);
      }
    }
  });

  it("says when a word mixes alphabets, and not when a text merely uses two", () => {
    expect(isMixedAlphabet("/srv/p\u0430yroll")).toBe(true);
    expect(isMixedAlphabet("/srv/\u043f\u0440\u0438\u0432\u0435\u0442/list")).toBe(false);
    expect(isMixedAlphabet("/srv/b\u00fccher")).toBe(false);
  });

  it("folds the middle of what is long, keeps both ends, and counts what is left out", () => {
    const text = `/srv/${"deep/".repeat(100)}name.txt`;
    const fold = folded(text, "card");
    expect(fold?.head).toBe(text.slice(0, 84));
    expect(fold?.tail).toBe(text.slice(-40));
    expect(fold?.left).toBe(text.length - 124);
    expect(folded("/srv/short", "card")).toBeNull();
  });
});
