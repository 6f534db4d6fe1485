/**
 * A JSON Schema validator for the part of draft 2020-12 that the published schemas use. It throws on a keyword that
 * it does not know, so that no part of a schema goes unchecked.
 */
type Schema = Readonly<Record<string, unknown>> | boolean;
type Check = (operand: never, value: unknown, schema: Readonly<Record<string, unknown>>) => boolean;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: isObject,
  array: (value) => Array.isArray(value),
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
};

const ignored: Check = () => true;

const CHECKS: Readonly<Record<string, Check>> = {
  $schema: ignored,
  $id: ignored,
  title: ignored,
  description: ignored,
  format: ignored,
  type: (types: string | readonly string[], value) =>
    [types].flat().some((type) => TYPES[type]?.(value) === true),
  const: (constant: unknown, value) => value === constant,
  enum: (values: readonly unknown[], value) => values.includes(value),
  not: (schema: Schema, value) => !isSchemaValid(schema, value),
  anyOf: (schemas: readonly Schema[], value) => schemas.some((schema) => isSchemaValid(schema, value)),
  oneOf: (schemas: readonly Schema[], value) =>
    schemas.filter((schema) => isSchemaValid(schema, value)).length === 1,
  allOf: (schemas: readonly Schema[], value) => schemas.every((schema) => isSchemaValid(schema, value)),
  pattern: (pattern: string, value) => typeof value !== "string" || new RegExp(pattern, "u").test(value),
  minLength: (length: number, value) => typeof value !== "string" || Array.from(value).length >= length,
  maxLength: (length: number, value) => typeof value !== "string" || Array.from(value).length <= length,
  minimum: (minimum: number, value) => typeof value !== "number" || value >= minimum,
  maximum: (maximum: number, value) => typeof value !== "number" || value <= maximum,
  items: (schema: Schema, value) =>
    !Array.isArray(value) || value.every((element) => isSchemaValid(schema, element)),
  minItems: (length: number, value) => !Array.isArray(value) || value.length >= length,
  maxItems: (length: number, value) => !Array.isArray(value) || value.length <= length,
  uniqueItems: (_: true, value) =>
    !Array.isArray(value) || new Set(value.map((element) => JSON.stringify(element))).size === value.length,
  required: (keys: readonly string[], value) =>
    !isObject(value) || keys.every((key) => Object.hasOwn(value, key)),
  properties: (properties: Readonly<Record<string, Schema>>, value) =>
    !isObject(value) ||
    Object.entries(properties).every(
      ([key, schema]) => !Object.hasOwn(value, key) || isSchemaValid(schema, value[key]),
    ),
  additionalProperties: (rest: Schema, value, { properties }) =>
    !isObject(value) ||
    Object.keys(value).every(
      (key) => Object.hasOwn(properties as object, key) || isSchemaValid(rest, value[key]),
    ),
};

export function isSchemaValid(schema: Schema | object, value: unknown): boolean {
  if (typeof schema === "boolean") return schema;
  return Object.entries(schema).every(([keyword, operand]) => {
    const check = CHECKS[keyword];
    if (check === undefined) throw new Error(`the keyword \`${keyword}\` is not known: teach the validator`);
    return check(operand as never, value, schema as Readonly<Record<string, unknown>>);
  });
}
