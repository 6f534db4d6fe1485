import { loadManifest, whatwgUrl } from "@sallyport/contract";
import { describe, expect, it } from "vitest";
import { exampleFaults, tryExamples } from "./manifest-examples.ts";

const OPTIONS = { seed: [1, 2], parseUrl: whatwgUrl } as const;

function accessOf(access: readonly object[]) {
  const environment = { root: "/opt/reports", variables: {}, parseUrl: whatwgUrl };
  const result = loadManifest("module", JSON.stringify({ access }), environment);
  if (!result.ok) throw new Error(JSON.stringify(result.faults));
  return result.manifest.phases.runtime.access;
}

const receive = (target: string, examples?: object) => ({
  resource_type: "network",
  operation: "receive",
  target,
  ...(examples === undefined ? {} : { examples }),
});

describe("the examples of a manifest", () => {
  it("hold where the engine says what they say", () => {
    const access = accessOf([
      receive("https://api.example.com/v1/", {
        match: ["https://api.example.com/v1/reports?x=1", "wss://api.example.com/v1/live"],
        no_match: [
          "http://api.example.com/v1/reports",
          "https://api.example.com/v1/..%2fadmin",
          "https://api.example.com.evil.example/v1/",
        ],
      }),
      {
        resource_type: "filesystem",
        operation: "read",
        target: "inbox/",
        examples: { match: ["inbox", "inbox/a/b"], no_match: ["inbox-private/a"] },
      },
    ]);
    expect(tryExamples(access, OPTIONS).map(({ holds }) => holds)).toEqual(Array(8).fill(true));
    expect(exampleFaults(access, OPTIONS)).toEqual([]);
  });

  it("fail with the pointer of the example where the entry does not match it", () => {
    const access = accessOf([
      receive("https://api.example.com/v1", { match: ["https://api.example.com/v1/reports"] }),
      receive("https://api.example.com/v1/"),
    ]);
    expect(exampleFaults(access, OPTIONS)).toMatchObject([
      {
        pointer: "/access/0/examples/match/0",
        message: expect.stringContaining("is not matched by the entry"),
      },
    ]);
  });

  it("fail where another entry of the list matches what must not match", () => {
    const access = accessOf([
      receive("https://api.example.com/v1/", { no_match: ["https://api.example.com/admin"] }),
      receive("https://api.example.com"),
    ]);
    expect(exampleFaults(access, OPTIONS)).toMatchObject([
      { pointer: "/access/0/examples/no_match/0", message: expect.stringContaining("and must not be") },
    ]);
  });

  it("do not hold by the rules of another operation", () => {
    const access = accessOf([
      receive("https://api.example.com", { no_match: ["https://other.example.com/x"] }),
      { resource_type: "network", operation: "send", target: "https://other.example.com" },
    ]);
    expect(exampleFaults(access, OPTIONS)).toEqual([]);
  });
});
