import { ERROR_CODES } from "@sallyport/contract";
import { describe, expect, test } from "vitest";
import * as errors from "./errors.ts";

const MADE = [
  new errors.StoreUnavailableError("the disk is full: make room"),
  new errors.StoreOwnedError("/store.db", null),
  new errors.StoreConflictError("a row with this key exists: read it first"),
  new errors.StoreValueError("the text holds a NUL: remove it"),
  new errors.StoreUsageError("the store is closed: open it again"),
  new errors.StoreSchemaError(3, 2),
];

describe("errors of the store", () => {
  test("each class has a code of the project's table, and no two share one", () => {
    expect(MADE.map(({ name }) => name).toSorted()).toEqual(Object.keys(errors).toSorted());
    for (const { code } of MADE) expect(Object.keys(ERROR_CODES)).toContain(code);
    expect(new Set(MADE.map(({ code }) => code)).size).toBe(MADE.length);
  });
});
