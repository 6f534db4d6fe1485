import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SharedRun } from "./shared-run.ts";

/** Work that counts how many of it run at the same time. */
function counted(steps: () => number) {
  const seen = { running: 0, most: 0, begun: 0, failing: 0 };
  const shared = new SharedRun(async () => {
    const number = ++seen.begun;
    seen.running += 1;
    seen.most = Math.max(seen.most, seen.running);
    for (let step = steps(); step > 0; step--) await Promise.resolve();
    seen.running -= 1;
    if (number === seen.failing) throw new Error("a fault of the test");
  });
  return { seen, shared };
}

describe("a shared run", () => {
  it("is never two at once: whoever asks in the moment after one ends waits for the next", async () => {
    const { seen, shared } = counted(() => 3);
    const first = shared.run();
    const second = shared.run();
    await Promise.all([first.then(() => shared.run()), first.then(() => shared.run()), second]);
    expect(seen).toMatchObject({ most: 1, begun: 3 });
  });

  it("is never two at once, whoever asks when", async () => {
    const asks = fc.array(fc.record({ waits: fc.nat({ max: 6 }), again: fc.nat({ max: 3 }) }), {
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(asks, fc.nat({ max: 5 }), async (callers, steps) => {
        const { seen, shared } = counted(() => steps);
        await Promise.all(
          callers.map(async ({ waits, again }) => {
            for (let step = 0; step < waits; step++) await Promise.resolve();
            for (let round = 0; round <= again; round++) {
              const before = seen.begun;
              await shared.run();
              // What was begun before one asked is not enough: it may not have seen what one has seen.
              expect(seen.begun).toBeGreaterThan(before);
            }
          }),
        );
        expect(seen.most).toBeLessThanOrEqual(1);
      }),
      { numRuns: 300 },
    );
  });

  it("that fails fails for those who share it, and the next one is another", async () => {
    const { seen, shared } = counted(() => 2);
    seen.failing = 1;
    const first = shared.run();
    const second = shared.run();
    await expect(first).rejects.toThrow("a fault of the test");
    await second;
    await shared.idle();
    await turn();
    expect(seen).toMatchObject({ running: 0, begun: 2 });
  });
});
