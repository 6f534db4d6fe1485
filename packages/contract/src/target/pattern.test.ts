import { describe, expect, it } from "vitest";
import { parseTarget } from "../access.ts";
import type { ResourceType } from "../resource.ts";
import { whatwgUrl } from "../whatwg-url.ts";
import { MATCHES, type Match, isAmbiguousPath, parsePattern, patternOf } from "./pattern.ts";

const declared = (resourceType: ResourceType, text: string): unknown => {
  const parsed = parsePattern(resourceType, text, whatwgUrl);
  return parsed.ok ? parsed.value : parsed.code;
};

const granted = (resourceType: ResourceType, text: string, match: Match): unknown => {
  const target = parseTarget(resourceType, text, whatwgUrl);
  if (!target.ok) throw new Error(target.message);
  const parsed = patternOf(target.value, match);
  return parsed.ok ? parsed.value : parsed.code;
};

describe("a declared pattern", () => {
  it.each<[string, object]>([
    ["https://a.example/v1/reports", { kind: "url_any_query", text: "https://a.example/v1/reports" }],
    ["https://a.example/v1/reports?x=1", { kind: "url", text: "https://a.example/v1/reports?x=1" }],
    ["https://a.example/v1/", { kind: "url_prefix", text: "https://a.example/v1/" }],
    ["https://a.example/v1/?x", { kind: "url", text: "https://a.example/v1/?x" }],
    ["https://a.example", { kind: "origin", host: "a.example", port: 443, secure: true }],
    ["http://a.example:8080", { kind: "origin", host: "a.example", port: 8080, secure: false }],
    ["https://a.example/", { kind: "url_prefix", text: "https://a.example/" }],
    ["https:\\\\a.example\\", { kind: "url_prefix", text: "https://a.example/" }],
    ["https://a.example?x", { kind: "url", text: "https://a.example/?x" }],
    ["https://a.example#/x", { kind: "origin", host: "a.example", port: 443, secure: true }],
    ["wss://127.0.0.1:443/x", { kind: "url_any_query", text: "https://localhost/x" }],
    ["ws://[::1]:9000", { kind: "origin", host: "localhost", port: 9000, secure: false }],
    ["a.example", { kind: "host", host: "a.example" }],
    ["a.example:443", { kind: "host_port", host: "a.example", port: 443 }],
    ["[::1]:443", { kind: "host_port", host: "localhost", port: 443 }],
    ["unix:/run/x.sock", { kind: "unix", text: "/run/x.sock" }],
  ])("of a network says by its spelling how wide it is: %s", (text, pattern) => {
    expect(declared("network", text)).toEqual(pattern);
  });

  it("of the filesystem is a folder if it ends in a slash", () => {
    expect(declared("filesystem", "/data/app/")).toEqual({ kind: "tree", text: "/data/app" });
    expect(declared("filesystem", "/data/app")).toEqual({ kind: "path", text: "/data/app" });
    expect(declared("filesystem", "/")).toEqual({ kind: "tree", text: "" });
    expect(declared("filesystem", "/data/../x")).toBe("invalid_target");
    expect(declared("filesystem", "data/")).toBe("invalid_target");
  });

  it("of a system dependency is its name", () => {
    expect(declared("system_dependency", "FFmpeg")).toEqual({ kind: "name", text: "ffmpeg" });
    expect(declared("system_dependency", "/usr/bin/ffmpeg")).toBe("invalid_target");
  });
});

