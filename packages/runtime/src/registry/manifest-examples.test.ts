/** Examples inside a manifest are tried when it is loaded: one that does not hold refuses the whole version. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Fixture, may, openFixture, registered } from "../testing/registry-fixture.ts";

let fixture: Fixture;
beforeEach(() => {
  fixture = openFixture({});
});
afterEach(() => fixture.close());

const manifest = (target: string, examples: object) => ({
  access: [{ resource_type: "network", operation: "receive", target, examples }],
});
const HOLDS = { match: ["https://api.example.com/v1/x"], no_match: ["https://api.example.com/v2"] };

const register = (declared: object) =>
  fixture.registry.registerModule({
    name: "demo",
    root: fixture.make("modules", "demo"),
    manifest: declared,
  });

describe("a manifest with examples", () => {
  it("is registered where they hold, and its rules are what they were without", () => {
    const subject = registered(register(manifest("https://api.example.com/v1/", HOLDS)));
    expect(may(fixture, subject, ["network", "receive", "https://api.example.com/v1/x"])).toBe(true);
    expect(may(fixture, subject, ["network", "receive", "https://api.example.com/v2"])).toBe(false);
  });

  it("is refused with the pointer of the example that does not hold", () => {
    const answer = register(manifest("https://api.example.com/v1", HOLDS));
    expect(answer).toMatchObject({
      ok: false,
      reason: "invalid_manifest",
      faults: [{ pointer: "/access/0/examples/match/0" }],
    });
  });

  it("keeps the old version where the examples of a new one do not hold", () => {
    const subject = registered(register(manifest("https://api.example.com/v1/", HOLDS)));
    const wide = manifest("https://api.example.com", HOLDS);
    expect(fixture.registry.reload(subject, wide)).toMatchObject({ ok: false, reason: "invalid_manifest" });
    expect(may(fixture, subject, ["network", "receive", "https://api.example.com/v2"])).toBe(false);
  });
});
