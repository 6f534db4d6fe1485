/**
 * One phase of a manifest: its access list, its sensitive imports and, for an engine at run time, the configuration
 * keys whose values it may reach. Reports every fault; what has a fault is left out.
 */
import { OPERATIONS, type OperationOf, isOperationOf } from "../resource.ts";
import { type PointerPath, quoted } from "../wire/json-pointer.ts";
import type { JsonValue } from "../wire/json-value.ts";
import { type ReadRule, readAccess } from "./access-entry.ts";
import type { ConfigUrl, ManifestEnvironment, PhaseContract } from "./manifest.ts";
import type { ManifestReport } from "./manifest-report.ts";
import { ACCESS_ENTRIES_MAX, CONFIG_KEY } from "./manifest-schema.ts";
import { lintRules } from "./rule-lint.ts";
import { SENSITIVE_IMPORT_NAMES, type SensitiveImport, sensitiveImportOf } from "./sensitive-import.ts";

/** The keys of a phase as they were found; a key that is missing was not declared. */
export interface PhaseFields {
  readonly access?: JsonValue | undefined;
  readonly allowed_imports?: JsonValue | undefined;
  readonly allowed_config_urls?: JsonValue | undefined;
}

export const EMPTY_PHASE: PhaseContract = Object.freeze({
  access: Object.freeze([]),
  allowedImports: Object.freeze([]),
  allowedConfigUrls: Object.freeze([]),
});

export function readPhase(
  fields: PhaseFields,
  path: PointerPath,
  environment: ManifestEnvironment,
  report: ManifestReport,
): PhaseContract {
  const { access, allowed_imports: imports, allowed_config_urls: configUrls } = fields;
  const rules: readonly ReadRule[] =
    access === undefined ? [] : readAccess(access, [...path, "access"], environment, report);
  lintRules(rules, environment, report);
  return Object.freeze({
    access: Object.freeze(rules.map(({ rule }) => rule)),
    allowedImports: Object.freeze(
      imports === undefined ? [] : readImports(imports, [...path, "allowed_imports"], report),
    ),
    allowedConfigUrls: Object.freeze(
      configUrls === undefined ? [] : readConfigUrls(configUrls, [...path, "allowed_config_urls"], report),
    ),
  });
}

function readImports(
  value: JsonValue,
  path: PointerPath,
  report: ManifestReport,
): readonly SensitiveImport[] {
  const known = SENSITIVE_IMPORT_NAMES.join(", ");
  const imports: SensitiveImport[] = [];
  for (const [index, spelling] of elementsOf(value, path, report, `a list of names: ${known}`).entries()) {
    const name = typeof spelling === "string" ? sensitiveImportOf(spelling) : undefined;
    if (name === undefined) {
      const what = typeof spelling === "string" ? quoted(spelling) : "this";
      report.fault(
        [...path, index],
        `${what} is no sensitive import`,
        `remove it; only these need an entry: ${known}`,
      );
    } else if (imports.includes(name)) {
      report.fault([...path, index], `\`${name}\` is listed twice`, "remove one of the two");
    } else imports.push(name);
  }
  return imports;
}

const CONFIG_URL_FORM =
  'the name of a configuration key, or `{"key": "endpoint", "operations": ["receive"]}`';

function readConfigUrls(value: JsonValue, path: PointerPath, report: ManifestReport): readonly ConfigUrl[] {
  const seen = new Map<string, number>();
  const urls: ConfigUrl[] = [];
  for (const [index, entry] of elementsOf(value, path, report, `a list of ${CONFIG_URL_FORM}`).entries()) {
    const url = readConfigUrl(entry, [...path, index], report);
    if (url === undefined) continue;
    const earlier = seen.get(url.key);
    if (earlier !== undefined)
      report.fault([...path, index], `${quoted(url.key)} is listed twice`, "remove one of the two");
    seen.set(url.key, index);
    urls.push(url);
  }
  return urls;
}

const BOTH_WAYS: readonly OperationOf<"network">[] = Object.freeze(["receive", "send"]);

function readConfigUrl(entry: JsonValue, path: PointerPath, report: ManifestReport): ConfigUrl | undefined {
  if (typeof entry === "string") {
    if (CONFIG_KEY.test(entry)) return Object.freeze({ key: entry, operations: BOTH_WAYS });
    const isUrl = entry.includes(":") || entry.includes("/");
    report.fault(
      path,
      `${quoted(entry)} is no name of a configuration key`,
      isUrl
        ? "declare a fixed target under `access`; list here the key whose value is the URL"
        : `write ${CONFIG_URL_FORM}`,
    );
    return undefined;
  }
  if (typeof entry !== "object" || entry === null || Array.isArray(entry)) {
    report.fault(path, "must be a key or an object", `write ${CONFIG_URL_FORM}`);
    return undefined;
  }
  const fields = entry as { readonly [key: string]: JsonValue };
  for (const key of Object.keys(fields)) {
    if (key !== "key" && key !== "operations") {
      report.fault(
        [...path, key],
        `unknown key ${quoted(key)}`,
        "remove it; an entry has `key` and `operations`",
      );
    }
  }
  const key = Object.hasOwn(fields, "key") ? fields["key"] : undefined;
  const isKey = typeof key === "string" && CONFIG_KEY.test(key);
  if (!isKey) report.fault([...path, "key"], "must name a configuration key", `write ${CONFIG_URL_FORM}`);
  const operations = readOperations(
    Object.hasOwn(fields, "operations") ? fields["operations"] : undefined,
    path,
    report,
  );
  return isKey && operations !== undefined ? Object.freeze({ key, operations }) : undefined;
}

function readOperations(
  value: JsonValue | undefined,
  path: PointerPath,
  report: ManifestReport,
): readonly OperationOf<"network">[] | undefined {
  const operations: readonly unknown[] = Array.isArray(value) ? value : [];
  const legal = operations.filter((operation) => isOperationOf("network", operation));
  if (legal.length > 0 && legal.length === operations.length && new Set(legal).size === legal.length) {
    return Object.freeze([...legal]);
  }
  report.fault(
    [...path, "operations"],
    "must be a list of network operations, each once",
    `write a list of ${OPERATIONS.network.join(", ")}; leave the object out for receive and send`,
  );
  return undefined;
}

function elementsOf(
  value: JsonValue,
  path: PointerPath,
  report: ManifestReport,
  form: string,
): readonly JsonValue[] {
  if (!Array.isArray(value)) {
    report.fault(path, "must be a list", `write ${form}`);
    return [];
  }
  if (value.length > ACCESS_ENTRIES_MAX) {
    report.fault(path, `holds more than ${ACCESS_ENTRIES_MAX} entries`, "list each name once");
    return [];
  }
  return value as readonly JsonValue[];
}
