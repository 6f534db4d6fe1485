import type { Approval, WireAccessRule } from "@sallyport/contract";
import type { EventView } from "@sallyport/contract/admin";
import { describe, expect, it } from "vitest";
import { declarationPatch, declaredUse } from "./declared-use.ts";

const rule = (resourceType: string, operation: string, target: string) =>
  ({ resourceType, operation, target }) as unknown as WireAccessRule;
const event = (resourceType: string, operation: string, target: string, code = "allowed_sandbox") =>
  ({ resourceType, operation, target, code }) as unknown as EventView;
const grant = (operation: string, target: string, match = "exact", scope = "permanent") =>
  ({ scope, match, resource: { type: "filesystem", operation, target } }) as unknown as Approval;

describe("declared against used", () => {
  it("counts what a declaration seems to have allowed, and nothing beside it", () => {
    const events = [
      event("filesystem", "read", "/srv/docs/a"),
      event("filesystem", "read", "/srv/documents/a"),
      event("filesystem", "modify", "/srv/docs/a"),
      event("filesystem", "read", "/srv/docs/b", "allowed_permanent"),
      event("network", "receive", "https://api.example.com/v1"),
      event("network", "receive", "http://api.example.com/v1"),
    ];
    const access = [
      rule("filesystem", "read", "/srv/docs/"),
      rule("network", "receive", "https://api.example.com"),
    ];
    expect(declaredUse(access, events).map(({ seen }) => seen)).toEqual([1, 1]);
  });

  it("suggests to declare what was approved permanently, and only that", () => {
    const grants = [
      grant("read", "/srv/docs", "directory"),
      grant("read", "/srv/one"),
      grant("read", "/srv/session", "exact", "session"),
    ];
    expect(JSON.parse(declarationPatch(grants, [rule("filesystem", "read", "/srv/one")]) ?? "")).toEqual([
      {
        op: "add",
        path: "/access/-",
        value: { resource_type: "filesystem", operation: "read", target: "/srv/docs/" },
      },
    ]);
    expect(declarationPatch([], [])).toBeNull();
  });
});
