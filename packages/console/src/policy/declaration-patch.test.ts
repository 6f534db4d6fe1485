import type { Approval, WireAccessRule } from "@sallyport/contract";
import { expect, it } from "vitest";
import { declarationPatch } from "./declaration-patch.ts";

const rule = (resourceType: string, operation: string, target: string) =>
  ({ resourceType, operation, target }) as unknown as WireAccessRule;
const grant = (operation: string, target: string, match = "exact", scope = "permanent") =>
  ({ scope, match, resource: { type: "filesystem", operation, target } }) as unknown as Approval;

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
