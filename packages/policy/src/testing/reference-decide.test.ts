/**
 * The order of the second model against the tables of the specification, by hand.
 */
import { describe, expect, test } from "vitest";
import type { Approval, Context, Denial, Frame, HostRule, Question } from "../question.ts";
import type { World } from "./reference-decide.ts";
import {
  AGENT,
  ALLOWED,
  ASKED,
  CORE,
  NOW,
  SYSTEM,
  TOOL,
  URL_TEXT,
  approval,
  decide,
  declaring,
  denial,
  frame,
  pair,
  rule,
  sessionApproval,
} from "./reference-scene.ts";

describe("the order of the check", () => {
  test("what nobody declared or decided is asked and registered in the name of the active subject", () => {
    expect(decide(URL_TEXT)).toEqual({ code: ASKED, frame: 0, limited: false, registers: true });
  });

  test("a passive check asks without registering", () => {
    expect(decide(URL_TEXT, { question: { ask: "passive" } })).toMatchObject({
      code: ASKED,
      registers: false,
    });
  });

  test("no frame, or none that the host entered, is no subject", () => {
    expect(decide(URL_TEXT, { context: { frames: [] } })).toMatchObject({ code: "no_subject", frame: -1 });
    expect(decide(URL_TEXT, { context: { frames: [frame(TOOL, "guarded")] } }).code).toBe("no_subject");
  });

  test("a fault is told before a named subject that is not active, and never registered", () => {
    const question = { named: AGENT };
    expect(decide("read /a/../b", { question })).toMatchObject({ code: "invalid_target", frame: -1 });
    expect(decide("write /a", { question }).code).toBe("invalid_operation");
    expect(decide("read /a", { question })).toMatchObject({ code: "subject_not_active", registers: false });
  });

  test("set-up allows module:system the filesystem, against deny rules but not against built-in ones", () => {
    const context = { frames: [frame(SYSTEM)], setup: true, live: false };
    expect(decide("delete /etc/x", { context, world: { rules: [rule("deny", "delete /")] } }).code).toBe(
      "allowed_setup",
    );
    const builtins = [{ id: "b", ...pair("delete /etc/") }];
    expect(decide("delete /etc/x", { context, world: { builtins } })).toMatchObject({
      code: "denied_rule",
      frame: 0,
    });
    expect(decide("read /a/../b", { context }).code).toBe("invalid_target");
  });

  test("set-up is for the active module:system that the host entered, alone, and only for files", () => {
    const inSetUp = (frames: readonly Frame[], text = "read /x", question = {}) =>
      decide(text, { context: { frames, setup: true }, question }).code;
    expect(inSetUp([frame(SYSTEM), frame(TOOL)])).toBe(ASKED);
    expect(inSetUp([frame(SYSTEM), frame(SYSTEM, "guarded")])).toBe(ASKED);
    expect(inSetUp([frame(SYSTEM)], URL_TEXT)).toBe(ASKED);
    expect(inSetUp([frame(TOOL), frame(SYSTEM)], "read /x", { named: TOOL })).toBe(ASKED);
    expect(inSetUp([frame(TOOL), frame(SYSTEM)], "read /x", { named: SYSTEM })).toBe("allowed_setup");
  });

  test("a session approval is used before a permanent one, and that before a denial", () => {
    const [session, permanent] = [sessionApproval(URL_TEXT), approval(URL_TEXT)];
    const denials = [denial(URL_TEXT)];
    const answer = (approvals: Approval[]) => decide(URL_TEXT, { world: { approvals, denials } }).code;
    expect(answer([permanent, session])).toBe("allowed_session");
    expect(answer([permanent])).toBe("allowed_permanent");
    expect(answer([])).toBe("resource_disabled");
  });

  test("a recorded denial does not beat the allowlist, a deny rule does", () => {
    const contracts = [{ id: "c", access: [pair(URL_TEXT)] }];
    const context = { frames: [frame(TOOL, "host", ["c"])] };
    expect(decide(URL_TEXT, { context, world: { contracts, denials: [denial(URL_TEXT)] } }).code).toBe(
      ALLOWED,
    );
    const rules = [rule("deny", "receive a.example")];
    expect(decide(URL_TEXT, { context, world: { contracts, rules } }).code).toBe("denied_rule");
  });

  test("a snapshot that is not live leaves the allowlist only", () => {
    const context = { live: false };
    const world = { approvals: [approval(URL_TEXT)] };
    expect(decide(URL_TEXT, { context, world })).toMatchObject({
      code: "unavailable",
      frame: 0,
      registers: false,
    });
    expect(decide(URL_TEXT, { context: { ...context, observe: true } }).code).toBe("unavailable");
    expect(decide(URL_TEXT, { context: { ...context, frames: [frame(CORE)] } }).code).toBe("unavailable");
  });
});

