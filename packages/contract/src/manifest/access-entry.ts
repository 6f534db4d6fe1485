/**
 * The entries of an `access` list: each read on its own, every fault of each reported, with what to write instead.
 * Must never guess: an entry with a fault is no rule.
 */
import {
  OPERATIONS,
  RESOURCE_TYPES,
  type ResourceOperation,
  type ResourceType,
  isOperationOf,
  isResourceType,
} from "../resource.ts";
import { type PointerPath, pointerTo, quoted } from "../wire/json-pointer.ts";
import type { JsonValue } from "../wire/json-value.ts";
import { type DeclaredTarget, readTarget } from "./declared-target.ts";
import type { ManifestEnvironment, ManifestRule } from "./manifest.ts";
import type { ManifestReport } from "./manifest-report.ts";
import { ACCESS_ENTRIES_MAX } from "./manifest-schema.ts";
import { readExamples } from "./rule-examples.ts";

export interface ReadRule {
  readonly rule: ManifestRule;
  readonly read: DeclaredTarget;
}

const ENTRY_KEYS = ["resource_type", "operation", "target", "examples"] as const;
const EXACT_KEYS = "resource_type, operation, target, and `examples` where there are some";
const ENTRY_FORM =
  '`{"resource_type": "network", "operation": "receive", "target": "https://api.example.com"}`';

/** Names that other tools use, and the key or value that is meant. */
const KEY_ADVICE: Readonly<Record<string, string>> = {
  type: "write `resource_type`",
  resource: "write `resource_type`",
  resourceType: "write `resource_type`",
  url: "write `target`",
  path: "write `target`",
  host: "write `target`",
  targets: "write one entry for each target",
  operations: "write one entry for each operation",
  paths: "write one entry for each path",
};
const OPERATION_ADVICE: Readonly<Record<string, string>> = {
  write: "write two entries, one with `create` and one with `modify`",
  update: "write `modify`",
  append: "write `modify`",
  remove: "write `delete`",
  unlink: "write `delete`",
  list: "write `read`",
  stat: "write `read`",
  run: "write `execute`",
  exec: "write `execute`",
  spawn: "write `execute`",
  get: "write `receive`",
  download: "write `receive`",
  fetch: "write `receive`",
  post: "write `send`",
  put: "write `send`",
  upload: "write `send`",
  "*": "write one entry for each operation",
  all: "write one entry for each operation",
  any: "write one entry for each operation",
};

export function readAccess(
  value: JsonValue,
  path: PointerPath,
  environment: ManifestEnvironment,
  report: ManifestReport,
): readonly ReadRule[] {
  if (!Array.isArray(value)) {
    report.fault(path, "must be a list of entries", `write a list of ${ENTRY_FORM}`);
    return [];
  }
  const entries = value as readonly JsonValue[];
  if (entries.length > ACCESS_ENTRIES_MAX) {
    report.fault(
      path,
      `holds more than ${ACCESS_ENTRIES_MAX} entries`,
      "declare folders and origins in the place of single targets",
    );
    return [];
  }
  const rules: ReadRule[] = [];
  const seen = new Map<ResourceType, Map<string, Map<string, string>>>();
  for (const [index, entry] of entries.entries()) {
    const entryPath = [...path, index];
    const read = readEntry(entry, entryPath, environment, report);
    if (read === undefined) continue;
    const earlier = firstPointer(seen, read.rule);
    if (earlier === undefined) rules.push(read);
    else report.fault(entryPath, `repeats the entry at ${quoted(earlier)}`, "remove one of the two");
  }
  return rules;
}

/** The pointer of an equal rule that came before, or `undefined` after noting this one. Three fields, never one key. */
function firstPointer(
  seen: Map<ResourceType, Map<string, Map<string, string>>>,
  rule: ManifestRule,
): string | undefined {
  const operations = seen.get(rule.resourceType) ?? new Map<string, Map<string, string>>();
  seen.set(rule.resourceType, operations);
  const targets = operations.get(rule.operation) ?? new Map<string, string>();
  operations.set(rule.operation, targets);
  const earlier = targets.get(rule.target);
  if (earlier === undefined) targets.set(rule.target, rule.pointer);
  return earlier;
}

