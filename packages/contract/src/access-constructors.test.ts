import { describe, expect, it } from "vitest";
import { type AccessConstructors, filesystem, network, systemDependency } from "./access-constructors.ts";
import { OPERATIONS, type ResourceType } from "./resource.ts";

describe("access constructors", () => {
  it("exist for every legal pair and for no other", () => {
    const families: { readonly [R in ResourceType]: AccessConstructors<R> } = {
      network,
      filesystem,
      system_dependency: systemDependency,
    };
    for (const [resourceType, constructors] of Object.entries(families)) {
      expect(Object.keys(constructors)).toEqual(OPERATIONS[resourceType as ResourceType]);
      expect(Object.isFrozen(constructors)).toBe(true);
    }
  });

  it("give the access of their pair with a normalized target", () => {
    expect(network.receive("HTTPS://A.example:443/x#y")).toMatchObject({
      ok: true,
      value: { resourceType: "network", operation: "receive", target: { text: "https://a.example/x" } },
    });
    expect(systemDependency.execute("FFmpeg")).toMatchObject({
      ok: true,
      value: { operation: "execute", target: { text: "ffmpeg" } },
    });
  });

  it("give a fault for a bad target and for a pair that the target does not have", () => {
    expect(filesystem.read("relative")).toMatchObject({ ok: false, code: "invalid_target" });
    expect(network.send("unix:/run/x")).toMatchObject({ ok: false, code: "invalid_target" });
  });
});
