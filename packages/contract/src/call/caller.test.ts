import { describe, expect, it } from "vitest";
import { BLANK_CALLER } from "./caller.ts";

describe("the caller of whom nothing is said", () => {
  it("acts as nobody, for nobody, and can decide nothing", () => {
    const { frames, interactive, observe, confined, credential, ...rest } = BLANK_CALLER;
    expect({ frames, interactive, observe, confined, credential }).toEqual({
      frames: [],
      interactive: false,
      observe: false,
      confined: false,
      credential: "runtime",
    });
    expect(Object.values(rest)).toEqual(Object.values(rest).map(() => null));
  });

  it("attack: what is written to the value that all callers are made from goes nowhere", () => {
    const shared = BLANK_CALLER as unknown as { credential: string; frames: unknown[] };
    expect(() => (shared.credential = "host")).toThrow(TypeError);
    expect(() => shared.frames.push("core")).toThrow(TypeError);
  });
});
