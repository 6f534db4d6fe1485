/** What a refused network target is told, and the limits it is measured by. */
import { describe, expect, it } from "vitest";
import { whatwgUrl } from "../whatwg-url.ts";
import { longerThan, originText, parseNetworkTarget, urlText } from "./network.ts";

const FAULTS: readonly (readonly [unknown, string])[] = [
  [7, "must be text: a URL, `host`, `host:port` or `unix:/path`"],
  ["a".repeat(8193), "must be at most 8192 bytes long"],
  ["https://a.example/\n", "must not contain control characters"],
  ["ftp://a.example/", "must use http, https, ws or wss, or be `host:port` without a scheme"],
  ["https://", "is not a URL"],
  ["https://u@a.example/", "must not contain a user name or password"],
  [
    "https://a*b.example/",
    "must have a host of letters, digits, hyphens, underscores and dots, or an IP address",
  ],
  ["https://a.example:0/", "must have a port from 1 to 65535"],
  ["a.example:0", "must have a port from 1 to 65535"],
  [`https://a.example/${"é".repeat(2000)}`, "must be at most 8192 bytes long once percent-encoded"],
  ["a/b", "must be a URL, `host`, `host:port` (IPv6 in brackets) or `unix:/absolute/path`"],
  ["unix:x", "must name a unix socket by its absolute path"],
];

describe("a refused network target", () => {
  it.each(FAULTS)("%s is told why", (text, reason) => {
    expect(parseNetworkTarget(text, whatwgUrl)).toEqual({
      ok: false,
      code: "invalid_target",
      field: "target",
      message: `network target ${reason}`,
    });
  });
});

describe("the length of a text in UTF-8", () => {
  it.each([
    ["a", 1],
    ["é", 2],
    ["\u07ff", 2],
    ["\u0800", 3],
    ["€", 3],
    ["\ud7ff", 3],
    ["\ue000", 3],
    ["😀", 4],
    ["\u007f", 1],
    ["\u0080", 2],
  ])("counts %j as %i", (character, bytes) => {
    const text = character.repeat(100);
    expect(longerThan(text, bytes * 100)).toBe(false);
    expect(longerThan(text, bytes * 100 - 1)).toBe(true);
  });
});

describe("the parts of a target", () => {
  const parts = (text: string): unknown => {
    const parsed = parseNetworkTarget(text, whatwgUrl);
    if (!parsed.ok) return parsed.code;
    const { requested: _requested, text: _text, ...rest } = parsed.value;
    return rest;
  };

  it("are told apart as the standard does", () => {
    expect(parts("wss://[::1]:8443/a/b?c=d#e")).toEqual({
      resourceType: "network",
      form: "url",
      scheme: "wss",
      host: "[::1]",
      port: 8443,
      path: "/a/b",
      query: "c=d",
    });
    expect(parts("http://a.example:65535/#?x")).toMatchObject({ port: 65535, path: "/", query: undefined });
    expect(parts("a.example:1")).toEqual({
      resourceType: "network",
      form: "endpoint",
      host: "a.example",
      port: 1,
    });
    expect(parts("  a.example  ")).toMatchObject({ host: "a.example", port: undefined });
    expect(parts("unix:/run/x")).toEqual({ resourceType: "network", form: "unix", path: "/run/x" });
  });

  it("are put together again without a default port", () => {
    const parsed = parseNetworkTarget("https://a.example/x?", whatwgUrl);
    if (!parsed.ok || parsed.value.form !== "url") throw new Error("no URL");
    expect(urlText(parsed.value)).toBe("https://a.example/x?");
    expect(originText(parsed.value)).toBe("https://a.example");
    expect(originText({ ...parsed.value, scheme: "wss" })).toBe("wss://a.example");
    expect(originText({ ...parsed.value, scheme: "http" })).toBe("http://a.example:443");
    expect(originText({ ...parsed.value, scheme: "ws", port: 80 })).toBe("ws://a.example");
  });
});
