/**
 * The shape of a manifest of every kind, as it is published. Other top-level keys belong to the host and are let
 * pass; keys of ours that do not belong to a kind, and unknown keys inside ours, are refused.
 * What a schema cannot say (duplicates after normalization, targets that leave the root) the loader adds.
 */
import { z } from "zod";
import { OPERATIONS } from "../resource.ts";
import { FILESYSTEM_TARGET_BYTES_MAX } from "../target/filesystem.ts";
import { NETWORK_TARGET_BYTES_MAX } from "../target/network.ts";
import { accessRuleMembers } from "../wire/resource.ts";
import { subjectNameSchema } from "../wire/subject.ts";
import type { ManifestKind } from "./manifest.ts";
import { SENSITIVE_IMPORT_SPELLINGS } from "./sensitive-import.ts";

export const ACCESS_ENTRIES_MAX = 4096;
export const CONFIG_KEY = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

export const EXAMPLES_MAX = 64;

const exampleList = z
  .array(z.string().min(1).max(FILESYSTEM_TARGET_BYTES_MAX))
  .max(EXAMPLES_MAX)
  .exactOptional();
const examples = z.strictObject({ match: exampleList, no_match: exampleList }).exactOptional();
const declaredAccess = z.discriminatedUnion("resource_type", accessRuleMembers({ examples }));
const access = z.array(declaredAccess).max(ACCESS_ENTRIES_MAX).meta({ uniqueItems: true }).exactOptional();
const allowedImports = z
  .array(z.enum([...SENSITIVE_IMPORT_SPELLINGS]))
  .meta({ uniqueItems: true })
  .exactOptional();
const configKey = z.string().regex(CONFIG_KEY);
const configUrl = z.union([
  configKey,
  z.strictObject({
    key: configKey,
    operations: z.array(z.enum(OPERATIONS.network)).min(1).meta({ uniqueItems: true }),
  }),
]);
const allowedConfigUrls = z.array(configUrl).meta({ uniqueItems: true }).exactOptional();
const url = z.string().min(1).max(NETWORK_TARGET_BYTES_MAX);
const name = subjectNameSchema;
const absent = z.never().exactOptional();

const phaseShape = { access, allowed_imports: allowedImports };

const assetSchema = z.looseObject({
  name: name.exactOptional(),
  access,
  allowed_imports: absent,
  runtime: absent,
  install: absent,
});

const noDeclarations = { access: absent, allowed_imports: absent, runtime: absent, install: absent };

export const MANIFEST_SCHEMAS = Object.freeze({
  module: z.looseObject({
    name: name.exactOptional(),
    access,
    allowed_imports: allowedImports,
    runtime: absent,
    install: absent,
  }),
  engine: z.looseObject({
    name: name.exactOptional(),
    runtime: z.strictObject({ ...phaseShape, allowed_config_urls: allowedConfigUrls }).exactOptional(),
    install: z.strictObject(phaseShape).exactOptional(),
    access: absent,
    allowed_imports: absent,
  }),
  extractor: z.looseObject({
    name: name.exactOptional(),
    runtime: z.strictObject(phaseShape).exactOptional(),
    install: z.strictObject(phaseShape).exactOptional(),
    access: absent,
    allowed_imports: absent,
  }),
  agent: assetSchema,
  tool: assetSchema,
  pipeline: assetSchema,
  mcp_server: z.looseObject({ name, url, ...noDeclarations }),
  one_off_url: z.strictObject({ url, operation: z.enum(OPERATIONS.network).exactOptional() }),
}) satisfies Readonly<Record<ManifestKind, z.ZodType>>;
