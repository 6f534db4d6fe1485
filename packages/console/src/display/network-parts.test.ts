import { describe, expect, it } from "vitest";
import { getDomain } from "tldts";
import { hostParts, isPunycode, networkParts } from "./network-parts.ts";

const registrable = (host: string): string | null => getDomain(host, { allowPrivateDomains: true });

describe("a network target", () => {
  it.each([
    ["https://api.example.com:8443/v1?x=1", "https://", "api.example.com", ":8443/v1?x=1"],
    ["db.internal:5432", "", "db.internal", ":5432"],
    ["[2001:db8::1]:443", "", "[2001:db8::1]", ":443"],
    ["wss://a.example/s", "wss://", "a.example", "/s"],
    ["https://a.example/https://b.example/", "https://", "a.example", "/https://b.example/"],
  ])("is cut at its host: %s", (target, scheme, host, rest) => {
    expect(networkParts(target)).toEqual({ scheme, host, rest });
  });

  it("is shown whole where it has no host", () => {
    expect(networkParts("unix:/run/x.sock")).toBeNull();
  });

  it.each([
    ["login.bank.example.evil.com", "login.bank.example.", "evil.com"],
    ["db.internal.example.co.uk", "db.internal.", "example.co.uk"],
    ["someone.github.io", "", "someone.github.io"],
    ["localhost", "", "localhost"],
    ["10.0.0.7", "", "10.0.0.7"],
  ])("has who registered it set off: %s", (host, under, owner) => {
    expect(hostParts(host, registrable)).toEqual({ under, registrable: owner });
  });

  it("is shown whole until the list of suffixes is there", () => {
    expect(hostParts("a.example.com", null)).toEqual({ under: "", registrable: "a.example.com" });
  });

  it("is known to be punycode in any of its labels", () => {
    expect([isPunycode("www.xn--pypal-4ve.com"), isPunycode("xn--a.b"), isPunycode("fxn--a.b")]).toEqual([
      true,
      true,
      false,
    ]);
  });
});
