/** What a subject hands back is its code: whatever runs of it when the host takes the result runs as the subject. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ADMIN, type Fixture, MEMBER, TOOL, openFixture } from "./testing/sallyport-fixture.ts";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

type Seen = (string | undefined)[];
const active = () => fixture.sdk.permission.facts()?.subjectChain.at(-1)?.subject.name;

/** Each result tells who acts whenever a part of it is read or called. */
const POISONED: readonly (readonly [string, (seen: Seen) => unknown])[] = [
  [
    "a promise with a `then` of its own",
    (seen) =>
      Object.assign(Promise.resolve(1), {
        // oxlint-disable-next-line unicorn/no-thenable -- the attack
        then(resolve: (value: number) => void) {
          seen.push(active());
          resolve(1);
        },
      }),
  ],
  [
    "a promise whose `constructor` is a getter",
    (seen) =>
      Object.defineProperty(Promise.resolve(1), "constructor", {
        get() {
          seen.push(active());
          return Promise;
        },
      }),
  ],
  [
    "a promise of a class of its own",
    (seen) =>
      class extends Promise<number> {
        static override get [Symbol.species]() {
          seen.push(active());
          return Promise;
        }
      }.resolve(1),
  ],
  [
    "an object with a `then`",
    (seen) => ({
      // oxlint-disable-next-line unicorn/no-thenable -- the attack
      then(resolve: (value: number) => void) {
        seen.push(active());
        resolve(1);
      },
    }),
  ],
];

describe("attack: a result that acts when the host awaits it", () => {
  it.each(POISONED)("%s acts as the subject, never as the host", async (_, poison) => {
    const seen: Seen = [];
    const { runtime } = fixture;
    const result = await runtime.runAsHost(ADMIN, async () => {
      const taken: unknown = await runtime.run(TOOL, MEMBER, () => poison(seen));
      expect(active()).toBe("core");
      return taken;
    });
    expect(result).toBe(1);
    expect(seen.filter((name) => name !== TOOL.name)).toEqual([]);
  });

  it("a rejected promise of a subject is rejected for the host with the same error", async () => {
    const error = new Error("own");
    await expect(fixture.runtime.run(TOOL, MEMBER, () => Promise.reject(error))).rejects.toBe(error);
  });
});
