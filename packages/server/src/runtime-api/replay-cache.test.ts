import { describe, expect, it } from "vitest";
import { ReplayCache } from "./replay-cache.ts";

const WINDOW_MS = 60_000;

describe("the cache of proofs", () => {
  it("admits a proof once for each key", () => {
    const cache = new ReplayCache();
    expect(cache.admit("a", "p", WINDOW_MS, 0)).toBe("fresh");
    expect(cache.admit("a", "p", WINDOW_MS, 1)).toBe("replayed");
    expect(cache.admit("b", "p", WINDOW_MS, 1)).toBe("fresh");
  });

  it("refuses whoever fills the room, and forgets nothing that is still acceptable to make some", () => {
    const cache = new ReplayCache({ perKeyMax: 2, keysMax: 2 });
    for (const proof of ["p", "q"]) expect(cache.admit("a", proof, WINDOW_MS, 0)).toBe("fresh");
    expect(cache.admit("a", "r", WINDOW_MS, 0)).toBe("full");
    expect(cache.admit("a", "p", WINDOW_MS, 0)).toBe("replayed");
    expect(cache.admit("b", "p", WINDOW_MS, 0)).toBe("fresh");
    expect(cache.admit("c", "p", WINDOW_MS, 0)).toBe("full");
    expect(cache.admit("c", "p", 2 * WINDOW_MS, WINDOW_MS)).toBe("fresh");
    expect(cache.size).toBe(1);
  });

  it("refuses what it has forgotten when the clock is set back", () => {
    const cache = new ReplayCache();
    expect(cache.admit("a", "p", WINDOW_MS, 0)).toBe("fresh");
    expect(cache.admit("a", "q", 3 * WINDOW_MS, 2 * WINDOW_MS)).toBe("fresh");
    expect(cache.admit("a", "p", WINDOW_MS, 0)).toBe("replayed");
  });
});
