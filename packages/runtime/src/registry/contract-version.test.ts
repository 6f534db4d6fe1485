import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type Fixture,
  codeOf,
  entered,
  may,
  openFixture,
  receive,
  registered,
  subject,
} from "../testing/registry-fixture.ts";

let fixture: Fixture;
beforeEach(() => {
  fixture = openFixture();
});
afterEach(() => fixture.close());

const ONE = ["network", "receive", "https://one.example/"] as const;
const TWO = ["network", "receive", "https://two.example/"] as const;
const allows = (...hosts: readonly string[]) => ({ access: hosts.map((host) => receive(`https://${host}`)) });
const demo = subject("module", "demo");
const register = (manifest: unknown = allows("one.example")) =>
  fixture.registry.registerModule({ name: "demo", root: fixture.make("demo"), manifest });
const kinds = () => fixture.events.map(({ kind }) => kind);

describe("a reload", () => {
  it("replaces all rules at once", () => {
    registered(register());
    registered(fixture.registry.reload(demo, allows("two.example")));
    expect([may(fixture, demo, ONE), may(fixture, demo, TWO)]).toEqual([false, true]);
    expect(kinds()).toEqual(["subject_registered", "subject_reloaded"]);
    expect(fixture.snapshot.contracts.size).toBe(1);
  });

  it("tells the policy of the new version, so that host code that names the subject asks of it", () => {
    registered(register());
    registered(fixture.registry.reload(demo, allows("two.example")));
    expect(fixture.snapshot.registrations.get(demo)?.contracts).toEqual(
      entered(fixture, demo).frame.contracts,
    );
  });

  it.each([
    [
      "with one bad rule among good ones",
      { access: [receive("https://two.example"), receive("file:///etc")] },
    ],
    ["that is no JSON", "{"],
    ["with a key twice", '{"access": [], "access": []}'],
    ["of another name", { name: "other", access: [receive("https://two.example")] }],
    [
      "that cannot be read",
      new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error("hostile");
          },
        },
      ),
    ],
  ])("of a manifest %s keeps the old one and raises an event", (_, manifest) => {
    registered(register());
    const before = entered(fixture, demo).frame;
    const answer = fixture.registry.reload(demo, manifest);
    expect(answer.ok).toBe(false);
    expect(fixture.events.at(-1)).toEqual({ kind: "reload_refused", subject: demo, refusal: answer });
    expect(entered(fixture, demo).frame).toEqual(before);
    expect([may(fixture, demo, ONE), may(fixture, demo, TWO)]).toEqual([true, false]);
  });

  it("of the same rules is the same version", () => {
    registered(register());
    const before = entered(fixture, demo).frame.contracts;
    registered(fixture.registry.reload(demo, JSON.stringify(allows("one.example"))));
    expect(entered(fixture, demo).frame.contracts).toEqual(before);
    expect(kinds()).toEqual(["subject_registered"]);
  });

  it("of changed imports alone is a new version", () => {
    registered(register());
    const before = entered(fixture, demo).frame.contracts;
    registered(fixture.registry.reload(demo, { ...allows("one.example"), allowed_imports: ["vm"] }));
    const after = entered(fixture, demo);
    expect(after.frame.contracts).not.toEqual(before);
    expect(after.allowedImports).toEqual(["vm"]);
  });

  it("of what is not registered registers nothing", () => {
    expect(fixture.registry.reload(demo, {})).toMatchObject({ ok: false, reason: "not_registered" });
    expect(fixture.registry.enter(demo).ok).toBe(false);
  });
});

describe("a frame", () => {
  it("keeps the version that it entered, while new ones get the new version", () => {
    registered(register());
    const old = entered(fixture, demo);
    registered(fixture.registry.reload(demo, allows("two.example")));
    const young = entered(fixture, demo);
    const codes = [old, young].flatMap(({ frame }) => [
      codeOf(fixture, frame, ONE),
      codeOf(fixture, frame, TWO),
    ]);
    expect(codes).toEqual(["allowed_sandbox", "approval_required", "approval_required", "allowed_sandbox"]);
  });

  it("that is the last one of an old version takes its contract along", () => {
    registered(register());
    const [first, second] = [entered(fixture, demo), entered(fixture, demo)];
    registered(fixture.registry.reload(demo, allows("two.example")));
    first.leave();
    first.leave();
    expect(codeOf(fixture, second.frame, ONE)).toBe("allowed_sandbox");
    second.leave();
    expect(codeOf(fixture, second.frame, ONE)).toBe("approval_required");
    expect([...fixture.snapshot.contracts.keys()]).toEqual(entered(fixture, demo).frame.contracts);
  });

  it("that leaves the current version leaves the contract to those who come", () => {
    registered(register());
    entered(fixture, demo).leave();
    expect(may(fixture, demo, ONE)).toBe(true);
  });

  it("outlives the registration of its subject, which nobody else can enter", () => {
    registered(register());
    const { frame, leave } = entered(fixture, demo);
    expect(fixture.registry.unregister(demo)).toEqual({ ok: true, subjects: [demo] });
    expect(fixture.registry.enter(demo)).toMatchObject({ ok: false, reason: "not_registered" });
    expect(fixture.snapshot.registrations.get(demo)).toBeUndefined();
    expect(codeOf(fixture, frame, ONE)).toBe("allowed_sandbox");
    leave();
    expect(fixture.snapshot.contracts.size).toBe(0);
  });

  it("of an old registration does not touch the contracts of a new one with the same name", () => {
    registered(register());
    const old = entered(fixture, demo);
    fixture.registry.unregister(demo);
    registered(register(allows("two.example")));
    old.leave();
    expect([may(fixture, demo, ONE), may(fixture, demo, TWO)]).toEqual([false, true]);
  });
});

