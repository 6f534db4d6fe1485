/** What cannot be closed in one process, as facts: these tests fail where Node changes, and the page with them. */
import { AsyncResource } from "node:async_hooks";
import { describe, expect, it } from "vitest";
import { ContextKeeper } from "./context-keeper.ts";
import { activeName, sampleCaller } from "./testing/sample-caller.ts";

const keeper = new ContextKeeper();
const host = keeper.root(sampleCaller("host_work"));
const thief = keeper.root(sampleCaller("thief"));
type Slots = Record<symbol, unknown>;

/**
 * The slots in which a resource carries contexts: `kResourceStore` up to Node 22, a frame from Node 24 on. Node 22 has a
 * slot for the frame as well, and leaves it empty.
 */
function slotsOf(resource: object): symbol[] {
  return Object.getOwnPropertySymbols(resource)
    .filter((symbol) => ["kResourceStore", "context_frame"].includes(symbol.description ?? ""))
    .filter((symbol) => (resource as Slots)[symbol] !== undefined);
}

const resourceOf = (context: typeof host): AsyncResource =>
  keeper.enter(context, () => new AsyncResource("x"));

describe("attack: stolen async context", () => {
  it("open: a resource that the host hands out gives its context to the thief", () => {
    const handedOut = resourceOf(host);
    const seen = keeper.enter(thief, () => handedOut.runInAsyncScope(() => activeName(keeper)));
    expect(seen).toBe("host_work");
  });

  it("open: the slots of a foreign resource can be copied to one's own", () => {
    const handedOut = resourceOf(host) as unknown as Slots;
    const mine = resourceOf(thief);
    expect(slotsOf(mine).length).toBeGreaterThan(0);
    for (const slot of slotsOf(mine)) (mine as unknown as Slots)[slot] = handedOut[slot];
    expect(mine.runInAsyncScope(() => activeName(keeper))).toBe("host_work");
  });

  it("closed: emptied slots leave no subject, never the host", () => {
    const mine = resourceOf(thief);
    for (const slot of slotsOf(mine)) (mine as unknown as Slots)[slot] = undefined;
    expect(mine.runInAsyncScope(() => keeper.current())).toBeUndefined();
  });

  it("closed: an invented context in a slot is no context", () => {
    const mine = resourceOf(thief);
    for (const slot of slotsOf(mine)) {
      const held = (mine as unknown as Slots)[slot] as object;
      if (slot.description === "kResourceStore") (mine as unknown as Slots)[slot] = { frames: [] };
      else (held as Map<unknown, unknown>).forEach((_, key) => (held as Map<unknown, unknown>).set(key, {}));
    }
    expect(mine.runInAsyncScope(() => keeper.current())).toBeUndefined();
  });

  it("closed: the class of the frames cannot be changed to answer for everybody", () => {
    const mine = resourceOf(thief) as unknown as Slots;
    const frames = slotsOf(mine).filter((slot) => slot.description === "context_frame");
    for (const slot of frames) {
      const prototype = Object.getPrototypeOf(mine[slot]) as object;
      expect(Reflect.set(prototype, "get", () => host)).toBe(false);
      expect(Reflect.set((prototype as { constructor: object }).constructor, "current", () => host)).toBe(
        false,
      );
    }
    expect(frames).toHaveLength(Number(process.versions.node.split(".")[0]) >= 24 ? 1 : 0);
  });
});
