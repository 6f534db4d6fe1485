import { describe, expect, it } from "vitest";
import { whatwgUrl } from "../whatwg-url.ts";
import { type Host, foldLocalHost, hasControl, isIpLiteral, isLocalAddress, parseHost } from "./host.ts";

const host = (text: string): Host => {
  const parsed = parseHost(text, whatwgUrl);
  if (parsed === undefined) throw new Error(`no host: ${text}`);
  return parsed;
};

describe("a host", () => {
  it.each([
    "127.0.0.1",
    "127.255.255.254",
    "::1",
    "169.254.169.254",
    "fe80::1",
    "0.0.0.0",
    "::",
    "::ffff:127.0.0.1",
    "0x7f.1",
    "64:ff9b::a9fe:a9fe",
  ])("is local: %s", (text) => expect(isLocalAddress(host(text))).toBe(true));

  it.each([
    "10.0.0.7",
    "192.168.1.1",
    "8.8.8.8",
    "2001:db8::1",
    "fd00::1",
    "localhost",
    "a.example",
    "126.255.255.255",
    "128.0.0.1",
  ])("is not a local address: %s", (text) => expect(isLocalAddress(host(text))).toBe(false));

  it("knows its three local names as one, and no other", () => {
    for (const text of ["localhost", "127.0.0.1", "::1", "[::1]", "LOCALHOST.", "::ffff:127.0.0.1"]) {
      expect(foldLocalHost(host(text))).toBe("localhost");
    }
    for (const text of ["127.0.0.2", "0.0.0.0", "::", "localhost.example", "a.localhost"]) {
      expect(foldLocalHost(host(text))).toBe(host(text));
    }
  });

  it("tells addresses from names", () => {
    for (const text of ["1.2.3.4", "::1", "0x7f.1"]) expect(isIpLiteral(host(text))).toBe(true);
    for (const text of ["a.example", "localhost", "1.2.3.4.example"])
      expect(isIpLiteral(host(text))).toBe(false);
  });

  it.each([
    "64:ff9b:1::7f00:1",
    "64:ff9b::1:0:7f00:1",
    "64:ff9b:0:0:0:1:7f00:1",
    "65:ff9b::7f00:1",
    "64:ff9c::7f00:1",
    "64::7f00:1",
    "0:ff9b::7f00:1",
  ])("is IPv6 and not the IPv4 address that it looks like: %s", (text) => expect(host(text)).toMatch(/^\[/));

  it("has labels of up to 63 and a name of up to 253 characters", () => {
    const label = "a".repeat(63);
    const longest = `${label}.${label}.${label}.${"a".repeat(61)}`;
    expect(host(longest)).toBe(longest);
    expect(host(`${longest}.`)).toBe(longest);
    expect(parseHost(`${longest}a`, whatwgUrl)).toBeUndefined();
    expect(parseHost(`${label}a.example`, whatwgUrl)).toBeUndefined();
    expect(parseHost("a.".repeat(600), whatwgUrl)).toBeUndefined();
  });

  it("knows where control characters begin and end", () => {
    expect(["\u001f", "\u007f", "\u0080", "\u009f"].map(hasControl)).toEqual([true, true, true, true]);
    expect(["", " ", "~", "\u00a0", "é"].map(hasControl)).toEqual([false, false, false, false, false]);
  });

  it("never asks the URL parser about text that would end the host", () => {
    for (const text of [
      "a/b",
      "a?b",
      "a#b",
      "a@b",
      "a\\b",
      "a%2fb",
      "a:b",
      "a b",
      "[a]",
      "a[",
      "",
      "a\u0000",
    ]) {
      const never = (): string => expect.unreachable(text);
      expect(parseHost(text, never)).toBeUndefined();
    }
  });
});
