import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ADMIN_QUERIES, type AdminQueryName, formatAdminQuery, parseAdminQuery } from "./admin-query.ts";

const text = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 40 })
  .filter((given) => !given.includes("\0"));
const principal = fc.oneof(
  fc.maxSafeInteger(),
  text,
  fc.maxSafeInteger().map(String),
  fc.constantFrom(null, "null", '"', '"21"', "-0", "007"),
);

describe("a query of the administration API", () => {
  it("comes back as it was meant, whatever it looks like", () => {
    fc.assert(
      fc.property(principal, principal, text, (userId, organizationId, sessionKey) => {
        const query = { userId, organizationId, sessionKey };
        const parsed = parseAdminQuery("requests", formatAdminQuery(query));
        expect(parsed).toEqual({ ok: true, value: query });
      }),
    );
  });

  it("keeps the user 21 and the user `21` apart", () => {
    expect(formatAdminQuery({ userId: 21 })).toEqual([["user_id", "21"]]);
    expect(formatAdminQuery({ userId: "21" })).toEqual([["user_id", '"21"']]);
    expect(formatAdminQuery({ userId: null })).toEqual([["user_id", "null"]]);
    expect(formatAdminQuery({ userId: undefined })).toEqual([]);
  });

  it.each([
    ["requests", "nonsense", "1", "unknown filter"],
    ["requests", "__proto__", "1", "unknown filter"],
    ["requests", "status", "open", "must be one of pending"],
    ["requests", "operation", "url", "must be one of"],
    ["requests", "limit", "0", "must be a whole number from 1 to 500"],
    ["requests", "limit", "1e2", "must be a whole number"],
    ["requests", "user_id", "9007199254740993", "kept exactly"],
    ["requests", "user_id", '"unclosed', "must be a text"],
    ["requests", "user_id", '"\\u0000"', "must be a text"],
    ["requests", "session_key", "\0", "cannot be kept"],
    ["requests", "session_key", "\ud800", "cannot be kept"],
    ["denials", "session_key", "s", "unknown filter"],
    ["stats", "bucket_ms", "1", "must be a whole number"],
  ] as const)("%s refuses %s=%j: %s", (call, name, value, message) => {
    const parsed = parseAdminQuery(call, [[name, value]]);
    expect(parsed.ok).toBe(false);
    if (!parsed.ok) expect(parsed.faults[0]?.message).toContain(message);
  });

  it("refuses what is given twice: it could be read either way", () => {
    const twice = [
      ["user_id", "1"],
      ["user_id", "2"],
    ] as const;
    expect(parseAdminQuery("requests", twice)).toMatchObject({
      ok: false,
      faults: [{ pointer: "/user_id" }],
    });
  });

  it("has the page beside every identity field", () => {
    const lists: readonly AdminQueryName[] = ["requests", "approvals", "denials", "events"];
    const fields = ["subject_type", "subject_name", "resource_type", "operation", "target"];
    for (const list of lists)
      expect(Object.keys(ADMIN_QUERIES[list])).toEqual(
        expect.arrayContaining([...fields, "limit", "after", "order"]),
      );
  });
});
