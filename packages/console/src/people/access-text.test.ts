import { expect, it } from "vitest";
import { accessOf } from "./access-text.ts";

it("roles are what stands between commas, each once, and no organization is none", () => {
  expect(accessOf({ roles: " super, member ,super,,", organization: " " })).toEqual({
    roles: ["super", "member"],
    organizationId: null,
  });
});
