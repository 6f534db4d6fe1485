/* oxlint-disable typescript/unbound-method, no-extend-native -- the attack is the point */
import type { Host } from "@sallyport/contract";
import { expect, test } from "vitest";
import { capturedUrl } from "./captured-url.ts";
import { NAME_LIFE_MS, NameCache, resolveNames } from "./name-cache.ts";

const host = (text: string) => text as Host;
const hosts = (...texts: string[]) => texts.map(host);

test("an address has the names that resolved to it within the last minute", () => {
  const cache = new NameCache();
  cache.record(host("a.example"), hosts("192.0.2.1", "[2001:db8::1]"), 1000);
  cache.record(host("b.example"), hosts("192.0.2.1"), 2000);
  expect(cache.namesFor(host("192.0.2.1"), 2000)).toEqual(["a.example", "b.example"]);
  expect(cache.namesFor(host("[2001:db8::1]"), 2000)).toEqual(["a.example"]);
  expect(cache.namesFor(host("192.0.2.2"), 2000)).toEqual([]);
  expect(cache.namesFor(host("192.0.2.1"), 1000 + NAME_LIFE_MS)).toEqual(["b.example"]);
  expect(cache.namesFor(host("192.0.2.1"), 2000 + NAME_LIFE_MS)).toEqual([]);
});

test("a clock that was set back makes no answer young again", () => {
  const cache = new NameCache();
  cache.record(host("a.example"), hosts("192.0.2.1"), 100_000);
  expect(cache.namesFor(host("192.0.2.1"), 99_999)).toEqual([]);
});

test("a new answer takes the place of the old one", () => {
  const cache = new NameCache();
  cache.record(host("a.example"), hosts("192.0.2.1"), 0);
  cache.record(host("a.example"), hosts("192.0.2.2"), 1);
  expect(cache.namesFor(host("192.0.2.1"), 1)).toEqual([]);
  expect(cache.namesFor(host("192.0.2.2"), 1)).toEqual(["a.example"]);
  cache.record(host("a.example"), [], 2);
  expect(cache.namesFor(host("192.0.2.2"), 2)).toEqual([]);
  expect(cache.size).toBe(0);
});

test("an address is known to have names from the first answer on, and until the last one is replaced", () => {
  const cache = new NameCache();
  expect(cache.isNamed(host("192.0.2.1"))).toBe(false);
  cache.record(host("a.example"), hosts("192.0.2.1"), 0);
  cache.record(host("b.example"), hosts("192.0.2.1"), 0);
  expect(cache.isNamed(host("192.0.2.1"))).toBe(true);
  expect(cache.isNamed(host("192.0.2.2"))).toBe(false);
  cache.record(host("a.example"), hosts("192.0.2.2"), 1);
  expect(cache.isNamed(host("192.0.2.1"))).toBe(true);
  cache.record(host("b.example"), [], 2);
  expect(cache.isNamed(host("192.0.2.1"))).toBe(false);
});

test("only names have addresses, and only addresses count", () => {
  const cache = new NameCache();
  cache.record(host("192.0.2.9"), hosts("192.0.2.1"), 0);
  cache.record(host("[2001:db8::9]"), hosts("192.0.2.1"), 0);
  cache.record(host("a.example"), hosts("b.example", "host1", "1host"), 0);
  expect(cache.size).toBe(0);
  cache.record(host("host1"), hosts("192.0.2.1"), 0);
  expect(cache.namesFor(host("192.0.2.1"), 0)).toEqual(["host1"]);
});

test("at most 4096 names are kept and the oldest goes first", () => {
  const cache = new NameCache();
  for (let index = 0; index < 4097; index++)
    cache.record(host(`n${index}.example`), hosts("192.0.2.1"), index);
  expect(cache.size).toBe(4096);
  const names = cache.namesFor(host("192.0.2.1"), 4097);
  expect(names).toHaveLength(4096);
  expect(names).not.toContain("n0.example");
  expect(names[0]).toBe("n1.example");
});

test("at most 64 addresses are kept for a name", () => {
  const cache = new NameCache();
  const many = Array.from({ length: 65 }, (_, index) => host(`192.0.2.${index}`));
  cache.record(host("a.example"), many, 0);
  expect(cache.namesFor(host("192.0.2.63"), 0)).toEqual(["a.example"]);
  expect(cache.namesFor(host("192.0.2.64"), 0)).toEqual([]);
});

test("replaced built-ins neither see nor change what is kept", () => {
  const cache = new NameCache();
  const addresses = hosts("192.0.2.1");
  const saved = { get: Map.prototype.get, set: Map.prototype.set, charCodeAt: String.prototype.charCodeAt };
  let names: readonly Host[];
  let seen = 0;
  try {
    const hostile = () => (seen++, host("forged.example")) as never;
    Object.assign(Map.prototype, { get: hostile, set: hostile });
    Object.assign(String.prototype, { charCodeAt: hostile });
    Object.defineProperty(Array.prototype, "0", { configurable: true, set: hostile, get: hostile });
    cache.record(host("a.example"), addresses, 0);
    names = cache.namesFor(host("192.0.2.1"), 0);
  } finally {
    Reflect.deleteProperty(Array.prototype, "0");
    Object.assign(Map.prototype, { get: saved.get, set: saved.set });
    Object.assign(String.prototype, { charCodeAt: saved.charCodeAt });
  }
  expect({ names, seen }).toEqual({ names: ["a.example"], seen: 0 });
});

test("at most eight names are looked up, each once, and addresses are never looked up", async () => {
  const asked: string[] = [];
  const resolver = async (name: Host) => {
    asked.push(name);
    return ["192.0.2.1"];
  };
  const names = [
    ...hosts("192.0.2.5", "n0.example"),
    ...Array.from({ length: 20 }, (_, index) => host(`n${index}.example`)),
  ];
  const answers = await resolveNames(names, resolver, { parseUrl: capturedUrl });
  expect(asked).toEqual(Array.from({ length: 8 }, (_, index) => `n${index}.example`));
  expect(answers).toHaveLength(8);
  await resolveNames(names, resolver, { parseUrl: capturedUrl, limit: 2 });
  expect(asked).toHaveLength(10);
});

test("a look-up that fails, or answers with what is no address, gives nothing", async () => {
  const answers: Record<string, () => Promise<readonly string[]>> = {
    "rejects.example": () => Promise.reject(new Error("no such name")),
    "throws.example": () => {
      throw new Error("broken");
    },
    "odd.example": () => Promise.resolve(["other.example", "", "fe80::1%eth0", 3 as unknown as string]),
    "none.example": () => Promise.resolve(undefined as unknown as string[]),
    "good.example": () => Promise.resolve(["::ffff:192.0.2.1", "2001:DB8::1"]),
  };
  const found = await resolveNames(hosts(...Object.keys(answers)), (name) => answers[name]!(), {
    parseUrl: capturedUrl,
  });
  expect(found).toEqual([{ name: "good.example", addresses: ["192.0.2.1", "[2001:db8::1]"] }]);
});
