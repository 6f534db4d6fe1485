import { describe, expect, it } from "vitest";
import { whatwgUrl } from "../whatwg-url.ts";
import { parseNetworkTarget, withHost } from "./network.ts";

const parse = (text: unknown): string => {
  const parsed = parseNetworkTarget(text, whatwgUrl);
  return parsed.ok ? parsed.value.text : parsed.code;
};

/** As written → as normalized. */
const NORMALIZED: readonly (readonly [string, string])[] = [
  ["https://API.Example.com/v1", "https://api.example.com/v1"],
  ["HTTPS://api.example.com:443/v1", "https://api.example.com/v1"],
  ["http://api.example.com:80", "http://api.example.com/"],
  ["http://api.example.com:443/", "http://api.example.com:443/"],
  ["ws://api.example.com:80/s", "ws://api.example.com/s"],
  ["wss://api.example.com:443/s", "wss://api.example.com/s"],
  ["https://api.example.com/a/./b/../c", "https://api.example.com/a/c"],
  ["https://api.example.com/a/%2e%2e/c", "https://api.example.com/c"],
  ["https://api.example.com/a?x=1#frag", "https://api.example.com/a?x=1"],
  ["https://api.example.com/a?x=1?#y?z", "https://api.example.com/a?x=1?"],
  ["https://api.example.com/a#x?y", "https://api.example.com/a"],
  ["https://api.example.com/a?", "https://api.example.com/a?"],
  ["https://api.example.com./", "https://api.example.com/"],
  ["https://bücher.example/", "https://xn--bcher-kva.example/"],
  ["https:\\\\api.example.com\\a", "https://api.example.com/a"],
  ["https:/api.example.com/a", "https://api.example.com/a"],
  [" https://api.example.com/a ", "https://api.example.com/a"],
  ["https://my_service.example.com/", "https://my_service.example.com/"],
  ["http://0x7f.1/", "http://127.0.0.1/"],
  ["http://2130706433/", "http://127.0.0.1/"],
  ["http://0177.0.0.1/", "http://127.0.0.1/"],
  ["http://127.0.0.1./", "http://127.0.0.1/"],
  ["http://[::ffff:127.0.0.1]/", "http://127.0.0.1/"],
  ["http://[::FFFF:7f00:1]/", "http://127.0.0.1/"],
  ["http://[64:ff9b::7f00:1]/", "http://127.0.0.1/"],
  ["http://[0:0:0:0:0:0:0:1]:8080/", "http://[::1]:8080/"],
  ["http://[2001:DB8::0001]/", "http://[2001:db8::1]/"],
  ["http://①②⑦.0.0.1/", "http://127.0.0.1/"],
  ["api.example.com", "api.example.com"],
  ["API.example.com.", "api.example.com"],
  ["api.example.com:443", "api.example.com:443"],
  ["api.example.com:080", "api.example.com:80"],
  ["[::1]:443", "[::1]:443"],
  ["[::1]", "[::1]"],
  ["::1", "[::1]"],
  ["::ffff:10.0.0.7", "10.0.0.7"],
  ["[64:ff9b::a00:7]:80", "10.0.0.7:80"],
  ["0x7f.1:80", "127.0.0.1:80"],
  ["127.1", "127.0.0.1"],
  ["bücher.example:80", "xn--bcher-kva.example:80"],
  ["localhost", "localhost"],
  ["unix:/run/docker.sock", "unix:/run/docker.sock"],
  ["unix:/run//./docker.sock/", "unix:/run/docker.sock"],
];

