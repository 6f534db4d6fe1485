import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import fc from "fast-check";
import { isSchemaValid } from "./testing/json-schema.ts";
import { WIRE_ARBITRARIES } from "./testing/wire-arbitrary.ts";
import { publishedSchemas } from "./published-schema.ts";
import { OPERATIONS, RESOURCE_TYPES } from "./resource.ts";
import { WIRES, type WireName } from "./wire/catalogue.ts";

const FOLDER = new URL("../schema/", import.meta.url);
const SUFFIX = ".schema.json";
const SCHEMAS = publishedSchemas();
const textOf = (schema: object): string => `${JSON.stringify(schema, null, 2)}\n`;

function schemaOf(name: string): object {
  const schema = SCHEMAS.get(name);
  if (schema === undefined) throw new Error(`no schema ${name}`);
  return schema;
}

describe("the published JSON Schemas", () => {
  it("are what the parsers are made from (SALLYPORT_UPDATE=1 writes them)", () => {
    if (process.env["SALLYPORT_UPDATE"] === "1") {
      rmSync(FOLDER, { recursive: true, force: true });
      mkdirSync(FOLDER, { recursive: true });
      for (const [name, schema] of SCHEMAS)
        writeFileSync(new URL(`${name}${SUFFIX}`, FOLDER), textOf(schema));
    }
    const files = readdirSync(FOLDER);
    expect(files.toSorted()).toEqual([...SCHEMAS.keys()].map((name) => `${name}${SUFFIX}`).toSorted());
    for (const [name, schema] of SCHEMAS) {
      expect(readFileSync(new URL(`${name}${SUFFIX}`, FOLDER), "utf8"), name).toBe(textOf(schema));
    }
  });

  it("refuse every pair that does not belong together, and accept every one that does", () => {
    const operations = [...new Set(RESOURCE_TYPES.flatMap((type): readonly string[] => OPERATIONS[type]))];
    for (const resource_type of [...RESOURCE_TYPES, "url"]) {
      for (const operation of operations) {
        const legal =
          (RESOURCE_TYPES as readonly string[]).includes(resource_type) &&
          (OPERATIONS[resource_type as "network"] as readonly string[]).includes(operation);
        const rule = { resource_type, operation, target: "/x" };
        const pair = `${resource_type} ${operation}`;
        expect(isSchemaValid(schemaOf("access-rule"), rule), pair).toBe(legal);
        expect(isSchemaValid(schemaOf("module-manifest"), { access: [rule] }), pair).toBe(legal);
        expect(isSchemaValid(schemaOf("engine-manifest"), { install: { access: [rule] } }), pair).toBe(legal);
        expect(
          isSchemaValid(schemaOf("resource"), { type: resource_type, operation, target: "/x" }),
          pair,
        ).toBe(legal);
      }
    }
  });

  it.each([
    ["module-manifest", { runtime: {} }],
    ["module-manifest", { access: ["network:reports:https://a.example"] }],
    ["module-manifest", { access: [{ resource_type: "network", operation: "send", target: "a", extra: 1 }] }],
    ["module-manifest", { allowed_imports: ["fs"] }],
    ["engine-manifest", { access: [] }],
    ["engine-manifest", { runtime: { allowed_urls: [] } }],
    ["extractor-manifest", { runtime: { allowed_config_urls: [] } }],
    ["asset-manifest", { allowed_imports: [] }],
    ["mcp-server-manifest", { name: "x" }],
    ["one-off-url-manifest", { url: "https://a.example", headers: {} }],
  ])("refuse in %s what the loader refuses: %j", (name, manifest) => {
    expect(isSchemaValid(schemaOf(name), manifest)).toBe(false);
  });

  it("let the host's own keys of a manifest pass", () => {
    expect(
      isSchemaValid(schemaOf("module-manifest"), { version: 1, access: [], allowed_imports: ["node:vm"] }),
    ).toBe(true);
  });

  it.each(Object.keys(WIRES) as WireName[])("accept every legal %s", (name) => {
    const schema = schemaOf(name.replaceAll("_", "-"));
    fc.assert(
      fc.property(WIRE_ARBITRARIES[name], (value) => {
        expect(isSchemaValid(schema, JSON.parse(JSON.stringify(value)))).toBe(true);
      }),
      { numRuns: 30 },
    );
  });
});
