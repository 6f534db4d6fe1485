/**
 * Parsers against a million hostile texts: they never throw, what they accept is stable, and their work is bounded.
 * The work is counted in executed blocks by the engine's own coverage counters, never timed.
 */
import { type Profiler, Session } from "node:inspector";
import { describe, expect, it } from "vitest";
import { parseTarget } from "../access.ts";
import type { Parsed } from "../parsed.ts";
import { RESOURCE_TYPES, type ResourceType } from "../resource.ts";
import { caseCount } from "../testing/case-count.ts";
import { hostileText, seededRandom, VALID_TEXTS } from "../testing/hostile-text.ts";
import { whatwgUrl } from "../whatwg-url.ts";
import { parsePattern, patternOf } from "./pattern.ts";
import { MATCHES } from "./pattern.ts";

const TEXTS = caseCount(1_000_000);

function check(resourceType: ResourceType, text: string): boolean {
  const parsed = parseTarget(resourceType, text, whatwgUrl);
  const pattern: Parsed<unknown> = parsePattern(resourceType, text, whatwgUrl);
  if (!parsed.ok) return false;
  const again = parseTarget(resourceType, parsed.value.text, whatwgUrl);
  if (parsed.value.requested !== text) throw new Error(`requested form lost: ${JSON.stringify(text)}`);
  if (!again.ok || again.value.text !== parsed.value.text)
    throw new Error(`not stable: ${JSON.stringify(text)}`);
  if (!pattern.ok) throw new Error(`a target that is no pattern: ${JSON.stringify(text)}`);
  for (const match of MATCHES) patternOf(parsed.value, match);
  return true;
}

describe("the target parsers", () => {
  it("survive a million random and mutated byte strings, and what they accept is stable", () => {
    const random = seededRandom(0xf022);
    const accepted = { network: 0, filesystem: 0, system_dependency: 0 };
    for (let index = 0; index < TEXTS; index++) {
      const text = hostileText(random);
      const resourceType = RESOURCE_TYPES[index % 3] as ResourceType;
      if (check(resourceType, text)) accepted[resourceType]++;
    }
    // WHY: a run in which nothing is accepted, or nothing refused, would show nothing.
    for (const count of Object.values(accepted)) {
      expect(count).toBeGreaterThan(TEXTS / 200);
      expect(count).toBeLessThan(TEXTS / 3);
    }
  });

  it("take a number of steps that grows no faster than the text", () => {
    const counter = new StepCounter();
    const random = seededRandom(0x57e9);
    const texts = Array.from({ length: caseCount(2000) }, () => hostileText(random));
    for (const text of [...texts, ...worstTexts(8000)]) {
      for (const resourceType of RESOURCE_TYPES) {
        const steps = counter.count(() => check(resourceType, text));
        expect(steps / (text.length + 100)).toBeLessThan(40);
      }
    }
    counter.stop();
  });

  it("look at a text that is too long without walking it", () => {
    const counter = new StepCounter();
    for (const text of worstTexts(2_000_000)) {
      for (const resourceType of RESOURCE_TYPES) {
        expect(counter.count(() => check(resourceType, text))).toBeLessThan(200);
      }
    }
    counter.stop();
  });
});

/** Long texts, each made to keep one part of a parser busy. */
function worstTexts(length: number): string[] {
  const parts = [
    "/",
    "/.",
    "/..",
    "/a",
    "%25",
    "%2e/",
    "%",
    ":",
    "[",
    "]",
    "[::1]",
    "@",
    "#",
    "?",
    ".",
    "a.",
    "-",
    "_",
    " ",
    "\\",
    "é",
    "😀",
    "\ud800",
    "0x7f.",
    "1.",
    "\0",
  ];
  const starts = [
    "",
    "https://",
    "https://a.example/",
    "https://a.example/?",
    "unix:/",
    "/",
    "a",
    ...VALID_TEXTS,
  ];
  return starts.flatMap((start) => parts.map((part) => start + part.repeat(Math.ceil(length / part.length))));
}

/** Counts executed blocks of the contract's own code. */
class StepCounter {
  readonly #session = new Session();

  constructor() {
    this.#session.connect();
    this.#session.post("Profiler.enable");
    this.#session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
    if (this.count(() => check("network", "https://a.example/x")) < 20) throw new Error("nothing is counted");
  }

  count(work: () => unknown): number {
    this.#take();
    work();
    return this.#take();
  }

  stop(): void {
    this.#session.post("Profiler.stopPreciseCoverage");
    this.#session.disconnect();
  }

  #take(): number {
    let steps = 0;
    this.#session.post(
      "Profiler.takePreciseCoverage",
      (error: Error | null, coverage: Profiler.TakePreciseCoverageReturnType) => {
        if (error !== null) throw error;
        for (const script of coverage.result) {
          if (!script.url.includes("contract/src") || script.url.includes("test")) continue;
          for (const { ranges } of script.functions) for (const range of ranges) steps += range.count;
        }
      },
    );
    return steps;
  }
}
