import { describe, expect, it } from "vitest";
import { publishedSchemas } from "../published-schema.ts";
import { isSchemaValid } from "../testing/json-schema.ts";
import { whatwgUrl } from "../whatwg-url.ts";
import { loadManifest } from "./load-manifest.ts";
import { EXAMPLES_MAX } from "./manifest-schema.ts";

const ENVIRONMENT = { root: "/opt/reports", variables: { data: "/srv/data" }, parseUrl: whatwgUrl };
const network = { resource_type: "network", operation: "receive", target: "https://api.example.com/v1/" };
const load = (entry: object) => loadManifest("module", JSON.stringify({ access: [entry] }), ENVIRONMENT);

function examplesOf(entry: object) {
  const result = load(entry);
  if (!result.ok) throw new Error(JSON.stringify(result.faults));
  return result.manifest.phases.runtime.access[0]?.examples;
}

describe("the examples of an access entry", () => {
  it("are read as targets of the entry's own pair, with the text as written and the pointer", () => {
    const examples = examplesOf({
      ...network,
      examples: { match: ["https://API.example.com:443/v1/x"], no_match: ["https://api.example.com/v2"] },
    });
    expect(examples?.match).toMatchObject([
      {
        declared: "https://API.example.com:443/v1/x",
        pointer: "/access/0/examples/match/0",
        access: { operation: "receive", target: { text: "https://api.example.com/v1/x" } },
      },
    ]);
    expect(examples?.noMatch.map(({ pointer }) => pointer)).toEqual(["/access/0/examples/no_match/0"]);
  });

  it("expand paths as declarations do", () => {
    const examples = examplesOf({
      resource_type: "filesystem",
      operation: "read",
      target: "inbox/",
      examples: { match: ["inbox/a.txt"], no_match: ["${data}/a.txt", "/etc/passwd"] },
    });
    const targets = [...(examples?.match ?? []), ...(examples?.noMatch ?? [])].map(
      ({ access }) => access.target.text,
    );
    expect(targets).toEqual(["/opt/reports/inbox/a.txt", "/srv/data/a.txt", "/etc/passwd"]);
  });

  it("are absent where an entry has none, and frozen where it has some", () => {
    expect(examplesOf(network)).toBeUndefined();
    const examples = examplesOf({ ...network, examples: {} });
    expect(examples).toEqual({ match: [], noMatch: [] });
    expect(Object.isFrozen(examples)).toBe(true);
  });

  it.each([
    [[], "/access/0/examples", "must be an object"],
    [{ matches: [] }, "/access/0/examples/matches", "unknown key"],
    [{ match: "https://a.example" }, "/access/0/examples/match", "must be a list"],
    [{ match: [7] }, "/access/0/examples/match/0", "must be a target"],
    [{ no_match: [""] }, "/access/0/examples/no_match/0", "must be a target"],
    [{ no_match: ["https://a@b.example/"] }, "/access/0/examples/no_match/0", "is no target"],
    [
      { match: Array.from({ length: EXAMPLES_MAX + 1 }, () => "https://a.example") },
      "/access/0/examples/match",
      `more than ${EXAMPLES_MAX}`,
    ],
  ])("are refused with the pointer where they are none (%#)", (examples, pointer, message) => {
    const result = load({ ...network, examples });
    if (result.ok) throw new Error("the manifest was taken");
    expect(result.faults[0]).toMatchObject({ pointer, message: expect.stringContaining(message) });
    expect(result.faults[0]?.instead).not.toBe("");
  });

  it("are part of the published schema of a manifest, and of no other rule", () => {
    const schema = publishedSchemas();
    const rule = { ...network, examples: { match: ["https://api.example.com/v1/x"] } };
    expect(isSchemaValid(schema.get("module-manifest") as object, { access: [rule] })).toBe(true);
    expect(isSchemaValid(schema.get("access-rule") as object, rule)).toBe(false);
    const unknown = { ...network, examples: { matches: [] } };
    expect(isSchemaValid(schema.get("module-manifest") as object, { access: [unknown] })).toBe(false);
  });
});
