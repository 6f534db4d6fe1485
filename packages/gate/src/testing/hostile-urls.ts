/**
 * URLs that try to be read in two ways: a list by hand, and any number made from parts by a seed.
 */
const SCHEMES = [
  "http://",
  "https://",
  "HTTP://",
  "ws://",
  "wss://",
  "http:",
  "https:/",
  "http:///",
  "http:\\\\",
  "hTTps:\\/",
  " https://",
  "http://\t",
  "ftp://",
  "file://",
  "javascript:",
  "//",
  "",
];
const USERS = [
  "",
  "",
  "",
  "",
  "",
  "",
  "",
  "",
  "user@",
  "user:pw@",
  "@",
  ":@",
  "a%40b@",
  "good.example@",
  "good.example:80@",
  "%00@",
];
const HOSTS = [
  ..."example.com EXAMPLE.com example.com. example.com.. sub.example.com a_b.example.com -a.example a-.example xn--bcher-kva.example".split(
    " ",
  ),
  ..."127.0.0.1 127.1 0x7f.1 0x7f000001 2130706433 017700000001 0177.0.0.1 127.0.0.1. 256.1.1.1 1.2.3 1.2.3.4.5 0 0x 09.1.1.1".split(
    " ",
  ),
  ..."[::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [64:ff9b::7f00:1] [64:ff9b:1::1] [2001:db8::1] [2001:DB8:0:0:0:0:0:1] [::127.0.0.1]".split(
    " ",
  ),
  ..."[fe80::1%25eth0] [fe80::1%eth0] [::1 ::1] [] [::1].example [v1.x] localhost LOCALHOST localhost. loc%61lhost %6c%6f%63alhost".split(
    " ",
  ),
  ..."b\u00fccher.example \u24d4xample.com ex\u00adample.com \uff45xample.com example\u3002com \u212aelvin.example fa\u00df.example \u0455xample.com".split(
    " ",
  ),
  ..."\u200bexample.com exa\u200dmple.com 1\u20e3.example \u0661\u0662\u0667.0.0.1 \uff11\uff12\uff17.1 \u2488\u2488.example \u{1f511}.example xn--a.example xn--zn7c.com".split(
    " ",
  ),
  ..."a!b.example a$b.example a&b.example a'b.example a(b).example a*.example a+b.example a,b.example a;b.example a=b.example a~b.example".split(
    " ",
  ),
  ..."a%2eb.example a%2fb.example a%5cb.example a%3ab.example a%23b.example a%3fb.example a%40b.example a%20b.example a%00b.example a%25b.example".split(
    " ",
  ),
  "",
  "a b.example",
  "a\tb.example",
  "a\nb.example",
  "a\u0000b.example",
  "a\u007fb.example",
  "a\u0085b.example",
  `${"a".repeat(63)}.example`,
  `${"a".repeat(64)}.example`,
  `${"abcdefg.".repeat(31)}abcde`,
  `${"abcdefg.".repeat(31)}abcdef`,
  "\ud800.example",
];
const PORTS = [
  "",
  "",
  "",
  "",
  "",
  "",
  ":",
  ":80",
  ":443",
  ":0",
  ":00080",
  ":65535",
  ":65536",
  ":99999999999",
  ":8080",
  ":-1",
  ":80a",
  ":0x50",
  ":\t8",
  ": 80",
  ":%38",
  ":\uff18",
];
const TAILS = [
  "",
  "/",
  "/a/../b",
  "/%2e%2e/x",
  "/..;/x",
  "\\x\\..\\y",
  "?q",
  "#f",
  "/?q=http://other.example/",
  "/#@other.example/",
  "@other.example/",
  "/@other.example",
  "?@other.example",
  "#\n",
  ";@other.example",
  "\\@other.example",
  "/\u00e9?\u00e9#\u00e9",
  " ",
  "/%",
  "/a b",
];

/** Each reads as one host here and as another there, or has been taken for another by some parser. */
export const HAND_MADE: readonly string[] = [
  ...HOSTS.map((host) => `http://${host}/`),
  ...PORTS.map((port) => `https://example.com${port}/`),
  ...TAILS.map((tail) => `https://example.com${tail}`),
  ..."http://good.example@evil.example/ http://good.example:80@evil.example/ http://good.example%40evil.example/ http://evil.example#@good.example/".split(
    " ",
  ),
  ..."http://evil.example\\@good.example/ http://evil.example\\.good.example/ http://good.example:80:443/ http://good.example:80@:443/ http://[::1]:80:90/".split(
    " ",
  ),
  ..."http://evil.example;good.example/ http://good.example&@evil.example#@x/ http:good.example http:/good.example http:\\good.example https:///good.example".split(
    " ",
  ),
  ..."http://0/ http://0.0.0.0/ http://0x0/ http://00000000000/ http://1/ http://4294967295/ http://4294967296/ http://0xffffffff/ http://0x100000000/".split(
    " ",
  ),
  ..."http://169.254.169.254/ http://0xa9fea9fe/ http://2852039166/ http://[::ffff:a9fe:a9fe]/ http://[::ffff:169.254.169.254]/ http://169.254.43518/".split(
    " ",
  ),
  ..."http://xn--/ http://xn--0/ http://a..b/ http://.a/ http://./ http://../ http://%/ http://%zz/ http://a%/ http://[::1%250]/ http://[::1/ http://::1/ http://]/".split(
    " ",
  ),
  `http://example.com/${"a".repeat(8192)}`,
  `http://example.com/${"\u00e9".repeat(2000)}`,
  `http://${"a.".repeat(2000)}example/`,
];

/** A generator of 32-bit numbers; the same seed gives the same row. */
function numbers(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}

/** @returns `count` URLs, most of them with a web scheme; some with one character of theirs changed */
export function hostileUrls(count: number, seed: number): string[] {
  const next = numbers(seed);
  const pick = (list: readonly string[]): string => list[next() % list.length] as string;
  const scheme = () => (next() % 3 === 0 ? pick(SCHEMES) : pick(["http://", "https://", "ws://", "wss://"]));
  return Array.from({ length: count }, () => {
    const label = next() % 4 === 0 ? `${pick(HOSTS)}.` : "";
    const text = `${scheme()}${pick(USERS)}${label}${pick(HOSTS)}${pick(PORTS)}${pick(TAILS)}`;
    if (next() % 5 !== 0) return text;
    const at = next() % (text.length + 1);
    const strange = pick([
      "",
      "%",
      "@",
      ":",
      "/",
      "\\",
      "?",
      "#",
      "[",
      "]",
      ".",
      "\u3002",
      "\uff0e",
      "\u00ad",
      "\t",
      "\r\n",
      "\u0000",
      "\u202e",
      "%00",
      "%2e",
    ]);
    return text.slice(0, at) + strange + text.slice(at + (next() % 2));
  });
}