/** Why it is refused → what is refused. */
const INVALID: Readonly<Record<string, readonly unknown[]>> = {
  "user name or password": [
    "https://user@api.example.com/",
    "https://user:pw@api.example.com/",
    "https://api.example.com@evil.example/",
    "https://user@",
  ],
  "empty host": ["https://", "https:///", "http://?", "", " ", ":80", "[]:80", "http://./", "http://../"],
  "other scheme": [
    "blob:https://api.example.com/x",
    "file:///etc/passwd",
    "file:/etc/passwd",
    "ftp://api.example.com/",
    "javascript:alert(1)",
    "data:,x",
    "gopher://x",
    "https+unix://x",
    "http2://api.example.com",
  ],
  "control character": [
    "https://api.example.com/\n",
    "\thttps://api.example.com",
    "https://api.exa\rmple.com/",
    "https://api.example.com/\0",
    "a\u0000b.example",
    "https://api.example.com/\u007f",
    "https://api.example.com/\u0085",
    "ht\ntps://api.example.com",
  ],
  "host that is not LDH": [
    "https://a'b.example/",
    "https://a,b.example/",
    "https://a;b.example/",
    "https://a!b.example/",
    "https://a$b.example/",
    "https://a*b.example/",
    "https://*.example.com/",
    "https://a`b.example/",
    "https://a..b/",
    "https://.a.example/",
    "https://a.example../",
    "https://-a.example/",
    "https://a-.example/",
    "*.example.com",
    "a b.example",
    "a%62.example:80",
  ],
  "label or name too long": [
    `https://${"a".repeat(64)}.example/`,
    `https://${"a.".repeat(127)}aa/`,
    `${"a".repeat(64)}.example`,
  ],
  port: [
    "https://api.example.com:0/",
    "api.example.com:0",
    "api.example.com:65536",
    "https://api.example.com:65536/",
    "api.example.com:",
    "api.example.com:-1",
    "api.example.com:8o",
    "api.example.com: 80",
    "api.example.com:+80",
    "api.example.com:0x50",
    "api.example.com:123456",
  ],
  length: [
    `https://api.example.com/${"a".repeat(8192)}`,
    `https://api.example.com/${"é".repeat(4090)}`,
    "a".repeat(8193),
  ],
  "length once encoded": [`https://api.example.com/${"é".repeat(2000)}`],
  zone: ["[fe80::1%25eth0]:80", "[fe80::1%eth0]:80", "fe80::1%lo"],
  "not an address": [
    "1::2::3",
    "[::1",
    "::1]",
    "[1.2.3.4]:80",
    "[api.example.com]:80",
    "256.1.1.1",
    "1.2.3.4.5",
    "http://1.2.3.256/",
    "[::1]80",
    "[::1]:",
  ],
  "URL syntax in an endpoint": [
    "api.example.com/path",
    "api.example.com?x",
    "api.example.com#x",
    "user@api.example.com:80",
    "api.example.com\\x",
    "//api.example.com",
    "a:b:80",
  ],
  "unix socket": [
    "unix:",
    "unix:relative.sock",
    "unix:/",
    "unix:@abstract",
    "unix:/a/../b",
    "unix://run/x/../y",
  ],
  "not text": [
    undefined,
    null,
    42,
    {},
    [],
    ["https://api.example.com"],
    Symbol("x"),
    { toString: () => "https://api.example.com" },
  ],
};

describe("a network target", () => {
  it.each(NORMALIZED)("is normalized: %s → %s", (written, normalized) => {
    expect(parse(written)).toBe(normalized);
    const parsed = parseNetworkTarget(written, whatwgUrl);
    expect(parsed.ok && parsed.value.requested).toBe(written);
  });

  it.each(NORMALIZED)("is the same when it is normalized again: %s", (_written, normalized) => {
    expect(parse(normalized)).toBe(normalized);
  });

  it.each(Object.entries(INVALID))("is invalid because of its %s", (_why, texts) => {
    for (const text of texts) expect([text, parse(text)]).toEqual([text, "invalid_target"]);
  });

  it("keeps a query that is there, empty or not, apart from none", () => {
    const query = (text: string): unknown => {
      const parsed = parseNetworkTarget(text, whatwgUrl);
      return parsed.ok && parsed.value.form === "url" ? parsed.value.query : "no URL";
    };
    expect(query("https://a.example/")).toBeUndefined();
    expect(query("https://a.example/?")).toBe("");
    expect(query("https://a.example/?a=/../b")).toBe("a=/../b");
  });

  it("looks at the length before it parses", () => {
    let calls = 0;
    const counting = (text: string): string | undefined => (calls++, whatwgUrl(text));
    expect(parseNetworkTarget(`https://a.example/${"a".repeat(10_000)}`, counting).ok).toBe(false);
    expect(calls).toBe(0);
  });

  it("accepts exactly 8 KiB", () => {
    const start = "https://a.example/";
    expect(parse(start + "a".repeat(8192 - start.length))).not.toBe("invalid_target");
    expect(parse(start + "a".repeat(8193 - start.length))).toBe("invalid_target");
  });

  it("can be put on another host, with everything else kept", () => {
    const url = parseNetworkTarget("https://a.example:8443/x?y", whatwgUrl);
    const endpoint = parseNetworkTarget("a.example:25", whatwgUrl);
    const other = parseNetworkTarget("[::2]", whatwgUrl);
    if (!url.ok || !endpoint.ok || !other.ok || url.value.form !== "url") throw new Error("no target");
    if (endpoint.value.form !== "endpoint" || other.value.form !== "endpoint") throw new Error("no target");
    expect(withHost(url.value, other.value.host).text).toBe("https://[::2]:8443/x?y");
    expect(withHost(endpoint.value, other.value.host).text).toBe("[::2]:25");
  });
});
