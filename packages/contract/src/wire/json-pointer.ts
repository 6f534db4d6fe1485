/**
 * JSON pointers (RFC 6901) and the quoting of input inside messages.
 * Trusts nothing: quoted input is shortened, and cannot end its quotes or reorder the text around it.
 */
export type PointerPath = readonly (string | number)[];

export function pointerTo(path: PointerPath): string {
  return path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

const QUOTED_LENGTH_MAX = 120;

/** Input in backticks. What cannot be seen, or could end the quotes, is written as an escape. */
export function quoted(input: string): string {
  const shown = input.length > QUOTED_LENGTH_MAX ? `${input.slice(0, QUOTED_LENGTH_MAX)}…` : input;
  return `\`${shown.replace(/[`\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, escaped)}\``;
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
