import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { caseCount } from "./testing/case-count.ts";
import { prng } from "./testing/seeded-random.ts";
import { KeyTable } from "./key-table.ts";
import { type HashKey, hashEntry, hashKey, hashText } from "./seeded-hash.ts";

const SEED = [11, 22] as const;
const COUNT = caseCount(20_000);
const whole = (_tag: number, text: string): string => text;
const newTable = (): KeyTable => new KeyTable(SEED, whole);

const find = (table: KeyTable, owner: number, tag: number, port: number, text: string): unknown =>
  table.find(owner, tag, port, hashText(text, table.hashKey), text, 0, text.length, undefined);

/** Slots that one look-up looks at. */
function steps(table: KeyTable, text: string): number {
  const before = table.steps;
  find(table, 1, 0, 0, text);
  return table.steps - before;
}

/** Every text has the same hash. */
const blindTable = (): KeyTable => new KeyTable(SEED, () => "");
const findBlind = (table: KeyTable, owner: number, tag: number, port: number, text: string): unknown =>
  table.find(owner, tag, port, hashText("", table.hashKey), `<${text}>`, 1, text.length + 1, undefined);

describe("the table of keys", () => {
  it.each([
    ["behaves", newTable, find],
    ["with texts that all collide behaves", blindTable, findBlind],
  ])("%s like a list that is searched from its end", (_name, make, findIn) => {
    const key = fc.tuple(
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 0, max: 2 }),
      fc.integer({ min: 0, max: 1 }),
      fc.constantFrom("", "a", "b", "ab", "é"),
    );
    const step = fc.tuple(fc.constantFrom("insert", "insert", "remove"), key, fc.integer({ min: 0, max: 2 }));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (script) => {
        const table = make();
        let model: { key: string; value: number }[] = [];
        for (const [verb, [owner, tag, port, text], value] of script) {
          const modelKey = JSON.stringify([owner, tag, port, text]);
          if (verb === "insert") {
            table.insert(owner, tag, port, text, value);
            model.push({ key: modelKey, value });
          } else {
            const at = model.findLastIndex((entry) => entry.key === modelKey && entry.value === value);
            expect(table.remove(owner, tag, port, text, value)).toBe(at >= 0);
            model = model.filter((_, index) => index !== at);
          }
          expect(findIn(table, owner, tag, port, text)).toBe(
            model.findLast((entry) => entry.key === modelKey)?.value,
          );
        }
      }),
      { numRuns: Math.max(300, caseCount(2000)) },
    );
  });

  it("keeps every entry through growth, removal of most and growth again", () => {
    const table = newTable();
    for (let index = 0; index < COUNT; index++) table.insert(1, 0, 0, `t${index}`, index);
    for (let index = 0; index < COUNT; index++)
      if (index % 10 !== 0) expect(table.remove(1, 0, 0, `t${index}`, index)).toBe(true);
    for (let index = COUNT; index < COUNT * 2; index++) table.insert(1, 0, 0, `t${index}`, index);
    for (let index = 0; index < COUNT * 2; index++) {
      const expected = index < COUNT && index % 10 !== 0 ? undefined : index;
      expect(find(table, 1, 0, 0, `t${index}`)).toBe(expected);
    }
  });

  it.each([
    [8, 16],
    [9, 64],
    [32, 64],
    [33, 256],
  ])("has for %d keys %d slots", (count, slots) => {
    const table = newTable();
    for (let index = 0; index < count; index++) table.insert(1, 0, 0, `t${index}`, index);
    expect(table.room).toEqual({ slots, entries: count });
  });

  it("stays small however many keys pass through it", () => {
    const table = newTable();
    for (let index = 0; index < 3000; index++) {
      table.insert(1, 0, 0, `t${index}`, index);
      table.insert(1, 0, 0, `t${index}`, -index);
      expect(table.remove(1, 0, 0, `t${index}`, index)).toBe(true);
      expect(table.remove(1, 0, 0, `t${index}`, -index)).toBe(true);
    }
    expect(table.room.slots).toBeLessThanOrEqual(64);
    expect(table.room.entries).toBe(2);
  });

  it("counts keys and not values: what leaves a key behind leaves its slot", () => {
    const table = newTable();
    const insert = (text: string, value: number): void => table.insert(1, 0, 0, text, value);
    // Entry 0 comes first in one list, last in another and before another's last one.
    insert("first", 1);
    insert("first", 2);
    expect(table.remove(1, 0, 0, "first", 2)).toBe(true);
    insert("again", 1);
    expect(table.remove(1, 0, 0, "first", 1)).toBe(true);
    insert("again", 2);
    expect(table.remove(1, 0, 0, "again", 1)).toBe(true);
    for (let index = 0; index < 31; index++) for (const value of [1, 2, 3]) insert(`t${index}`, value);
    for (let index = 0; index < 31; index++) {
      for (const value of [3, 1]) expect(table.remove(1, 0, 0, `t${index}`, value)).toBe(true);
    }
    expect(table.room.slots).toBe(128);
    for (let index = 0; index < 33; index++) insert(`more${index}`, 1);
    expect(table.room.slots).toBe(512);
    expect(find(table, 1, 0, 0, "again")).toBe(2);
    for (let index = 0; index < 31; index++) expect(find(table, 1, 0, 0, `t${index}`)).toBe(2);
  });

  it("passes over values that are not accepted", () => {
    const table = newTable();
    for (const value of [1, 2, 3]) table.insert(1, 0, 0, "x", value);
    const findIf = (accept: (value: number) => boolean): unknown =>
      table.find(1, 0, 0, hashText("x", table.hashKey), "x", 0, 1, accept);
    expect(findIf((value) => value < 3)).toBe(2);
    expect(findIf(() => false)).toBeUndefined();
  });
});

