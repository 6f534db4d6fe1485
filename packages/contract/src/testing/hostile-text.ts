/**
 * Random and mutated byte strings for parsers: pure noise, and valid texts with a few bytes changed, doubled or cut.
 */

/** A number from 0 (included) to 1 (excluded). */
export type Random = () => number;

export const VALID_TEXTS: readonly string[] = [
  "https://api.example.com/v1/reports?x=1#y",
  "http://user:pw@[::ffff:127.0.0.1]:8080/a/../b/%2e%2e/c",
  "wss://xn--bcher-kva.example:443/%252e%252e/",
  "HTTPS:\\\\bücher.example\\a",
  "api.example.com:443",
  "[2001:db8::1]:65535",
  "::ffff:0x7f.1",
  "0177.0.0.1:1",
  "unix:/run/x.sock",
  "/data/app/./x//y",
  "/a/../b/😀/\ud800",
  "models/tiny.bin",
  "ffmpeg",
  "x86_64-linux-gnu-g++",
];

const BYTES =
  "\0\t\n\r \u007f\u0085%#?&@:/\\[].-_*'`|^<>{}~0123456789abcfxXZ\u00e9\u00df\u3002\uff0f\u202e\u200d\ud83d\ude00\ufffd";

export function hostileText(random: Random): string {
  const kind = random();
  if (kind < 0.2) return noise(random, Math.floor(random() * 40));
  let text = pick(random, VALID_TEXTS);
  const changes = 1 + Math.floor(random() * 4);
  for (let change = 0; change < changes; change++) text = mutated(random, text);
  return kind < 0.98 ? text : text.repeat(1 + Math.floor(random() * 400));
}

function mutated(random: Random, text: string): string {
  const at = Math.floor(random() * (text.length + 1));
  const end = Math.min(text.length, at + Math.floor(random() * 6));
  switch (Math.floor(random() * 6)) {
    case 0:
      return text.slice(0, at) + noise(random, 1) + text.slice(at);
    case 1:
      return text.slice(0, at) + noise(random, 1) + text.slice(at + 1);
    case 2:
      return text.slice(0, at) + text.slice(end);
    case 3:
      return text.slice(0, end) + text.slice(at);
    case 4:
      return text.slice(0, at) + pick(random, VALID_TEXTS) + text.slice(at);
    default:
      return text.slice(0, at) + String.fromCharCode(Math.floor(random() * 65_536)) + text.slice(at);
  }
}

function noise(random: Random, length: number): string {
  let text = "";
  for (let index = 0; index < length; index++) text += BYTES.charAt(Math.floor(random() * BYTES.length));
  return text;
}

function pick<T>(random: Random, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)] as T;
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
