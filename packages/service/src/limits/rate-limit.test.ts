/** Limits, compared with a model that remembers everything. */
import { SUBJECT_TYPES, type Subject } from "@sallyport/contract";
import { describe, expect, it } from "vitest";
import { type Random, between, pick, prng } from "../testing/seeded-random.ts";
import { RequestLimits, type RequestLimitOptions } from "./rate-limit.ts";
import { TokenBuckets } from "./token-bucket.ts";

const subject = (name: string, type: Subject["type"] = "tool"): Subject => ({ type, name }) as Subject;

const OPTIONS = { burst: 3, perSecond: 2, subjectsMax: 8, pendingMax: 4, pendingTotalMax: 1000 };

function clocked(more: Partial<RequestLimitOptions> = {}) {
  const clock = { nowMs: 1_000_000 };
  const limits = new RequestLimits({ ...OPTIONS, nowMs: () => clock.nowMs, ...more });
  return { clock, limits };
}

/** A bucket per subject for ever, by the book. */
class Model {
  readonly #buckets = new Map<string, { tokens: number; atMs: number }>();
  readonly pending = new Map<string, number>();

  /** What is in the bucket now. */
  tokens(key: string, nowMs: number): number {
    const { burst, perSecond } = OPTIONS;
    const { tokens, atMs } = this.#buckets.get(key) ?? { tokens: burst, atMs: nowMs };
    return Math.min(burst, tokens + (Math.max(0, nowMs - atMs) / 1000) * perSecond);
  }

  take(key: string, nowMs: number): void {
    this.#buckets.set(key, { tokens: this.tokens(key, nowMs) - 1, atMs: nowMs });
  }
}

interface Play {
  readonly random: Random;
  readonly names: number;
  readonly pausesMs: readonly number[];
  readonly more: Partial<RequestLimitOptions>;
  readonly compare: (real: string, modelled: string, rated: number) => void;
}

/** Random requests and decisions. The model takes what was really admitted, and says what it would have admitted. */
function play({ random, names, pausesMs, more, compare }: Play): void {
  const { clock, limits } = clocked(more);
  const pendingMax = more.pendingMax ?? OPTIONS.pendingMax;
  const model = new Model();
  for (let step = 0; step < 250; step++) {
    clock.nowMs += pick(random, pausesMs);
    const who = subject(`s${between(random, 0, names - 1)}`, pick(random, ["tool", "agent"] as const));
    const key = JSON.stringify([who.type, who.name]);
    const open = model.pending.get(key) ?? 0;
    if (random() < 0.4) {
      limits.release(who);
      model.pending.set(key, Math.max(0, open - 1));
      continue;
    }
    const isRich = model.tokens(key, clock.nowMs) >= 1;
    const modelled = open >= pendingMax ? "pending_limit" : isRich ? "admitted" : "rate_limit";
    const real = limits.admit(who);
    compare(real, modelled, limits.rated);
    if (real === "admitted") {
      model.take(key, clock.nowMs);
      model.pending.set(key, open + 1);
    }
    expect(limits.pendingOf(who)).toBe(model.pending.get(key) ?? 0);
  }
}

