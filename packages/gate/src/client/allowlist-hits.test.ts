import { expect, it } from "vitest";
import type { AskWords, ChildEvent } from "../protocol/message.ts";
import { AllowlistHits } from "./allowlist-hits.ts";

const words = (more: Partial<AskWords>): AskWords => ({
  resourceType: "network",
  operation: "receive",
  target: "http://api.example.com/a",
  enforced: true,
  ...more,
});

/** What is told of these hits, with how often. */
function told(...hits: readonly AskWords[]): readonly (readonly [string | undefined, number])[] {
  const events: ChildEvent[] = [];
  const all = new AllowlistHits((batch) => void events.push(...batch));
  for (const hit of hits) all.add(hit);
  all.flush();
  return events.map((event) => [event.words.address, event.kind === "allowed" ? (event.count ?? 1) : 0]);
}

it("equal requests on one connection are one entry with their number", () => {
  const one = words({ address: "192.0.2.1", aliases: ["api.example.com"] });
  const again = words({ address: "192.0.2.1", aliases: ["api.example.com"] });
  expect(told(one, again, again)).toEqual([["192.0.2.1", 3]]);
});

it("a request to another address, or to one with other names, is an entry of its own", () => {
  const one = words({ address: "192.0.2.1", aliases: ["api.example.com"] });
  expect(told(one, words({ address: "192.0.2.2", aliases: ["api.example.com"] }))).toEqual([
    ["192.0.2.2", 1],
    ["192.0.2.1", 1],
  ]);
  expect(told(one, words({ address: "192.0.2.1", aliases: ["other.example.com"] }))).toHaveLength(2);
  expect(told(one, words({ address: "192.0.2.1" }))).toHaveLength(2);
});

it("a program with its other name is an entry of its own each time", () => {
  const twin = { resourceType: "filesystem", operation: "execute", target: "/bin/true" };
  const program = words({ resourceType: "system_dependency", operation: "execute", target: "true", twin });
  expect(told(program, program)).toHaveLength(2);
});
