/**
 * Text from outside, cut into parts of which none can deceive: what is invisible, turns the direction or fakes a space is
 * named by its number; letters that imitate ASCII are marked. Pure. Trusts nothing; drops nothing: the parts are the text.
 */

export type TextPart =
  | { readonly kind: "plain"; readonly text: string }
  /** Letters beyond ASCII: legal, but worth a look. */
  | { readonly kind: "foreign"; readonly text: string }
  | { readonly kind: "hidden"; readonly text: string; readonly code: string; readonly name: string };

/** Names for those that are used to deceive; the rest is named by its kind. */
const NAMES: ReadonlyMap<number, string> = new Map([
  [0x00, "null"],
  [0x07, "bell"],
  [0x08, "backspace"],
  [0x09, "tab"],
  [0x0a, "line break"],
  [0x0d, "carriage return"],
  [0x1b, "escape"],
  [0x7f, "delete"],
  [0xa0, "no-break space"],
  [0xad, "soft hyphen"],
  [0x34f, "grapheme joiner"],
  [0x61c, "Arabic letter mark"],
  [0x200b, "zero-width space"],
  [0x200c, "zero-width non-joiner"],
  [0x200d, "zero-width joiner"],
  [0x200e, "left-to-right mark"],
  [0x200f, "right-to-left mark"],
  [0x2028, "line separator"],
  [0x2029, "paragraph separator"],
  [0x202a, "left-to-right embedding"],
  [0x202b, "right-to-left embedding"],
  [0x202c, "pop direction"],
  [0x202d, "left-to-right override"],
  [0x202e, "right-to-left override"],
  [0x2060, "word joiner"],
  [0x2066, "left-to-right isolate"],
  [0x2067, "right-to-left isolate"],
  [0x2068, "first strong isolate"],
  [0x2069, "pop isolate"],
  [0x3164, "Hangul filler"],
  [0xfeff, "byte order mark"],
]);

const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
const ODD_SPACE = /[\p{Zs}]/u;
const MARK = /\p{M}/u;
const ASCII_END = 0x7f;

export function visibleParts(text: string): readonly TextPart[] {
  const parts: TextPart[] = [];
  let marks = 0;
  // WHY by code point: a lone surrogate is one of its own, and is shown.
  for (const character of text) {
    marks = MARK.test(character) ? marks + 1 : 0;
    const part = partOf(character, marks);
    const last = parts.at(-1);
    if (last !== undefined && last.kind === part.kind && part.kind !== "hidden")
      parts[parts.length - 1] = { kind: part.kind, text: last.text + part.text };
    else parts.push(part);
  }
  return edgeSpacesShown(parts);
}

function partOf(character: string, marks: number): TextPart {
  const point = character.codePointAt(0) ?? 0;
  const isOddSpace = point !== 0x20 && ODD_SPACE.test(character);
  // WHY: one accent is a letter of a language, a pile of them covers the lines around it.
  if (isOddSpace || marks > 1 || HIDDEN.test(character)) return hidden(character, point);
  return { kind: point > ASCII_END ? "foreign" : "plain", text: character };
}

function hidden(character: string, point: number): TextPart {
  const code = `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
  return {
    kind: "hidden",
    text: character,
    code,
    name: NAMES.get(point) ?? "invisible or control character",
  };
}

/** A space at either end, or one of several in a row, cannot be seen; it is named as well. */
function edgeSpacesShown(parts: readonly TextPart[]): readonly TextPart[] {
  return parts.flatMap((part, index) => {
    if (part.kind !== "plain") return [part];
    const isFirst = index === 0;
    const isLast = index === parts.length - 1;
    const pattern = new RegExp(`${isFirst ? "^ +|" : ""} {2,}${isLast ? "| +$" : ""}`, "g");
    const shown: TextPart[] = [];
    let from = 0;
    for (const found of part.text.matchAll(pattern)) {
      if (found.index > from) shown.push({ kind: "plain", text: part.text.slice(from, found.index) });
      for (const space of found[0])
        shown.push({ kind: "hidden", text: space, code: "U+0020", name: "space" });
      from = found.index + found[0].length;
    }
    if (from < part.text.length) shown.push({ kind: "plain", text: part.text.slice(from) });
    return shown;
  });
}

/** Whether a word mixes Latin letters with ones that look like them. */
export function isMixedAlphabet(text: string): boolean {
  return text
    .split(/[^\p{L}\p{M}]+/u)
    .some(
      (word) =>
        /\p{Script=Latin}/u.test(word) &&
        /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u.test(word),
    );
}

/** How much of a long text is shown: enough of both ends to tell it from others. */
export const FOLDS = {
  /** On a card, with a way to see the rest. */
  card: { length: 140, head: 84, tail: 40 },
  /** In one line of a list. */
  line: { length: 40, head: 16, tail: 14 },
  /** The same on a phone. */
  narrow: { length: 22, head: 8, tail: 6 },
} as const;
export type FoldSize = keyof typeof FOLDS;

export interface Folded {
  readonly head: string;
  readonly tail: string;
  /** Characters between them. */
  readonly left: number;
}

/** `null`: short enough to be shown whole. */
export function folded(text: string, size: FoldSize): Folded | null {
  const { length, head, tail } = FOLDS[size];
  const characters = Array.from(text);
  if (characters.length <= length) return null;
  return {
    head: characters.slice(0, head).join(""),
    tail: characters.slice(-tail).join(""),
    left: characters.length - head - tail,
  };
}