describe("a module that goes", () => {
  it("takes its assets along, and nobody else's", () => {
    registered(register());
    const other = registered(
      fixture.registry.registerModule({ name: "other", root: fixture.make("other"), manifest: {} }),
    );
    const tool = registered(
      fixture.registry.registerTool({ name: "demo.tool", module: "demo", definition: {} }),
    );
    const kept = registered(
      fixture.registry.registerTool({ name: "other.tool", module: "other", definition: {} }),
    );
    expect(fixture.registry.unregister(demo)).toEqual({ ok: true, subjects: [tool, demo] });
    expect([tool, demo, kept, other].map((one) => fixture.registry.enter(one).ok)).toEqual([
      false,
      false,
      true,
      true,
    ]);
    expect(fixture.registry.unregister(demo)).toMatchObject({ ok: false, reason: "not_registered" });
  });
});

describe("a policy that does not take a change", () => {
  it.each(["contract_set", "subject_registered"] as const)("of kind %s leaves nothing registered", (kind) => {
    fixture.refused.add(kind);
    expect(register()).toMatchObject({ ok: false, reason: "unavailable" });
    expect(kinds()).toEqual(["change_failed", "registration_refused"]);
    expect(fixture.registry.enter(demo).ok).toBe(false);
    expect(fixture.snapshot.contracts.size).toBe(0);
    fixture.refused.clear();
    expect(register().ok).toBe(true);
  });

  it.each(["contract_set", "subject_registered"] as const)("of kind %s keeps the old version", (kind) => {
    registered(register());
    const before = entered(fixture, demo).frame;
    fixture.refused.add(kind);
    expect(fixture.registry.reload(demo, allows("two.example"))).toMatchObject({ reason: "unavailable" });
    expect(entered(fixture, demo).frame).toEqual(before);
    expect([...fixture.snapshot.contracts.keys()]).toEqual(before.contracts);
    fixture.refused.clear();
    registered(fixture.registry.reload(demo, allows("two.example")));
    expect(may(fixture, demo, TWO)).toBe(true);
  });

  it("that says goodbye to a subject leaves it registered", () => {
    registered(register());
    fixture.refused.add("subject_unregistered");
    expect(fixture.registry.unregister(demo)).toMatchObject({ ok: false, reason: "unavailable" });
    expect(may(fixture, demo, ONE)).toBe(true);
  });

  it("hands a configuration on again when it is told once more", () => {
    const engine = registered(
      fixture.registry.registerEngine({
        name: "whisper",
        root: fixture.make("whisper"),
        manifest: { runtime: { allowed_config_urls: ["endpoint"] } },
      }),
    );
    fixture.refused.add("contract_set");
    const config = { endpoint: "https://one.example" };
    expect(fixture.registry.updateConfig(engine, config)).toMatchObject({ reason: "unavailable" });
    fixture.refused.clear();
    registered(fixture.registry.updateConfig(engine, config));
    expect(may(fixture, engine, ONE)).toBe(true);
  });

  it("opens no one-off URL", () => {
    fixture.refused.add("contract_set");
    expect(fixture.registry.oneOff("https://one.example/")).toMatchObject({ reason: "unavailable" });
    expect(fixture.snapshot.contracts.size).toBe(0);
  });
});

describe("a listener that fails", () => {
  it("does not undo what has happened", () => {
    fixture.close();
    fixture = openFixture({
      onEvent: () => {
        throw new Error("listener");
      },
    });
    expect(register().ok).toBe(true);
    expect(may(fixture, demo, ONE)).toBe(true);
  });
});
