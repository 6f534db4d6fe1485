/**
 * The memory of a context by itself, against a list that is read from its end.
 */
import { type Access, RESOURCE_OPERATIONS } from "@sallyport/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Memo } from "./memo.ts";
import type { Question } from "./question.ts";
import { access } from "./testing/fixture-world.ts";
import { type Verdict, makeVerdict } from "./verdict.ts";

const ASKS = ["default", "explicit", "passive"] as const;
/** As in the file: how many targets one generation holds. */
const GENERATION = 8192;

const verdictOf = (index: number): Verdict => makeVerdict("denied_rule", "host_rule", { frame: index });
const read = (target: string, operation = "read"): Access =>
  access("filesystem", operation, target) as Access;

/** WHY: made by hand, since no two resource types share a spelling: the memory must not rely on that. */
const sameText = (pair: number, text: string): Access =>
  Object.freeze({ ...RESOURCE_OPERATIONS[pair], target: { text } }) as unknown as Access;

describe("the memory of a context", () => {
  it("gives what was kept for the same target, pair and way of asking, and nothing else", () => {
    const pair = fc.nat({ max: RESOURCE_OPERATIONS.length - 1 });
    const step = fc.record({ pair, text: fc.constantFrom("a", "b", "c"), ask: fc.constantFrom(...ASKS) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.boolean(), (steps, isKept) => {
        const memo = new Memo();
        const kept: { pair: number; text: string; ask: Question["ask"]; verdict: Verdict }[] = [];
        // The same object for the same access, as callers have that keep theirs, or a new one for each question.
        const accesses = new Map<string, Access>();
        const accessOf = (at: number, text: string): Access => {
          const made = (isKept ? accesses.get(`${at} ${text}`) : undefined) ?? sameText(at, text);
          accesses.set(`${at} ${text}`, made);
          return made;
        };
        for (const [index, { pair: at, text, ask }] of steps.entries()) {
          const known = kept.find((one) => one.pair === at && one.text === text && one.ask === ask);
          expect(memo.get(accessOf(at, text), ask)).toBe(known?.verdict);
          if (known !== undefined) continue;
          const verdict = verdictOf(index);
          memo.set(accessOf(at, text), ask, verdict);
          kept.push({ pair: at, text, ask, verdict });
        }
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    [GENERATION, true],
    [2 * GENERATION, true],
    [2 * GENERATION + 1, false],
  ])("after %d targets knows the first one: %s", (count, isKnown) => {
    const memo = new Memo();
    const verdict = verdictOf(0);
    for (let index = 0; index < count; index++) memo.set(read(`/data/${index}`), "default", verdict);
    expect(memo.get(read(`/data/${count - GENERATION}`), "default")).toBe(verdict);
    expect(memo.get(read("/data/0"), "default")).toBe(isKnown ? verdict : undefined);
  });

  it("brings what is asked again over into the young generation", () => {
    const memo = new Memo();
    const often = read("/data/often");
    const verdict = verdictOf(1);
    memo.set(often, "default", verdict);
    for (let index = 0; index < 4 * GENERATION; index++) {
      memo.set(read(`/data/${index}`), "default", verdictOf(2));
      if (index % (GENERATION / 2) === 0) expect(memo.get(often, "default")).toBe(verdict);
    }
    expect(memo.get(often, "explicit")).toBeUndefined();
    expect(memo.get(read("/data/often", "delete"), "default")).toBeUndefined();
  });

  it("forgets everything at once, the old generation too", () => {
    const memo = new Memo();
    const targets = Array.from({ length: GENERATION + 1 }, (_, index) => read(`/data/${index}`));
    for (const target of targets) memo.set(target, "default", verdictOf(0));
    memo.clear();
    expect(targets.some((target) => memo.get(target, "default") !== undefined)).toBe(false);
  });
});
