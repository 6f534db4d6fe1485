import { describe, expect, it } from "vitest";
import { canonical, keepText } from "./audit/canonical-json.ts";
import { lastingWire } from "./lasting-wire.ts";

interface Held {
  readonly roots: readonly string[];
  readonly mode: string;
}

/** The form says which call made it. */
const counted = () => {
  let made = 0;
  return lastingWire(({ roots, mode }: Held) =>
    Object.freeze({ roots: Object.freeze([...roots]), mode, made: ++made }),
  );
};

describe("the wire form of what many events share", () => {
  it("is made once for a value that can never change", () => {
    const wire = counted();
    const held = Object.freeze({ mode: "none", roots: Object.freeze(["/a"]) });
    expect(wire(held)).toBe(wire(held));
    expect(wire(Object.freeze({ ...held }))).toMatchObject({ made: 2 });
    expect(canonical({ profile: wire(held), also: [wire(held)] })).toBe(
      '{"also":[{"made":1,"mode":"none","roots":["/a"]}],"profile":{"made":1,"mode":"none","roots":["/a"]}}',
    );
  });

  it("attack: a value that is changed after its first event is told as it is in the next", () => {
    const roots = ["/a"];
    const shallow: Held = Object.freeze({ mode: "none", roots });
    const wire = counted();
    expect(canonical(wire(shallow))).toContain('"roots":["/a"]');
    roots[0] = "/etc";
    expect(canonical(wire(shallow))).toContain('"roots":["/etc"]');
  });

  it("attack: a frozen value with a getter is told as it is each time", () => {
    const answers = ["none", "full"];
    const held = Object.freeze({
      roots: Object.freeze([]),
      get mode() {
        return answers.shift() ?? "";
      },
    });
    const wire = counted();
    expect([wire(held).mode, wire(held).mode]).toEqual(["none", "full"]);
  });

  it("keeps no text of a value that can still change", () => {
    expect(() => keepText({ mode: "none" })).toThrow(/can still change/);
    expect(() => keepText(Object.freeze({ roots: [] }))).toThrow(/can still change/);
    expect(() => keepText(Object.freeze([Object.freeze({ mode: "none" })]))).not.toThrow();
  });
});
