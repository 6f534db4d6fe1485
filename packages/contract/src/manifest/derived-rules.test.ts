import { describe, expect, it } from "vitest";
import { whatwgUrl } from "../whatwg-url.ts";
import { type DerivedRules, configUrlRules, installerRules, mcpRules, oneOffRules } from "./derived-rules.ts";

const pairs = ({ rules }: DerivedRules) =>
  rules.map(({ resourceType, operation, target }) => [resourceType, operation, target]);
const BOTH = ["receive", "send"] as const;

describe("configured URLs", () => {
  it("are allowed for the operations of their entry", () => {
    const entries = [
      { key: "endpoint", operations: BOTH },
      { key: "feed", operations: ["receive"] },
    ] as const;
    const derived = configUrlRules(
      entries,
      { endpoint: "https://API.example.com", feed: "feed.example:443", other: "x" },
      whatwgUrl,
    );
    expect(pairs(derived)).toEqual([
      ["network", "receive", "https://api.example.com"],
      ["network", "send", "https://api.example.com"],
      ["network", "receive", "feed.example:443"],
    ]);
  });

  it.each([
    [{}],
    [{ endpoint: "" }],
    [{ endpoint: null }],
    [Object.create({ endpoint: "https://a.example" }) as object],
    [null],
    ["x"],
  ])("give no rule where nothing is configured: %j", (config) => {
    expect(configUrlRules([{ key: "endpoint", operations: BOTH }], config, whatwgUrl)).toEqual({
      rules: [],
      faults: [],
    });
  });

  it("that are bad are faults at their key, and give no rule", () => {
    const entries = ["a", "b", "c", "__proto__"].map((key) => ({ key, operations: ["receive"] as const }));
    const derived = configUrlRules(entries, { a: "file:///etc", b: 7, c: "*.example.com" }, whatwgUrl);
    expect(derived.rules).toEqual([]);
    expect(derived.faults.map(({ pointer }) => pointer)).toEqual(["/a", "/b", "/c"]);
  });
});

describe("an MCP server", () => {
  it("is reached on its origin, both ways, and has no filesystem", () => {
    expect(pairs(mcpRules("http://localhost:3000/sse", whatwgUrl))).toEqual([
      ["network", "receive", "http://localhost:3000"],
      ["network", "send", "http://localhost:3000"],
    ]);
  });

  it.each([
    undefined,
    "",
    "mcp.example.com",
    "unix:/run/x",
    "stdio://x",
    "https://u:p@a.example",
    "https://a.example/\ud800",
  ])("without a proper URL is a fault: %j", (url) => {
    const derived = mcpRules(url, whatwgUrl);
    expect([derived.rules, derived.faults.map(({ pointer }) => pointer)]).toEqual([[], ["/url"]]);
  });
});

describe("a one-off URL", () => {
  it.each(["https://a.example", "https://a.example/dir/", "https://a.example/x?y=1"])(
    "is %s exactly, whatever its spelling",
    (url) => {
      const derived = oneOffRules(url, whatwgUrl);
      expect(derived.rules).toHaveLength(1);
      expect(derived.rules[0]).toMatchObject({ operation: "receive", match: "exact" });
    },
  );

  it("takes the operation that the host names, and no other word", () => {
    expect(oneOffRules("https://a.example/x", whatwgUrl, "send").rules[0]?.operation).toBe("send");
    expect(oneOffRules("https://a.example/x", whatwgUrl, "read" as never).rules).toEqual([]);
  });
});

describe("installer hosts", () => {
  it("are received from only, over HTTPS unless a URL says otherwise, each once", () => {
    const derived = installerRules(
      ["pypi.example", "https://pypi.example/simple/", "http://localhost:8080/simple", "a.example:8443"],
      whatwgUrl,
    );
    expect(pairs(derived)).toEqual([
      ["network", "receive", "https://pypi.example"],
      ["network", "receive", "http://localhost:8080"],
      ["network", "receive", "https://a.example:8443"],
    ]);
  });

  it("that are bad are faults at their place", () => {
    expect(installerRules(["*.example.com", 7, "ok.example"], whatwgUrl)).toMatchObject({
      rules: [{ target: "https://ok.example" }],
      faults: [{ pointer: "/0" }, { pointer: "/1" }],
    });
  });
});
