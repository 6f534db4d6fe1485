import { describe, expect, it } from "vitest";
import { IMPACTS, destructiveFacts } from "./destructive.ts";
import { RESOURCE_OPERATIONS } from "./resource.ts";

describe("destructive facts", () => {
  it("call modify, delete, execute and send destructive, and nothing else that finds its place empty", () => {
    const destructive = RESOURCE_OPERATIONS.filter((pair) => destructiveFacts(pair).destructive);
    expect(destructive.map(({ resourceType, operation }) => `${resourceType} ${operation}`)).toEqual([
      "network send",
      "filesystem modify",
      "filesystem delete",
      "filesystem execute",
      "system_dependency execute",
    ]);
  });

  it("call a creation destructive only over something that exists", () => {
    const create = { resourceType: "filesystem", operation: "create" } as const;
    expect(destructiveFacts(create, { exists: true }).destructive).toBe(true);
    expect(destructiveFacts(create, { exists: false }).destructive).toBe(false);
    expect(destructiveFacts(create).destructive).toBe(false);
  });

  it("have words for every legal pair and for nothing else", () => {
    const pairs = Object.entries(IMPACTS).flatMap(([resourceType, operations]) =>
      Object.keys(operations).map((operation) => ({ resourceType, operation })),
    );
    expect(pairs).toEqual(RESOURCE_OPERATIONS);
    for (const pair of RESOURCE_OPERATIONS) {
      const { impactScope, rollbackAdvice } = destructiveFacts(pair);
      for (const words of [impactScope, rollbackAdvice]) expect(words).toMatch(/^[a-z].{10,}[^.]$/);
    }
  });

  it("assume the worst for an operation that does not exist", () => {
    const hostile = { resourceType: "filesystem", operation: "constructor" } as never;
    expect(destructiveFacts(hostile).destructive).toBe(true);
  });
});
