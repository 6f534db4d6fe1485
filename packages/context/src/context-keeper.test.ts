import { type SubjectFrame, subjectFrameWire } from "@sallyport/contract";
import { describe, expect, it } from "vitest";
import { contextFacts } from "./context-facts.ts";
import { ContextKeeper } from "./context-keeper.ts";
import { activeName, sampleCaller, sampleFrame } from "./testing/sample-caller.ts";

describe("entering a context", () => {
  const keeper = new ContextKeeper();
  const reader = keeper.root(sampleCaller("reader"));
  const writer = keeper.root(sampleCaller("writer"));

  it("holds while the function runs and not after it", () => {
    expect(keeper.current()).toBeUndefined();
    expect(keeper.enter(reader, () => keeper.current())).toBe(reader);
    expect(keeper.current()).toBeUndefined();
  });

  it("stays synchronous and hands the result on", () => {
    const result = { found: 1 };
    expect(keeper.enter(reader, () => result)).toBe(result);
  });

  it("lets exceptions pass and is left by them", () => {
    const error = new Error("boom");
    let caught: unknown;
    keeper.enter(writer, () => {
      try {
        keeper.enter(reader, () => {
          throw error;
        });
      } catch (thrown) {
        caught = thrown;
      }
      expect(keeper.current()).toBe(writer);
    });
    expect(caught).toBe(error);
    expect(keeper.current()).toBeUndefined();
  });

  it("nests, the innermost being the current one", () => {
    keeper.enter(reader, () => {
      expect(keeper.enter(writer, () => keeper.current())).toBe(writer);
      expect(keeper.current()).toBe(reader);
    });
  });

  it("follows promises, also where others resolve them", async () => {
    const { promise, resolve } = withResolvers();
    const seen = keeper.enter(reader, async () => {
      await promise;
      return keeper.current();
    });
    keeper.enter(writer, () => {
      resolve();
    });
    expect(await seen).toBe(reader);
  });

  it("keeps the context of a bound function, whoever calls it", () => {
    const bound = keeper.enter(reader, () =>
      keeper.bind(function seen(this: string, more: number) {
        return [this, more, keeper.current()] as const;
      }),
    );
    expect(keeper.enter(writer, () => bound.call("self", 2))).toEqual(["self", 2, reader]);
    expect(bound.call("self", 2)[2]).toBe(reader);
  });

  it("binds to none where there is none", () => {
    const bound = keeper.bind(() => keeper.current());
    expect(keeper.enter(writer, bound)).toBeUndefined();
  });

  it("keeps two keepers apart", () => {
    const other = new ContextKeeper();
    const theirs = other.root(sampleCaller("theirs"));
    keeper.enter(reader, () => {
      other.enter(theirs, () => {
        expect(keeper.current()).toBe(reader);
        expect(other.current()).toBe(theirs);
      });
      expect(other.current()).toBeUndefined();
    });
  });
});

describe("a process that was started for one subject", () => {
  const keeper = new ContextKeeper({ process: sampleCaller("whole") });

  it("has that subject where nothing was carried", () => {
    expect(activeName(keeper)).toBe("whole");
  });

  it("has the entered subject where one was", () => {
    const inner = keeper.root(sampleCaller("inner"));
    expect(keeper.enter(inner, () => activeName(keeper))).toBe("inner");
  });
});

describe("frames and facts", () => {
  const keeper = new ContextKeeper();
  const root = keeper.root(sampleCaller("reader"));

  it("adds a frame on the inside and leaves the outer context as it was", () => {
    const inner = keeper.withFrame(root, sampleFrame("agent", "inner", { entry: "guarded" }));
    expect(keeper.callerOf(inner)?.frames.map(({ subject }) => subject.name)).toEqual(["reader", "inner"]);
    expect(keeper.callerOf(inner)?.frames[1]?.entry).toBe("guarded");
    expect(keeper.callerOf(root)?.frames).toHaveLength(1);
  });

  it("changes facts of the host in a context of its own", () => {
    const asked = keeper.withFacts(root, { interactive: true, sessionKey: null, mode: "plan" });
    expect(keeper.callerOf(asked)).toMatchObject({ interactive: true, sessionKey: null, mode: "plan" });
    expect(keeper.callerOf(asked)?.frames).toBe(keeper.callerOf(root)?.frames);
    expect(keeper.callerOf(root)).toMatchObject({ interactive: false, sessionKey: "s-1", mode: null });
  });

  it("refuses frames and unknown names among the facts, and facts that are undefined", () => {
    expect(() => keeper.withFacts(root, { frames: [] } as never)).toThrow("`frames` is no fact of the host");
    expect(() => keeper.withFacts(root, { allowed: true } as never)).toThrow("`allowed` is no fact");
    expect(() => keeper.withFacts(root, { sessionKey: undefined } as never)).toThrow("`null` for nothing");
  });

  it("gives the active frame a one-off contract and keeps its subject", () => {
    const outer = keeper.withFrame(root, sampleFrame("agent", "inner"));
    const once = keeper.withContract(outer, "one-off");
    expect(keeper.callerOf(once)?.frames.map(({ contracts }) => contracts)).toEqual([
      ["contract-reader"],
      ["contract-inner", "one-off"],
    ]);
    expect(keeper.callerOf(outer)?.frames[1]?.contracts).toEqual(["contract-inner"]);
    expect(() => keeper.withContract(keeper.root(sampleCaller("x", { frames: [] })), "y")).toThrow(
      "no subject is active",
    );
  });

  it("refuses a context that is not whole", () => {
    const { interactive, ...rest } = sampleCaller("reader");
    expect(interactive).toBe(false);
    expect(() => keeper.root(rest as never)).toThrow("`interactive` is missing");
  });

  it("nests as many frames as the wire carries and no more", () => {
    const frame = sampleFrame("tool", "again");
    let context = keeper.root(sampleCaller("x", { frames: [] }));
    for (let depth = 0; depth < 64; depth++) context = keeper.withFrame(context, frame);
    expect(() => keeper.withFrame(context, frame)).toThrow("at most 64");
    const list = Array.from({ length: 65 }, () => frame);
    expect(() => keeper.root(sampleCaller("x", { frames: list }))).toThrow("at most 64");
  });

  it("carries frames that the wire takes", () => {
    const frame = keeper.callerOf(root)?.frames[0];
    expect(frame && subjectFrameWire.parse(subjectFrameWire.format(frame as SubjectFrame))).toMatchObject({
      ok: true,
    });
  });
});

describe("what guarded code reads of itself", () => {
  const keeper = new ContextKeeper();

  it("is the chain, the phase, whether there is a session, who can be asked, the mode and the task", () => {
    const root = keeper.root(sampleCaller("reader", { mode: "never" }));
    const context = keeper.withFrame(root, sampleFrame("engine", "whisper", { phase: "install" }));
    expect(contextFacts(context)).toEqual({
      subjectChain: [
        { subject: { type: "tool", name: "reader" }, phase: "runtime", entry: "host" },
        { subject: { type: "engine", name: "whisper" }, phase: "install", entry: "host" },
      ],
      phase: "install",
      hasSession: true,
      interactive: false,
      mode: "never",
      taskId: "t-1",
    });
  });

  it("takes an empty session key for none, and no frame for no phase", () => {
    const facts = contextFacts(keeper.root(sampleCaller("x", { frames: [], sessionKey: "" })));
    expect(facts).toMatchObject({ hasSession: false, phase: null, subjectChain: [] });
  });

  it("is nothing where there is no context", () => {
    expect(contextFacts(keeper.current())).toBeUndefined();
  });
});

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