/** Strings that collide under every polynomial hash modulo a power of two, whatever its base. */
function thueMorse(length: number, swapped: boolean): string {
  return Array.from({ length }, (_, index) => {
    let ones = 0;
    for (let rest = index; rest > 0; rest &= rest - 1) ones++;
    return (ones % 2 === 1) !== swapped ? "b" : "a";
  }).join("");
}

describe("hostile sets of keys", () => {
  it("collision set for polynomial hashes: costs no more than any other set", () => {
    const halves = [thueMorse(1024, false), thueMorse(1024, true)];
    const table = newTable();
    const texts = Array.from({ length: 256 }, (_, bits) =>
      Array.from({ length: 8 }, (_unused, bit) => halves[(bits >> bit) & 1] ?? "").join(""),
    );
    for (const text of texts) table.insert(1, 0, 0, text, text);
    for (const text of texts) expect(steps(table, text)).toBeLessThan(16);
    const hashes = new Set(texts.map((text) => hashText(text, table.hashKey)));
    expect(hashes.size).toBe(texts.length);
  });

  it("known key: somebody who can compute the hash makes the table take another one", () => {
    const table = newTable();
    const known: HashKey = hashKey(SEED, 0);
    expect(table.hashKey).toEqual(known);
    const texts: string[] = [];
    for (let index = 0; texts.length < 300; index++) {
      const hash = hashEntry(hashText(`x${index}`, known), 1, 0, 0, known);
      if ((hash & 0xfff) < 2) texts.push(`x${index}`);
    }
    let before = 0;
    for (const text of texts) {
      const { slots } = table.room;
      const isKnown = table.hashKey.start === known.start;
      table.insert(1, 0, 0, text, text);
      if (isKnown && table.hashKey.start !== known.start) before = slots;
      if (before > 0 && slots === before) expect(table.room.slots).toBe(2 * before);
    }
    expect(table.hashKey).not.toEqual(known);
    expect(before).toBeGreaterThan(0);
    for (const text of texts) {
      expect(find(table, 1, 0, 0, text)).toBe(text);
      expect(steps(table, text)).toBeLessThan(32);
    }
  });

  it("numbers that collide: owners, tags and ports are told apart though their hashes are equal", () => {
    const key = hashKey(SEED, 0);
    type Numbers = readonly [owner: number, tag: number, port: number];
    const makers: ((one: number, other: number) => Numbers)[] = [
      (one, other) => [one, other, 0],
      (one, other) => [one, 0, other],
      (one, other) => [1, one, other],
    ];
    for (const make of makers) {
      const seen = new Map<number, Numbers>();
      const pairs: [Numbers, Numbers][] = [];
      const random = prng(7);
      const number = (): number => Math.floor(random() * 2 ** 31);
      for (let round = 0; round < 300_000; round++) {
        const numbers = make(number(), number());
        const hash = hashEntry(hashText("x", key), ...numbers, key);
        const former = seen.get(hash);
        if (former !== undefined) pairs.push([former, numbers]);
        seen.set(hash, numbers);
      }
      expect(pairs.length).toBeGreaterThan(0);
      for (const [first, second] of pairs) {
        const table = newTable();
        table.insert(...first, "x", "first");
        expect(find(table, ...second, "x")).toBeUndefined();
        expect(table.remove(...second, "x", "first")).toBe(false);
        table.insert(...second, "x", "second");
        expect([find(table, ...first, "x"), find(table, ...second, "x")]).toEqual(["first", "second"]);
        expect(table.remove(...first, "x", "first")).toBe(true);
        expect([find(table, ...first, "x"), find(table, ...second, "x")]).toEqual([undefined, "second"]);
      }
    }
  });

  it("look-alikes: a hundred thousand keys that differ in one place cost what ten do", () => {
    const worst = (count: number): number => {
      const table = newTable();
      const text = (index: number): string => `/srv/${"a".repeat(100)}${String(index).padStart(8, "0")}`;
      for (let index = 0; index < count; index++) table.insert(1, 0, 0, text(index), index);
      let most = 0;
      for (let index = 0; index < count; index += Math.ceil(count / 1000))
        most = Math.max(most, steps(table, text(index)), steps(table, `${text(index)}x`));
      return most;
    };
    expect(worst(10)).toBeLessThan(16);
    expect(worst(caseCount(100_000))).toBeLessThan(64);
  });
});
