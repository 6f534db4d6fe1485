/**
 * A message of Sallyport writes input in backticks. This finds what it quotes, so that a page can show it as code.
 * Must never let what is quoted pass for words of the message: what does not pair stays as it was written.
 */
export interface QuotedPart {
  readonly kind: "said" | "quoted";
  readonly text: string;
}

/** `one`: the message quotes one input, whatever that holds. `pairs`: any number, of which none holds a backtick. */
export type Quotes = "one" | "pairs";

export function quotedParts(text: string, quotes: Quotes): readonly QuotedPart[] {
  const pieces = quotes === "one" ? cutOnce(text) : text.split("`");
  // An odd number of pieces is an even number of quotes.
  if (pieces.length % 2 === 0) return [{ kind: "said", text }];
  return pieces
    .map((piece, index): QuotedPart => ({ kind: index % 2 === 0 ? "said" : "quoted", text: piece }))
    .filter((part) => part.text !== "");
}

function cutOnce(text: string): readonly string[] {
  const [from, to] = [text.indexOf("`"), text.lastIndexOf("`")];
  if (from < 0) return [text];
  return from === to ? [text, ""] : [text.slice(0, from), text.slice(from + 1, to), text.slice(to + 1)];
}