describe("rules and hooks", () => {
  test("an ask rule holds against declarations, allow rules and hooks, and is answered by people", () => {
    const contracts = [{ id: "c", access: [pair(URL_TEXT)] }];
    const context = { frames: [frame(TOOL, "host", ["c"])] };
    const rules = [rule("ask", "receive a.example", { source: "user" }), rule("allow", URL_TEXT)];
    const question: Partial<Question> = { hook: { answer: "allow", ref: "h" } };
    expect(decide(URL_TEXT, { context, question, world: { contracts, rules } }).code).toBe(ASKED);
    const approvals = [approval(URL_TEXT)];
    expect(decide(URL_TEXT, { context, world: { contracts, rules, approvals } }).code).toBe(
      "allowed_permanent",
    );
    const denials = [denial(URL_TEXT)];
    expect(decide(URL_TEXT, { context, world: { contracts, rules, denials } }).code).toBe(
      "resource_disabled",
    );
  });

  test("only the host may allow by rule, and a denial comes first", () => {
    const allow = (more: Partial<HostRule>, denials: Denial[] = []) =>
      decide(URL_TEXT, { world: { rules: [rule("allow", "receive a.example", more)], denials } }).code;
    expect(allow({})).toBe("allowed_rule");
    expect(allow({ source: "organization" })).toBe(ASKED);
    expect(allow({ subject: AGENT })).toBe(ASKED);
    expect(allow({}, [denial(URL_TEXT)])).toBe("resource_disabled");
  });

  test("a hook denies before the allowlist, asks before it and allows after denials", () => {
    const hook = (answer: "allow" | "deny" | "ask") =>
      declaring(URL_TEXT, URL_TEXT, { hook: { answer, ref: "h" } });
    expect([hook("deny"), hook("ask"), hook("allow")]).toEqual(["denied_rule", ASKED, ALLOWED]);
    const question: Partial<Question> = { hook: { answer: "allow", ref: "h" } };
    expect(decide(URL_TEXT, { question }).code).toBe("allowed_rule");
    expect(decide(URL_TEXT, { question, world: { denials: [denial(URL_TEXT)] } }).code).toBe(
      "resource_disabled",
    );
  });

  test("core:core is allowed without rules, and has host policy", () => {
    const context = { frames: [frame(CORE)] };
    expect(decide("delete /x", { context }).code).toBe("allowed_rule");
    expect(decide("delete /x", { context, world: { rules: [rule("ask", "delete /x")] } }).code).toBe(ASKED);
    expect(decide("delete /x", { context, world: { rules: [rule("deny", "delete /")] } }).code).toBe(
      "denied_rule",
    );
  });

  test("core:core that guarded code made up is a subject like any other", () => {
    const madeUp = { frames: [frame(CORE), frame(CORE, "guarded")] };
    expect(decide("delete /x", { context: madeUp })).toMatchObject({
      code: ASKED,
      frame: 1,
      registers: true,
    });
    const contracts = [{ id: "c", access: [pair("delete /x")] }];
    const declared = { frames: [frame(CORE), frame(CORE, "guarded", ["c"])] };
    expect(decide("delete /x", { context: declared, world: { contracts } }).code).toBe(ALLOWED);
    const bounded = { frames: [frame(AGENT), frame(CORE, "guarded", ["c"])] };
    expect(decide("delete /x", { context: bounded, world: { contracts } })).toMatchObject({
      code: ASKED,
      frame: 0,
    });
  });

  test("a rule whose target does not parse matches nothing", () => {
    expect(
      decide("read /x", { world: { rules: [rule("deny", "read x/"), rule("deny", "read /a/../")] } }).code,
    ).toBe(ASKED);
  });
});

