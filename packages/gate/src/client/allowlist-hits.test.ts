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
    ["192.0.2.1", 1],
    ["192.0.2.2", 1],
  ]);
  expect(told(one, words({ address: "192.0.2.1", aliases: ["other.example.com"] }))).toHaveLength(2);
  expect(told(one, words({ address: "192.0.2.1" }))).toHaveLength(2);
});

it("requests after one to another address are one entry with their number, at once", () => {
  const one = words({ address: "192.0.2.1" });
  const next = words({ address: "192.0.2.2" });
  expect(told(one, one, next, next, next)).toEqual([
    ["192.0.2.1", 2],
    ["192.0.2.2", 3],
  ]);
  expect(told(one, next, one)).toEqual([
    ["192.0.2.1", 1],
    ["192.0.2.2", 1],
    ["192.0.2.1", 1],
  ]);
});

it("a program with its other name is an entry of its own each time", () => {
  const twin = { resourceType: "filesystem", operation: "execute", target: "/bin/true" };
  const program = words({ resourceType: "system_dependency", operation: "execute", target: "true", twin });
  expect(told(program, program)).toHaveLength(2);
});

it("hits that come by turns, in both ways of telling them, are counted for whom they were, and what", () => {
  const events: ChildEvent[] = [];
  const all = new AllowlistHits((batch) => void events.push(...batch));
  const one = words({});
  const others = [{ type: "tool", name: "demo" }] as const;
  for (let time = 0; time < 3; time++) {
    all.again(one);
    all.again(one);
    all.count(others, "network", "receive", one.target, one.target);
    all.count(others, "network", "receive", one.target, one.target);
    all.count(undefined, "network", "connect", one.target, one.target);
    all.count(undefined, "filesystem", "receive", one.target, one.target);
    all.count(undefined, "network", "receive", "http://api.example.com/b", "");
  }
  all.flush();
  all.again(one);
  all.flush();
  const found = events.map(({ words: its, ...event }) => [
    its.hosted?.[0]?.name ?? "itself",
    its.resourceType,
    its.operation,
    its.target.slice(-2),
    "count" in event ? event.count : 0,
  ]);
  expect(found).toEqual([
    ["itself", "network", "receive", "/a", 6],
    ["itself", "network", "receive", "/b", 3],
    ["itself", "network", "connect", "/a", 3],
    ["itself", "filesystem", "receive", "/a", 3],
    ["demo", "network", "receive", "/a", 6],
    ["itself", "network", "receive", "/a", 1],
  ]);
});