function readEntry(
  entry: JsonValue,
  path: PointerPath,
  environment: ManifestEnvironment,
  report: ManifestReport,
): ReadRule | undefined {
  if (typeof entry === "string") {
    report.fault(
      path,
      `${quoted(entry)} is text, and access is declared field by field`,
      insteadOfText(entry),
    );
    return undefined;
  }
  if (typeof entry !== "object" || entry === null || Array.isArray(entry)) {
    report.fault(path, "must be an object", `write ${ENTRY_FORM}`);
    return undefined;
  }
  const fields = entry as { readonly [key: string]: JsonValue };
  for (const key of Object.keys(fields)) {
    if ((ENTRY_KEYS as readonly string[]).includes(key)) continue;
    const advice = Object.hasOwn(KEY_ADVICE, key) ? KEY_ADVICE[key] : undefined;
    report.fault(
      [...path, key],
      `unknown key ${quoted(key)} in an access entry`,
      advice ?? `remove it; an entry has exactly ${EXACT_KEYS}`,
    );
  }
  const pair = readPair(fields, path, report);
  const declared = readDeclared(fields, path, report);
  if (pair === undefined || declared === undefined) return undefined;
  const read = readTarget(pair, declared, environment);
  if (!read.ok) {
    report.fault([...path, "target"], read.message, read.instead);
    return undefined;
  }
  const given = fieldOf(fields, "examples");
  const examples =
    given === undefined ? undefined : readExamples(given, pair, [...path, "examples"], environment, report);
  const rule = Object.freeze({
    ...pair,
    target: read.target,
    declared,
    pointer: pointerTo(path),
    ...(examples === undefined ? {} : { examples }),
  });
  return { rule, read };
}

type Fields = { readonly [key: string]: JsonValue };

function readPair(fields: Fields, path: PointerPath, report: ManifestReport): ResourceOperation | undefined {
  const resourceType = fieldOf(fields, "resource_type");
  const operation = fieldOf(fields, "operation");
  if (!isResourceType(resourceType)) {
    const isUrl = typeof resourceType === "string" && /^(?:urls?|https?|host)$/i.test(resourceType);
    report.fault(
      [...path, "resource_type"],
      resourceType === undefined ? "is missing" : `${shown(resourceType)} is no resource type`,
      isUrl
        ? 'a URL is a network target: write `"resource_type": "network"`'
        : `write one of ${RESOURCE_TYPES.join(", ")}`,
    );
  }
  const known = isResourceType(resourceType) ? [resourceType] : RESOURCE_TYPES;
  if (!known.some((type) => isOperationOf(type, operation))) {
    const allowed = [...new Set(known.flatMap((type): readonly string[] => OPERATIONS[type]))].join(", ");
    const of = isResourceType(resourceType) ? `an operation of ${resourceType}` : "an operation";
    const advice =
      typeof operation === "string" && Object.hasOwn(OPERATION_ADVICE, operation.toLowerCase())
        ? `${OPERATION_ADVICE[operation.toLowerCase()]}; `
        : "";
    report.fault(
      [...path, "operation"],
      operation === undefined ? "is missing" : `${shown(operation)} is not ${of}`,
      `${advice}allowed here: ${allowed}`,
    );
    return undefined;
  }
  return isResourceType(resourceType) ? ({ resourceType, operation } as ResourceOperation) : undefined;
}

function readDeclared(fields: Fields, path: PointerPath, report: ManifestReport): string | undefined {
  const target = fieldOf(fields, "target");
  if (typeof target === "string" && target !== "") return target;
  const message = target === undefined ? "is missing" : target === "" ? "is empty" : "must be text";
  report.fault(
    [...path, "target"],
    message,
    Array.isArray(target) ? "write one entry for each target" : "write a URL, a path or a program name",
  );
  return undefined;
}

function fieldOf(fields: Fields, key: string): JsonValue | undefined {
  return Object.hasOwn(fields, key) ? fields[key] : undefined;
}

function shown(value: JsonValue): string {
  return typeof value === "string"
    ? quoted(value)
    : `a value of type ${value === null ? "null" : typeof value}`;
}

/** What an entry of an old list, or an old joined key, would be today. */
function insteadOfText(text: string): string {
  const parts = text.split(":");
  const isJoined = isResourceType(parts[0]) && parts.length >= 3;
  const target = isJoined ? parts.slice(2).join(":") : text;
  const resourceType = isJoined
    ? parts[0]
    : /^[./~$]/.test(text) || (text.endsWith("/") && !text.includes("://"))
      ? "filesystem"
      : "network";
  const operation =
    resourceType === "network" ? "receive" : resourceType === "filesystem" ? "read" : "execute";
  return `write \`{"resource_type": "${resourceType}", "operation": "${operation}", "target": ${quotedJson(target)}}\`, with the operation that is meant`;
}

function quotedJson(text: string): string {
  return quoted(text).replace(/^`|`$/g, '"');
}
