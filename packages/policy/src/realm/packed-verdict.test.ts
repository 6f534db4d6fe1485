import { CHECK_CODES, type CheckCode, DECISION_SOURCES, OUTCOMES } from "@sallyport/contract";
import { expect, test } from "vitest";
import { UNAVAILABLE, isAllowed, packVerdict, unpackVerdict } from "./packed-verdict.ts";

test("every verdict comes out as it went in", () => {
  const seen = new Set<number>();
  for (const code of Object.keys(CHECK_CODES) as CheckCode[]) {
    for (const outcome of OUTCOMES) {
      for (const source of DECISION_SOURCES) {
        for (const frame of [-1, 0, 1, 8190]) {
          for (const flags of [0, 1, 2, 3]) {
            const [limited, registers] = [(flags & 1) === 1, (flags & 2) === 2];
            const allowed = outcome === "allowed" || outcome === "sandboxed";
            const verdict = {
              code,
              outcome,
              source,
              frame,
              limited,
              registers,
              allowed,
              requiresApproval: code === "approval_required",
            };
            const packed = packVerdict(verdict);
            expect(unpackVerdict(packed)).toEqual(verdict);
            expect(isAllowed(packed)).toBe(allowed);
            seen.add(packed);
          }
        }
      }
    }
  }
  expect(seen.size).toBe(Object.keys(CHECK_CODES).length * OUTCOMES.length * DECISION_SOURCES.length * 16);
});

test("what is not a verdict is unavailable and never allowed", () => {
  for (const packed of [0, -1, NaN, 31, 1 << 5, 2 ** 40, UNAVAILABLE]) {
    const verdict = unpackVerdict(packed);
    expect(verdict).toMatchObject({ code: "unavailable", outcome: "unavailable", allowed: false });
  }
  for (const packed of [0, -1, NaN, 1 << 5, 2 << 5, UNAVAILABLE])
    expect(isAllowed(packed), String(packed)).toBe(false);
});

test("a verdict that does not fit is unavailable", () => {
  const verdict = {
    ...unpackVerdict(UNAVAILABLE),
    code: "allowed_rule" as const,
    outcome: "allowed" as const,
  };
  expect(packVerdict({ ...verdict, frame: 8191 })).toBe(UNAVAILABLE);
  expect(packVerdict({ ...verdict, frame: -2 })).toBe(UNAVAILABLE);
  expect(packVerdict({ ...verdict, source: "nobody" as never })).toBe(UNAVAILABLE);
});
