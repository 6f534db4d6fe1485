/**
 * The one door by which foreign text reaches a terminal: every target, name, reason and message that is printed goes
 * through it. What could move the cursor, change the terminal, reorder or hide text is written out as an escape, so
 * that a line says what its characters are. Must never let a character through that is not itself on the screen.
 */

/**
 * Control (ANSI and OSC begin with one), format (bidi, zero width), lone surrogates, private and unassigned ones, breaks
 * of lines, spaces that are not the plain one, and what is drawn as nothing. The backslash, so that an escape cannot be
 * forged.
 */
const DECEIVING =
  /[\\\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/u;
/** Marks are drawn over what stands before them: two on a letter are writing, anything else covers up. */
const STACKED_MARK = /(?<=\p{L}\p{M}{2,})\p{M}|(?<![\p{L}\p{M}])\p{M}+/u;
const ESCAPED = new RegExp(`${DECEIVING.source}|${STACKED_MARK.source}`, "gu");

/** One line of text; `\u{…}` for what cannot be seen. */
export function printable(text: string): string {
  return text.replace(ESCAPED, (found) =>
    Array.from(found)
      .map((character) => (character === "\\" ? "\\\\" : `\\u{${codeOf(character)}}`))
      .join(""),
  );
}

/** JSON for programs that is also safe on a terminal: the same value, with the same characters written as escapes. */
export function printableJson(value: unknown): string {
  const text = JSON.stringify(value) ?? "null";
  return text.replace(ESCAPED, (found) =>
    Array.from(found)
      .map((character) => (character === "\\" ? "\\" : unitEscapes(character)))
      .join(""),
  );
}

/** Text that is too long for a screen keeps its beginning and its end, and says how much is left out. */
export function shortened(text: string, charactersMax: number): string {
  const characters = Array.from(text);
  if (characters.length <= charactersMax) return text;
  const tail = Math.floor(charactersMax / 3);
  const head = charactersMax - tail;
  const left = characters.length - charactersMax;
  return `${characters.slice(0, head).join("")} …${left} more… ${characters.slice(-tail).join("")}`;
}

function codeOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16);
}

/** Per UTF-16 unit, as JSON has it. */
function unitEscapes(character: string): string {
  let escapes = "";
  for (let index = 0; index < character.length; index++)
    escapes += `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`;
  return escapes;
}