describe("modes", () => {
  const inMode = (
    context: Partial<Context>,
    question: Partial<Question> = {},
    text = "send https://a.example/",
  ) => decide(text, { context, question }).code;

  test("untrusted takes only read and receive from the allowlist", () => {
    const trusting = (text: string) => {
      const contracts = [{ id: "c", access: [pair(text)] }];
      const frames = [frame(TOOL, "host", ["c"])];
      return decide(text, { world: { contracts }, context: { frames, mode: "untrusted" } }).code;
    };
    expect(["read /x", URL_TEXT, "modify /x", "send a.example"].map(trusting)).toEqual([
      ALLOWED,
      ALLOWED,
      ASKED,
      ASKED,
    ]);
  });

  test("on_request refuses unless the caller asks explicitly", () => {
    const asks = ["default", "passive", "explicit"] as const;
    const codes = asks.map((ask) => inMode({ mode: "on_request" }, { ask }));
    expect(codes).toEqual(["denied_mode", "denied_mode", ASKED]);
  });

  test("on_failure lets run what is confined and refuses the rest", () => {
    expect(inMode({ mode: "on_failure", confined: true })).toBe("allowed_mode");
    expect(inMode({ mode: "on_failure" })).toBe("denied_mode");
  });

  test("never refuses what is undecided, also where an ask rule matches, and registers nothing", () => {
    expect(decide(URL_TEXT, { context: { mode: "never" } })).toMatchObject({
      code: "denied_mode",
      registers: false,
    });
    const world = { rules: [rule("ask", URL_TEXT)] };
    expect(decide(URL_TEXT, { context: { mode: "never" }, world }).code).toBe("denied_mode");
  });

  test("plan refuses what acts even where it is approved, after deny rules, and reads as default", () => {
    const context = { mode: "plan" } as const;
    const acts = [
      "create /x",
      "modify /x",
      "delete /x",
      "execute /x",
      "run git",
      "send a.example",
      "connect a.example:1",
    ];
    for (const text of acts) {
      expect(decide(text, { context, world: { approvals: [approval(text)] } }).code).toBe("denied_mode");
      expect(decide(text, { context, world: { rules: [rule("deny", text)] } }).code).toBe("denied_rule");
    }
    expect(decide("read /x", { context }).code).toBe(ASKED);
    expect(decide("read /x", { context, world: { approvals: [approval("read /x")] } }).code).toBe(
      "allowed_permanent",
    );
  });

  test("bypass allows until its end, and without one it is default", () => {
    const codes = [NOW + 1, NOW, null].map((modeExpiresAtMs) => inMode({ mode: "bypass", modeExpiresAtMs }));
    expect(codes).toEqual(["allowed_mode", ASKED, ASKED]);
  });

  test("a clock that is not a number ends bypass and kills approvals with an end, and no others", () => {
    const question = { nowMs: Number.NaN };
    expect(inMode({ mode: "bypass", modeExpiresAtMs: NOW }, question)).toBe(ASKED);
    expect(inMode({ mode: "bypass", modeExpiresAtMs: Number.NaN })).toBe(ASKED);
    const used = (more: Partial<Approval>) =>
      decide(URL_TEXT, { world: { approvals: [approval(URL_TEXT, more)] }, question }).code;
    expect(used({ expiresAtMs: NOW })).toBe(ASKED);
    expect(used({ usesLeft: Number.NaN })).toBe(ASKED);
    expect([used({}), used({ usesLeft: 1 })]).toEqual(["allowed_permanent", "allowed_permanent"]);
  });

  test("bypass keeps deny rules, ask rules and denials", () => {
    const context = { mode: "bypass", modeExpiresAtMs: NOW + 1 } as const;
    expect(decide(URL_TEXT, { context, world: { rules: [rule("deny", URL_TEXT)] } }).code).toBe(
      "denied_rule",
    );
    expect(decide(URL_TEXT, { context, world: { rules: [rule("ask", URL_TEXT)] } }).code).toBe(ASKED);
    expect(decide(URL_TEXT, { context, world: { denials: [denial(URL_TEXT)] } }).code).toBe(
      "resource_disabled",
    );
  });

  test("auto lets the classifier decide what would be asked, and asks without one", () => {
    const classify = (answer: "allow" | "deny" | "ask", mode: Context["mode"] = "auto") =>
      inMode({ mode }, { classifier: { answer, ref: "k" } });
    expect([classify("allow"), classify("deny"), classify("ask")]).toEqual([
      "allowed_mode",
      "denied_mode",
      ASKED,
    ]);
    expect(inMode({ mode: "auto" })).toBe(ASKED);
    expect(classify("allow", "default")).toBe(ASKED);
  });

  test("observe lets through what is asked or refused by the mode, and nothing else", () => {
    const watching = { observe: true };
    expect(decide(URL_TEXT, { context: watching })).toEqual({
      code: "allowed_mode",
      frame: 0,
      limited: false,
      registers: false,
    });
    expect(inMode({ ...watching, mode: "never" })).toBe("allowed_mode");
    expect(inMode({ ...watching, mode: "plan" })).toBe("allowed_mode");
    expect(decide(URL_TEXT, { context: watching, world: { denials: [denial(URL_TEXT)] } }).code).toBe(
      "resource_disabled",
    );
    expect(decide("read x", { context: watching }).code).toBe("invalid_target");
  });

  test("observe honours a denial of an enclosing frame and a denial under plan", () => {
    const frames = [frame(AGENT), frame(TOOL, "guarded")];
    const world = { denials: [denial("delete /x", { subject: AGENT })] };
    const answer = decide("delete /x", { context: { observe: true, frames }, world });
    expect(answer).toMatchObject({ code: "resource_disabled", frame: 0 });
    const planned = { observe: true, mode: "plan", frames } as const;
    expect(decide("delete /x", { context: planned, world }).code).toBe("resource_disabled");
  });

  test("observe honours a hook's deny under plan, and is not limited by approvals that were used", () => {
    const context = { observe: true, mode: "plan", frames: [frame(AGENT), frame(TOOL, "guarded")] } as const;
    const hook = { answer: "deny", ref: "h" } as const;
    expect(decide("delete /x", { context, question: { hook } }).code).toBe("denied_rule");
    expect(decide("delete /x", { context: { ...context, live: false } }).code).toBe("unavailable");
    const approvals = [approval("delete /x", { usesLeft: 1 })];
    const observed = { code: "allowed_mode", limited: false, registers: false };
    expect(decide("delete /x", { context, world: { approvals } })).toEqual({ ...observed, frame: 1 });
    const alone = { ...context, frames: [frame(TOOL)] };
    expect(decide("delete /x", { context: alone, world: { approvals } })).toEqual({ ...observed, frame: 0 });
  });
});

