import { describe, expect, it } from "vitest";
import { whatwgUrl } from "../whatwg-url.ts";
import { readManifest } from "./load-manifest.ts";
import type { ManifestEnvironment } from "./manifest.ts";

const KINDS: Readonly<Record<string, "directory" | "file">> = {
  "/srv/data/in": "directory",
  "/srv/data/file.txt": "file",
};

const ENVIRONMENT: ManifestEnvironment = {
  root: "/opt/m",
  variables: { data: "/srv/data", home: "/opt/people" },
  parseUrl: whatwgUrl,
  folderKind: (path) => (Object.hasOwn(KINDS, path) ? (KINDS[path] ?? "missing") : "missing"),
};

type Entry = readonly [resourceType: string, operation: string, target: string];

function warningsOf(...entries: readonly Entry[]) {
  const access = entries.map(([resource_type, operation, target]) => ({ resource_type, operation, target }));
  const result = readManifest("module", { access }, ENVIRONMENT);
  if (!result.ok) throw new Error(JSON.stringify(result.faults));
  return result.warnings;
}

const codesOf = (...entries: readonly Entry[]) =>
  warningsOf(...entries).map(({ code, pointer }) => [code, pointer]);

describe("a rule that never matches", () => {
  it("is a URL with a path for connect, which has no path", () => {
    expect(codesOf(["network", "connect", "https://a.example/v1/"])).toContainEqual([
      "never_matches",
      "/access/0/target",
    ]);
    expect(codesOf(["network", "connect", "https://a.example"])).not.toContainEqual([
      "never_matches",
      "/access/0/target",
    ]);
  });

  it.each(["https://a.example/a%2fb/", "https://a.example/a%5Cb/", "https://a.example/a%252fb/"])(
    "is the folder %s, because no path with an encoded slash or backslash is judged",
    (target) => {
      expect(codesOf(["network", "receive", target])).toEqual([["never_matches", "/access/0/target"]]);
    },
  );
});

describe("a rule that is wider than it looks", () => {
  it.each([
    ["a bare host: every scheme and port, clear text too", "receive", "a.example", "every scheme and port"],
    ["connect: raw bytes both ways", "connect", "a.example:443", "raw bytes"],
    ["clear text to another machine", "receive", "http://a.example", "clear text"],
    ["a clear-text websocket", "receive", "ws://a.example", "clear text"],
    ["a fragment, which is not looked at", "receive", "https://a.example/x.json#part", "behind `#`"],
  ])("is %s", (_title, operation, target, message) => {
    const warnings = warningsOf(["network", operation, target]);
    expect(warnings.map(({ code }) => code)).toEqual(["wider_than_it_looks"]);
    expect(warnings[0]?.message).toContain(message);
  });

  it.each(["http://localhost:8080", "http://127.0.0.1", "http://[::1]:99"])(
    "is not clear text to %s",
    (target) => {
      expect(warningsOf(["network", "receive", target])).toEqual([]);
    },
  );

  it.each([
    ["filesystem", "read", "/"],
    ["filesystem", "delete", "/"],
    ["filesystem", "create", "${home}/"],
    ["filesystem", "execute", "./"],
  ] as const)("is %s %s of %s", (...entry) => {
    expect(codesOf(entry)).toEqual([["wider_than_it_looks", "/access/0/target"]]);
  });

  it("is not the reading of a folder that the host defines, nor a part of it", () => {
    expect(codesOf(["filesystem", "read", "${home}/"], ["filesystem", "modify", "${home}/x/"])).toEqual([]);
  });

  it("is a file declared as a folder", () => {
    expect(codesOf(["filesystem", "read", "${data}/file.txt/"])).toEqual([
      ["wider_than_it_looks", "/access/0/target"],
    ]);
  });
});

describe("a rule that is narrower than it looks", () => {
  it.each([
    ["a URL without a trailing slash", "network", "receive", "https://a.example/v1", "end it in `/`"],
    ["the folder at the root of an origin", "network", "receive", "https://a.example/", "no raw socket"],
    [
      "a star in the path of a URL",
      "network",
      "receive",
      "https://a.example/v1/*.json",
      "ordinary character",
    ],
    ["a folder without a trailing slash", "filesystem", "read", "${data}/in", "write `${data}/in/`"],
    ["a tilde", "filesystem", "read", "~/x", "${home}"],
    ["a variable without braces", "filesystem", "read", "$HOME/x", "without braces"],
    ["a star in a path", "filesystem", "read", "in/*", "ordinary character"],
  ])("is %s", (_title, resourceType, operation, target, message) => {
    const warnings = warningsOf([resourceType, operation, target]);
    expect(warnings.map(({ code }) => code)).toEqual(["narrower_than_it_looks"]);
    expect(warnings[0]?.message).toContain(message);
  });

  it("is not a URL that names a file, nor one with a query", () => {
    expect(
      codesOf(
        ["network", "receive", "https://a.example/data.json"],
        ["network", "receive", "https://a.example/x?y=1"],
      ),
    ).toEqual([]);
  });
});