describe("the pattern of an approval", () => {
  const URL_TEXT = "https://a.example:8443/v1/reports?x=1";

  it("is as wide as its match says, and its spelling never decides", () => {
    expect(granted("network", URL_TEXT, "exact")).toEqual({ kind: "url", text: URL_TEXT });
    expect(granted("network", "https://a.example/v1/", "exact")).toEqual({
      kind: "url",
      text: "https://a.example/v1/",
    });
    expect(granted("network", "https://a.example", "exact")).toEqual({
      kind: "url",
      text: "https://a.example/",
    });
    expect(granted("network", URL_TEXT, "any_query")).toEqual({
      kind: "url_any_query",
      text: "https://a.example:8443/v1/reports",
    });
    expect(granted("network", "wss://a.example/v1/", "path_prefix")).toEqual({
      kind: "url_prefix",
      text: "https://a.example/v1/",
    });
    expect(granted("network", URL_TEXT, "origin")).toEqual({
      kind: "origin",
      host: "a.example",
      port: 8443,
      secure: true,
    });
    expect(granted("network", URL_TEXT, "endpoint")).toEqual({
      kind: "host_port",
      host: "a.example",
      port: 8443,
    });
    expect(granted("network", "a.example:25", "exact")).toEqual({
      kind: "socket",
      host: "a.example",
      port: 25,
    });
    expect(granted("network", "a.example", "exact")).toEqual({
      kind: "socket",
      host: "a.example",
      port: undefined,
    });
    expect(granted("network", "a.example", "endpoint")).toEqual({ kind: "host", host: "a.example" });
    expect(granted("network", "unix:/run/x", "exact")).toEqual({ kind: "unix", text: "/run/x" });
    expect(granted("filesystem", "/data/app/", "exact")).toEqual({ kind: "path", text: "/data/app" });
    expect(granted("filesystem", "/data/app", "directory")).toEqual({ kind: "tree", text: "/data/app" });
    expect(granted("filesystem", "/", "directory")).toEqual({ kind: "tree", text: "" });
    expect(granted("system_dependency", "git", "exact")).toEqual({ kind: "name", text: "git" });
  });

  it("is refused where the match does not fit the target", () => {
    const fitting: Readonly<Record<string, readonly Match[]>> = {
      "network https://a.example/v1/": ["exact", "any_query", "path_prefix", "origin", "endpoint"],
      "network https://a.example/v1/r": ["exact", "any_query", "origin", "endpoint"],
      "network https://a.example/v1/?x": ["exact", "any_query", "origin", "endpoint"],
      "network a.example:25": ["exact", "endpoint"],
      "network unix:/run/x": ["exact"],
      "filesystem /data": ["exact", "directory"],
      "system_dependency git": ["exact"],
    };
    for (const [text, matches] of Object.entries(fitting)) {
      const [resourceType, target] = text.split(" ") as [ResourceType, string];
      const accepted = MATCHES.filter((match) => granted(resourceType, target, match) !== "invalid_target");
      expect([text, accepted]).toEqual([text, matches]);
    }
  });
});

describe("a pattern that is refused", () => {
  const URL_TARGET = parseTarget("network", "https://a.example/v1/r", whatwgUrl);
  const PATH_TARGET = parseTarget("filesystem", "/data", whatwgUrl);

  it("says what it needs, and which field is at fault", () => {
    if (!URL_TARGET.ok || !PATH_TARGET.ok) throw new Error("no target");
    const faults = [
      [patternOf(URL_TARGET.value, "directory"), "match `directory` needs a filesystem target"],
      [patternOf(PATH_TARGET.value, "origin"), "match `origin` needs a URL"],
      [
        patternOf(URL_TARGET.value, "path_prefix"),
        "match `path_prefix` needs a URL whose path ends in `/`, without a query",
      ],
      [
        parsePattern("filesystem", "x", whatwgUrl),
        "filesystem target must be an absolute path without `..` and NUL",
      ],
    ] as const;
    for (const [parsed, message] of faults) {
      expect(parsed).toEqual({ ok: false, code: "invalid_target", field: "target", message });
    }
  });

  it.each(["network", "filesystem", "system_dependency"] as const)(
    "is any %s pattern that is no text",
    (resourceType) => {
      for (const odd of [undefined, null, 7, {}, ["/a/"]]) {
        expect(parsePattern(resourceType, odd, whatwgUrl)).toMatchObject({
          ok: false,
          code: "invalid_target",
        });
      }
    },
  );
});

describe("a path that servers read in two ways", () => {
  it.each([
    "/v1/..%2fadmin",
    "/v1/%2F",
    "/a%5cb",
    "/a\\b",
    "/v1/%252e%252e/admin",
    "/%25252e/",
    "/v1/%%32e%%32e/x",
    "/%252fx",
    "/.%252e",
    "/%252E",
    `/%${"25".repeat(12)}41`,
  ])("is ambiguous: %s", (path) => expect(isAmbiguousPath(path)).toBe(true));

  it.each([
    "/",
    "/v1/reports",
    "/v1/a.b/..x/...",
    "/v1/%20%C3%A9",
    "/100%",
    "/%zz/%2",
    "/a%2eb",
    "/%2525",
    "/.well-known/x",
  ])("is plain: %s", (path) => expect(isAmbiguousPath(path)).toBe(false));
});