describe("the chain", () => {
  const contracts = [{ id: "c", access: [pair("read /x")] }];

  test("a frame that the host entered stands on its own contract", () => {
    const frames = [frame(AGENT), frame(TOOL, "host", ["c"])];
    expect(decide("read /x", { world: { contracts }, context: { frames } })).toMatchObject({
      code: ALLOWED,
      frame: 1,
    });
  });

  test("a frame that guarded code made up is bounded by all up to the nearest that the host entered", () => {
    const at = (entry: Frame["entry"], bound: readonly string[]) => {
      const frames = [frame(SYSTEM), frame(AGENT, entry, bound), frame(TOOL, "guarded", ["c"])];
      return decide("read /x", { world: { contracts }, context: { frames } });
    };
    expect(at("host", ["c"])).toMatchObject({ code: ALLOWED, frame: 2 });
    expect(at("host", [])).toMatchObject({ code: ASKED, frame: 1, registers: true });
    expect(at("guarded", ["c"])).toMatchObject({ code: ASKED, frame: 0, registers: true });
  });

  test("a deny rule of the bounding frame cannot be shed by a made-up one", () => {
    const frames = [frame(AGENT, "host", ["c"]), frame(TOOL, "guarded", ["c"])];
    const world = { contracts, rules: [rule("deny", "read /", { subject: AGENT })] };
    expect(decide("read /x", { world, context: { frames } })).toMatchObject({
      code: "denied_rule",
      frame: 0,
    });
  });

  test("naming a subject on the chain only narrows, and registers nothing in its name", () => {
    const frames = [frame(AGENT), frame(TOOL, "host", ["c"])];
    const question = { named: AGENT, ask: "explicit" } as const;
    const answer = decide("read /x", { world: { contracts }, context: { frames }, question });
    expect(answer).toEqual({ code: ASKED, frame: 1, limited: false, registers: false });
    const rules = [rule("deny", "read /x", { subject: AGENT })];
    expect(decide("read /x", { world: { contracts, rules }, context: { frames }, question })).toMatchObject({
      code: "denied_rule",
      frame: 1,
    });
  });

  test("host code may name a registered subject, which a request then names", () => {
    const frames = [frame(CORE)];
    const registered = { contracts, registrations: [{ subject: AGENT, contracts: ["c"] }] };
    const name = (text: string, world: Partial<World>) =>
      decide(text, { world, context: { frames }, question: { named: AGENT } });
    expect(name("read /x", registered)).toMatchObject({ code: "allowed_rule", frame: 0 });
    expect(name("read /y", registered)).toEqual({ code: ASKED, frame: 1, limited: false, registers: true });
    expect(name("read /x", { contracts }).code).toBe("subject_not_active");
  });

  test("only host code that the host entered may name a subject that is not on the chain", () => {
    const registered = { contracts, registrations: [{ subject: AGENT, contracts: ["c"] }] };
    const name = (frames: readonly Frame[], named = AGENT) =>
      decide("read /x", { world: registered, context: { frames }, question: { named } }).code;
    expect(name([frame(CORE), frame(CORE, "guarded", ["c"])])).toBe("subject_not_active");
    expect(name([frame(TOOL), frame(CORE, "guarded")])).toBe("subject_not_active");
    expect(name([frame(CORE), frame(TOOL, "host", ["c"])])).toBe("subject_not_active");
    expect(name([frame(TOOL), frame(CORE)])).toBe("allowed_rule");
    expect(name([frame(CORE), frame(CORE, "guarded", ["c"])], CORE)).toBe(ALLOWED);
  });

  test("the answer is limited if any approval that was used is", () => {
    const frames = [frame(AGENT), frame(TOOL, "guarded", ["c"])];
    const approvals = [approval("read /x", { subject: AGENT, usesLeft: 1 })];
    const answer = decide("read /x", { world: { contracts, approvals }, context: { frames } });
    expect(answer).toMatchObject({ code: ALLOWED, frame: 1, limited: true });
  });
});