describe("a redundant rule", () => {
  const redundantOf = (...entries: readonly Entry[]) =>
    codesOf(...entries).flatMap(([code, pointer]) => (code === "redundant" ? [pointer] : []));

  it.each([
    ["a file in a declared folder", ["filesystem", "read", "a/b/c"], ["filesystem", "read", "a/"]],
    ["a folder in a declared folder", ["filesystem", "read", "a/b/"], ["filesystem", "read", "a/"]],
    [
      "a folder declared without and with its slash",
      ["filesystem", "read", "a"],
      ["filesystem", "read", "a/"],
    ],
    ["anything under the root", ["filesystem", "read", "/x"], ["filesystem", "read", "/"]],
    [
      "a URL under a declared folder",
      ["network", "receive", "https://a.example/v1/x.json"],
      ["network", "receive", "https://a.example/v1/"],
    ],
    [
      "a URL on a declared origin",
      ["network", "receive", "https://a.example/x.json"],
      ["network", "receive", "https://a.example"],
    ],
    [
      "the folder at the root of a declared origin",
      ["network", "receive", "https://a.example/"],
      ["network", "receive", "https://a.example"],
    ],
    [
      "an origin on a declared host",
      ["network", "receive", "https://a.example"],
      ["network", "receive", "a.example"],
    ],
    [
      "an origin on a declared port",
      ["network", "receive", "https://a.example"],
      ["network", "receive", "a.example:443"],
    ],
    [
      "a port of a declared host",
      ["network", "receive", "a.example:443"],
      ["network", "receive", "a.example"],
    ],
    [
      "a query of a declared URL",
      ["network", "receive", "https://a.example/x.json?y"],
      ["network", "receive", "https://a.example/x.json"],
    ],
    [
      "a websocket of the same security",
      ["network", "receive", "wss://a.example/x.json"],
      ["network", "receive", "https://a.example"],
    ],
    [
      "another name of the same machine",
      ["network", "receive", "http://127.0.0.1:1/x.json"],
      ["network", "receive", "http://localhost:1"],
    ],
  ] as readonly (readonly [string, Entry, Entry])[])("is %s", (_title, narrow, wide) => {
    expect(redundantOf(narrow, wide)).toEqual(["/access/0/target"]);
    expect(redundantOf(wide, narrow)).toEqual(["/access/1/target"]);
  });

  it.each([
    ["another operation", ["filesystem", "read", "a/b"], ["filesystem", "modify", "a/"]],
    ["a name that only begins alike", ["filesystem", "read", "application"], ["filesystem", "read", "app/"]],
    [
      "clear text beside HTTPS",
      ["network", "receive", "http://localhost:443/x.json"],
      ["network", "receive", "https://localhost"],
    ],
    [
      "another port",
      ["network", "receive", "https://a.example:8443/x.json"],
      ["network", "receive", "https://a.example"],
    ],
    [
      "a subdomain",
      ["network", "receive", "https://b.a.example/x.json"],
      ["network", "receive", "https://a.example"],
    ],
    [
      "an encoded slash under a folder",
      ["network", "receive", "https://a.example/v/a%2fb.json"],
      ["network", "receive", "https://a.example/v/"],
    ],
  ] as readonly (readonly [string, Entry, Entry])[])("is not %s", (_title, narrow, wide) => {
    expect(redundantOf(narrow, wide)).toEqual([]);
  });
});

describe("old lists beside our keys", () => {
  it("are named, because nobody reads them", () => {
    const result = readManifest("module", { allowed_urls: ["https://a.example"] }, ENVIRONMENT);
    expect(result.warnings).toEqual([
      {
        severity: "warning",
        code: "ignored",
        pointer: "/allowed_urls",
        message: "`allowed_urls` is not read: declare each target in `access`",
      },
    ]);
  });
});
