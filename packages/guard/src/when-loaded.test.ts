import { expect, it } from "vitest";
import { hearLoads, whenLoaded } from "./when-loaded.ts";

/** Of no use to the tests, so that nobody has loaded it. */
const LATER = "dns/promises";

it("a module that is loaded already is guarded at once, every other one when it is loaded, and each once", () => {
  const loaded = (name: string): boolean =>
    (process as unknown as { moduleLoadList: readonly string[] }).moduleLoadList.includes(
      `NativeModule ${name}`,
    );
  hearLoads();
  const guarded: string[] = [];
  const http = process.getBuiltinModule("http");
  whenLoaded("http", (exports) => guarded.push(exports === http ? "http" : "another one"), "_http_agent");
  expect(guarded).toEqual(["http"]);
  expect(loaded(LATER)).toBe(false);
  whenLoaded(LATER, (exports) => guarded.push("resolve" in exports ? LATER : "not all of it"));
  expect(guarded).toEqual(["http"]);
  process.getBuiltinModule(LATER);
  process.getBuiltinModule(LATER);
  expect(guarded).toEqual(["http", LATER]);
  expect(loaded(LATER)).toBe(true);
});
