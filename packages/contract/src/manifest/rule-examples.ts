/**
 * Examples inside an access entry: targets that the entry is meant to match, and targets that the list must not match.
 * Read here into accesses; whether they hold is asked of the policy engine when the manifest is loaded.
 * Must never guess: an example that is no target is a fault, in either list.
 */
import { type Access, parseAccess } from "../access.ts";
import type { ResourceOperation } from "../resource.ts";
import { type PointerPath, pointerTo, quoted } from "../wire/json-pointer.ts";
import type { JsonValue } from "../wire/json-value.ts";
import { expandPath } from "./declared-path.ts";
import type { ManifestEnvironment, RuleExample, RuleExamples } from "./manifest.ts";
import type { ManifestReport } from "./manifest-report.ts";
import { EXAMPLES_MAX } from "./manifest-schema.ts";

const EXAMPLES_FORM =
  '`{"match": ["https://api.example.com/v1/reports"], "no_match": ["https://api.example.com/admin"]}`';
const LISTS = ["match", "no_match"] as const;

export function readExamples(
  value: JsonValue,
  pair: ResourceOperation,
  path: PointerPath,
  environment: ManifestEnvironment,
  report: ManifestReport,
): RuleExamples | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    report.fault(path, "must be an object", `write ${EXAMPLES_FORM}`);
    return undefined;
  }
  const fields = value as { readonly [key: string]: JsonValue };
  for (const key of Object.keys(fields)) {
    if ((LISTS as readonly string[]).includes(key)) continue;
    report.fault(
      [...path, key],
      `unknown key ${quoted(key)} in \`examples\``,
      "remove it; examples are listed under `match` and `no_match`",
    );
  }
  const read = (list: (typeof LISTS)[number]): readonly RuleExample[] =>
    Object.hasOwn(fields, list)
      ? readList(fields[list] as JsonValue, pair, [...path, list], environment, report)
      : [];
  return Object.freeze({ match: read("match"), noMatch: read("no_match") });
}

function readList(
  value: JsonValue,
  pair: ResourceOperation,
  path: PointerPath,
  environment: ManifestEnvironment,
  report: ManifestReport,
): readonly RuleExample[] {
  if (!Array.isArray(value)) {
    report.fault(path, "must be a list of targets", `write ${EXAMPLES_FORM}`);
    return [];
  }
  const listed = value as readonly JsonValue[];
  if (listed.length > EXAMPLES_MAX) {
    report.fault(path, `holds more than ${EXAMPLES_MAX} examples`, "keep those that say the most");
    return [];
  }
  const examples: RuleExample[] = [];
  for (const [index, target] of listed.entries()) {
    const read = readExample(target, pair, environment);
    if ("message" in read) report.fault([...path, index], read.message, read.instead);
    else
      examples.push(
        Object.freeze({ ...read, declared: target as string, pointer: pointerTo([...path, index]) }),
      );
  }
  return Object.freeze(examples);
}

type ReadExample = { readonly access: Access } | { readonly message: string; readonly instead: string };

function readExample(
  target: JsonValue,
  pair: ResourceOperation,
  environment: ManifestEnvironment,
): ReadExample {
  if (typeof target !== "string" || target === "")
    return { message: "must be a target", instead: "write the target as text" };
  let text = target;
  if (pair.resourceType === "filesystem") {
    const expanded = expandPath(target, environment);
    if (!expanded.ok) return expanded;
    text = expanded.target;
  }
  const parsed = parseAccess({ ...pair, target: text }, environment.parseUrl);
  if (parsed.ok) return { access: parsed.value };
  return {
    message: `${quoted(target)} is no target: ${parsed.message}`,
    instead: "write a target that a program could ask for; what is none is refused everywhere",
  };
}