describe("limits", () => {
  // WHY: quarters of a second, so that sums of parts are exact.
  it("are those of the model while there is room for every subject", () => {
    for (let seed = 0; seed < 200; seed++) {
      const pausesMs = [0, 0, 0, 250, 250, 500, 2000];
      const compare = (real: string, modelled: string) => expect(real).toBe(modelled);
      play({ random: prng(seed), names: 8, pausesMs, more: {}, compare });
    }
  });

  it("never grant more than a bucket kept for ever would, however many names there are", () => {
    const tally = { admitted: 0, refusedEarly: 0 };
    for (let seed = 0; seed < 300; seed++) {
      const compare = (real: string, modelled: string, rated: number) => {
        if (real === "admitted") {
          tally.admitted++;
          expect(modelled).toBe("admitted");
        } else if (modelled === "admitted") tally.refusedEarly++;
        expect(rated).toBeLessThanOrEqual(2 * 3);
      };
      const more = { pendingMax: 1000, subjectsMax: 3 };
      play({ random: prng(seed), names: 6, pausesMs: [0, 0, 0, 0, 250], more, compare });
    }
    expect(tally.admitted).toBeGreaterThan(1000);
    expect(tally.refusedEarly).toBeGreaterThan(1000);
  });

  it("hold a flood of new names to the buckets there are and one more", () => {
    const { limits } = clocked({ pendingTotalMax: 1_000_000 });
    let admitted = 0;
    for (let index = 0; index < 100_000; index++) {
      if (limits.admit(subject(`flood-${index}`)) === "admitted") admitted++;
    }
    expect(admitted).toBe(OPTIONS.subjectsMax + OPTIONS.burst);
    expect(limits.rated).toBe(OPTIONS.subjectsMax);
    expect(limits.admit(subject("bystander", "agent"))).toBe("admitted");
  });

  it("forget a bucket only once it is full again", () => {
    const { clock, limits } = clocked({ subjectsMax: 1 });
    for (let count = 0; count < 3; count++) expect(limits.admit(subject("first"))).toBe("admitted");
    for (let count = 0; count < 3; count++) expect(limits.admit(subject("second"))).toBe("admitted");
    expect(limits.admit(subject("second"))).toBe("rate_limit");
    expect(limits.admit(subject("first"))).toBe("rate_limit");
    clock.nowMs += 1_499;
    expect(limits.admit(subject("third"))).toBe("admitted");
    expect(limits.rated).toBe(1);
    clock.nowMs += 1;
    expect(limits.admit(subject("fourth"))).toBe("admitted");
    expect(limits.admit(subject("first"))).not.toBe("pending_limit");
  });

  it("bound the pending requests of a subject and of all, and give room back", () => {
    const { clock, limits } = clocked({ burst: 100, pendingTotalMax: 5 });
    for (let count = 0; count < 4; count++) expect(limits.admit(subject("a"))).toBe("admitted");
    expect(limits.admit(subject("a"))).toBe("pending_limit");
    expect(limits.admit(subject("b"))).toBe("admitted");
    expect(limits.admit(subject("c"))).toBe("total_limit");
    limits.release(subject("a"));
    expect(limits.admit(subject("c"))).toBe("admitted");
    limits.release(subject("never"));
    expect(limits.pendingTotal).toBe(5);
    limits.restore(subject("a"), 0);
    limits.restore(subject("d"), 2);
    expect([limits.pendingOf(subject("a")), limits.pendingOf(subject("d")), limits.pendingTotal]).toEqual([
      0, 2, 4,
    ]);
    clock.nowMs += 1;
    expect(limits.admitRepeat(subject("a"))).toBe("admitted");
    expect(limits.pendingTotal).toBe(4);
  });

  it("cost nothing where they refuse", () => {
    const { limits } = clocked({ pendingMax: 1 });
    expect(limits.admit(subject("a"))).toBe("admitted");
    for (let count = 0; count < 50; count++) expect(limits.admit(subject("a"))).toBe("pending_limit");
    limits.release(subject("a"));
    expect(limits.admit(subject("a"))).toBe("admitted");
    limits.release(subject("a"));
    expect(limits.admit(subject("a"))).toBe("admitted");
    limits.release(subject("a"));
    expect(limits.admit(subject("a"))).toBe("rate_limit");
  });

  it("keep subjects apart by type and by name, whatever the name is", () => {
    const { limits } = clocked({ pendingMax: 1 });
    for (const type of SUBJECT_TYPES) expect(limits.admit(subject("x", type))).toBe("admitted");
    for (const name of ["__proto__", "constructor", "tool", ""])
      expect(limits.admit(subject(name))).toBe("admitted");
  });

  it.each([
    ["back", -3_600_000, 0],
    ["forward by ten years", 315_360_000_000, OPTIONS.burst],
    ["to nothing", Number.NaN, 0],
  ])("survive a clock that goes %s", (_, byMs, tokens) => {
    const { clock, limits } = clocked({ pendingMax: 100 });
    const admit = () => limits.admit(subject("a")) === "admitted";
    while (admit());
    clock.nowMs += byMs;
    let count = 0;
    while (admit()) count++;
    expect(count).toBe(tokens);
  });

  it("refuse limits that are none", () => {
    for (const wrong of [
      { burst: 0 },
      { perSecond: 0 },
      { subjectsMax: 0 },
      { pendingMax: 0 },
      { burst: Number.NaN },
    ]) {
      expect(() => clocked(wrong)).toThrow(RangeError);
    }
    expect(() => new TokenBuckets({ ...OPTIONS, perSecond: Number.NaN, nowMs: () => 0 })).toThrow(
      /correct the limits/,
    );
  });
});
