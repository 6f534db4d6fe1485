/**
 * A wire type: one schema of snake_case JSON from which the camelCase TypeScript type, the parser and the
 * formatter follow. Trusts nothing that is parsed. `parse` never throws; `format` trusts the type of its argument.
 */
import { z } from "zod";
import { type CamelCased, camelKey, snakeKey, withKeys } from "./camel-case.ts";
import { type PointerPath, pointerTo, quoted } from "./json-pointer.ts";
import { FAULTS_MAX, type PointedFault, snapshotJson } from "./json-value.ts";

export type WireResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly faults: readonly PointedFault[] };

export interface Wire<Schema extends z.ZodType> {
  readonly schema: Schema;
  /** Every fault, not only the first. The value is frozen all the way down. */
  readonly parse: (value: unknown) => WireResult<CamelCased<z.output<Schema>>>;
  readonly format: (value: CamelCased<z.output<Schema>>) => z.output<Schema>;
}

/** The camelCase TypeScript type of a wire type. */
export type WireType<W extends { readonly schema: z.ZodType }> = CamelCased<z.output<W["schema"]>>;

export function defineWire<Schema extends z.ZodType>(schema: Schema): Wire<Schema> {
  return Object.freeze({
    schema,
    parse: (value: unknown): WireResult<CamelCased<z.output<Schema>>> => {
      const snapshot = snapshotJson(value);
      if (!snapshot.ok) return snapshot;
      const parsed = schema.safeParse(snapshot.value, { error: issueMessage });
      if (!parsed.success) return { ok: false, faults: issueFaults(parsed.error.issues) };
      return { ok: true, value: withKeys(parsed.data, camelKey) as CamelCased<z.output<Schema>> };
    },
    format: (value: CamelCased<z.output<Schema>>) => withKeys(value, snakeKey) as z.output<Schema>,
  });
}

/** The faults of a schema, each with the pointer to the value, or to the key where a key is too much. */
export function issueFaults(issues: readonly z.core.$ZodIssue[]): readonly PointedFault[] {
  const faults = issues.flatMap((issue) => {
    const path = issue.path as PointerPath;
    return issue.code === "unrecognized_keys"
      ? issue.keys.map((key) => ({ pointer: pointerTo([...path, key]), message: unknownKey(key) }))
      : [{ pointer: pointerTo(path), message: issue.message }];
  });
  const surplus = faults.length - FAULTS_MAX;
  if (surplus <= 0) return faults;
  return [
    ...faults.slice(0, FAULTS_MAX),
    { pointer: "", message: `has ${surplus} more faults: correct these first` },
  ];
}

const unknownKey = (key: string): string => `unknown key ${quoted(key)}: remove it`;

/** WHY: the library's own messages begin with a capital and do not say what to do. */
export function issueMessage(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined && issue.code !== "unrecognized_keys") return "is missing: add it";
  switch (issue.code) {
    case "invalid_type":
      return `must be ${withArticle(issue.expected)}`;
    case "invalid_value":
      return `must be ${issue.values.length === 1 ? "" : "one of "}${issue.values.map(String).join(", ")}`;
    case "too_small":
      return `must have at least ${issue.minimum} ${unitOf(issue.origin)}`.trimEnd();
    case "too_big":
      return `must have at most ${issue.maximum} ${unitOf(issue.origin)}`.trimEnd();
    case "invalid_union": {
      const options = (issue as { readonly options?: readonly unknown[] }).options;
      return options === undefined
        ? "has none of the forms that are known here"
        : `must be one of ${options.join(", ")}`;
    }
    case "unrecognized_keys":
      return `unknown keys ${issue.keys.map(quoted).join(", ")}: remove them`;
    case "invalid_format":
    case "not_multiple_of":
    case "invalid_key":
    case "invalid_element":
    case "custom":
      return "does not have the form that is asked for";
  }
}

function withArticle(type: string): string {
  if (type === "null") return "null";
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function unitOf(origin: string): string {
  if (origin === "string") return "characters";
  return origin === "array" ? "elements" : "as its value";
}
