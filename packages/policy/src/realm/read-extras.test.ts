import { whatwgUrl } from "@sallyport/contract";
import { expect, test } from "vitest";
import { AccessCache } from "./access-cache.ts";
import { readExtras } from "./read-extras.ts";

const read = (extras: unknown) => readExtras(JSON.stringify(extras), whatwgUrl);

test("extras are read into the parts of a question", () => {
  const extras = {
    address: "::ffff:192.0.2.1",
    aliases: ["A.example"],
    named: ["tool", "t"],
    hook: ["deny", "h"],
    classifier: ["ask", "c"],
    twin: [8, "FFmpeg"],
  };
  expect(read(extras)).toEqual({
    address: "192.0.2.1",
    aliases: ["a.example"],
    named: { type: "tool", name: "t" },
    hook: { answer: "deny", ref: "h" },
    classifier: { answer: "ask", ref: "c" },
    twin: expect.objectContaining({ resourceType: "system_dependency", operation: "execute" }),
  });
});

test("a twin that no rule could name is none", () => {
  expect(read({ twin: [8, "../x"] })).toEqual({ twin: undefined });
});

test("anything else is refused rather than left out", () => {
  const faults: unknown[] = [
    { unknown: 1 },
    { __proto__x: 1 },
    { address: "" },
    { address: 1 },
    { aliases: "a" },
    { aliases: [""] },
    { twin: [99, "x"] },
    { twin: "x" },
    { named: ["tool"] },
    { named: [1, 2] },
    { hook: ["maybe", "h"] },
    { hook: ["allow", 1] },
    { classifier: {} },
  ];
  for (const extras of faults) expect(() => read(extras), JSON.stringify(extras)).toThrow(TypeError);
  for (const text of ["{", '{"__proto__":{"hook":["allow","h"]}}', "null"])
    expect(() => readExtras(text, whatwgUrl), text).toThrow();
});

test("a target is parsed once per pair, and its fault is kept as well", () => {
  let parses = 0;
  const cache = new AccessCache((text) => (parses++, whatwgUrl(text)));
  expect(cache.get(0, "https://example.com/")).toBe(cache.get(0, "https://example.com/"));
  expect(cache.get(0, "http://[")).toBe(cache.get(0, "http://["));
  expect(parses).toBe(2);
  expect(cache.get(1, "https://example.com/")).toMatchObject({ operation: "receive" });
  for (const pair of [-1, 9, 0.5, NaN])
    expect(cache.get(pair, "https://example.com/")).toMatchObject({ code: "invalid_operation" });
});

test("old targets make room for new ones and are still parsed alike", () => {
  const cache = new AccessCache(whatwgUrl);
  for (let index = 0; index < 10_000; index++) cache.get(3, `/f${index}`);
  expect(cache.get(3, "/f0")).toMatchObject({ target: { text: "/f0" } });
  const long = `/${"a".repeat(2000)}`;
  expect(cache.get(3, long)).not.toBe(cache.get(3, long));
});
