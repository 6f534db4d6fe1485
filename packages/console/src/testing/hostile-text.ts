/** For tests: texts that hold whatever can deceive, from a small seeded source. */

export type Random = () => number;

const PIECES = [
  "/srv/data/",
  "name.txt",
  "https://example.com/",
  " ",
  "  ",
  "\0",
  "\n",
  "\u001b[31m",
  "\u202e",
  "\u2066",
  "\u200b",
  "\ufeff",
  "\u00ad",
  "\u0430",
  "\u00fc",
  "\u0301",
  "\u05d0\u05d1",
  "\ud83d\ude00",
  "\ud800",
  "\u{e0041}",
  "<img src=x onerror=alert(1)>",
  "${x}",
] as const;

export function hostileText(random: Random): string {
  const length = Math.floor(random() * 12);
  return Array.from({ length }, () => PIECES[Math.floor(random() * PIECES.length)]).join("");
}

/** Xorshift: small, quick and the same everywhere. */
export function seededRandom(seed: number): Random {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 4_294_967_296;
  };
}
