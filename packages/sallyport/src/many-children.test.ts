/** 200 children and 500 workers of 50 subjects: none is taken for another one. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  type GatedPrograms,
  buildPrograms,
  childAnswers,
  inParallel,
  workerAnswers,
} from "./testing/gated-children.ts";
import { type Fixture, MEMBER, entry, openFixture } from "./testing/sallyport-fixture.ts";

let programs: GatedPrograms;
let fixture: Fixture;
beforeAll(async () => {
  programs = await buildPrograms();
});
afterAll(() => programs.remove());
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

describe("of many at a time", () => {
  const SUBJECTS = 50;
  const own = (index: number): string => `https://s${index % SUBJECTS}.example.com/`;

  beforeEach(() => {
    for (let index = 0; index < SUBJECTS; index++) {
      const definition = { access: [entry("network", "receive", own(index))] };
      const made = fixture.registry.registerTool({ name: `demo.s${index}`, module: "demo", definition });
      if (!made.ok) throw new Error(made.message);
    }
  });

  /** WHY: each is a Node of its own, and the machine may be busy with other things. */
  const MANY_MS = 900_000;

  it.each([
    ["200 children", 200, 4],
    ["500 workers", 500, 4],
  ])(
    "%s none is taken for another subject",
    async (what, count, width) => {
      const { runtime } = fixture;
      const answers = await inParallel(count, width, (index) => {
        const task = { targets: [own(index), own(index + 1), own(index + 7)] };
        const name = `demo.s${index % SUBJECTS}`;
        return runtime.run({ type: "tool", name }, MEMBER, () =>
          what.endsWith("workers")
            ? workerAnswers(runtime, programs, task)
            : childAnswers(runtime, programs, task).answers,
        );
      });
      const right = JSON.stringify(["allowed_sandbox", "approval_required", "approval_required"]);
      expect(answers.filter(({ codes }) => JSON.stringify(codes) !== right)).toEqual([]);
      expect(answers).toHaveLength(count);
    },
    MANY_MS,
  );
});
