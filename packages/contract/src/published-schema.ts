/**
 * The JSON Schemas that the package publishes, made from the schemas that parse: nothing is written twice.
 * Pure: whoever publishes writes the files.
 */
import { z } from "zod";
import { MANIFEST_SCHEMAS } from "./manifest/manifest-schema.ts";
import { WIRES, type WireName } from "./wire/catalogue.ts";

/** One file per manifest kind; agents, tools and pipelines share that of an asset. */
const MANIFEST_FILES = {
  "module-manifest": { schema: MANIFEST_SCHEMAS.module, title: "Manifest of a module" },
  "engine-manifest": { schema: MANIFEST_SCHEMAS.engine, title: "Manifest of an engine" },
  "extractor-manifest": { schema: MANIFEST_SCHEMAS.extractor, title: "Manifest of an extractor" },
  "asset-manifest": { schema: MANIFEST_SCHEMAS.agent, title: "Definition of an agent, tool or pipeline" },
  "mcp-server-manifest": { schema: MANIFEST_SCHEMAS.mcp_server, title: "Configuration of an MCP server" },
  "one-off-url-manifest": { schema: MANIFEST_SCHEMAS.one_off_url, title: "One-off URL" },
} as const;

/** File name without `.schema.json`, and the schema as JSON (draft 2020-12). */
export function publishedSchemas(): ReadonlyMap<string, object> {
  const files = new Map<string, object>();
  for (const [name, { schema, title }] of Object.entries(MANIFEST_FILES))
    files.set(name, jsonSchema(name, title, schema));
  for (const wireName of Object.keys(WIRES) as WireName[]) {
    const name = wireName.replaceAll("_", "-");
    files.set(name, jsonSchema(name, `Wire form: ${wireName.replaceAll("_", " ")}`, WIRES[wireName].schema));
  }
  return files;
}

function jsonSchema(name: string, title: string, schema: z.ZodType): object {
  const { $schema, ...rest } = z.toJSONSchema(schema, { target: "draft-2020-12", io: "input" });
  return { $schema, $id: `urn:sallyport:schema:${name}`, title, ...rest };
}
