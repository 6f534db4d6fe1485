/**
 * The second model against the tables of the specification, by hand, and the reach of the generated cases.
 */
import {
  type Access,
  CHECK_CODES,
  type CheckCode,
  type Fault,
  type Host,
  PERMISSION_MODES,
  type Subject,
  parseAccess,
  parseSubject,
} from "@sallyport/contract";
import { assert as assertProperty, property } from "fast-check";
import { describe, expect, test } from "vitest";
import type { AccessRule, Approval, Context, Denial, Frame, HostRule, Question } from "../question.ts";
import { type Case, arbitraryCase, makeCase, prng } from "./arbitrary-world.ts";
import { type ReferenceVerdict, type World, referenceDecide } from "./reference-decide.ts";
import { whatwgUrl as parseUrl } from "@sallyport/contract";

const NOW = 1000;
const TOOL = subject("tool", "demo.read_file");
const AGENT = subject("agent", "demo.reader_agent");
const SYSTEM = subject("module", "system");
const CORE = subject("core", "core");

function subject(type: string, name: string): Subject {
  const parsed = parseSubject(type, name);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.value;
}

/** `receive https://a.example/` and so on: the operation says the resource type, `run` is a bare name. */
function pair(text: string): AccessRule {
  const space = text.indexOf(" ");
  const [word, target] = [text.slice(0, space), text.slice(space + 1)];
  if (word === "run") return { resourceType: "system_dependency", operation: "execute", target };
  const isNetwork = ["connect", "receive", "send"].includes(word);
  const resourceType = isNetwork ? "network" : "filesystem";
  return { resourceType, operation: word as AccessRule["operation"], target };
}

function access(text: string): Access | Fault {
  const parsed = parseAccess(pair(text), parseUrl);
  return parsed.ok ? parsed.value : parsed;
}

function frame(of: Subject, entry: Frame["entry"] = "host", contracts: readonly string[] = []): Frame {
  return { subject: of, phase: "runtime", entry, contracts };
}

function rule(effect: HostRule["effect"], text: string, more: Partial<HostRule> = {}): HostRule {
  return { id: "r", effect, source: "host", ...pair(text), ...more };
}

function approval(text: string, more: Partial<Approval> = {}): Approval {
  const nobody = { organizationId: null, userId: null, sessionKey: null };
  const endless = { expiresAtMs: null, usesLeft: null };
  return {
    id: "a",
    subject: TOOL,
    ...pair(text),
    match: "exact",
    scope: "permanent",
    ...nobody,
    ...endless,
    ...more,
  };
}

function sessionApproval(text: string, more: Partial<Approval> = {}): Approval {
  return approval(text, { scope: "session", userId: 21, sessionKey: "s", ...more });
}

function denial(text: string, more: Partial<Denial> = {}): Denial {
  return { id: "d", subject: TOOL, ...pair(text), match: "exact", ...more };
}

interface Scene {
  readonly world?: Partial<World>;
  readonly context?: Partial<Context>;
  readonly question?: Partial<Question>;
}

function decide(text: string, scene: Scene = {}): ReferenceVerdict {
  const world: World = {
    contracts: [],
    registrations: [],
    rules: [],
    builtins: [],
    approvals: [],
    denials: [],
    ...scene.world,
  };
  const context: Context = {
    frames: [frame(TOOL)],
    organizationId: null,
    userId: 21,
    sessionKey: "s",
    mode: "default",
    modeExpiresAtMs: null,
    setup: false,
    observe: false,
    confined: false,
    live: true,
    ...scene.context,
  };
  return referenceDecide(world, context, {
    access: access(text),
    ask: "default",
    nowMs: NOW,
    ...scene.question,
  });
}

/** The code for a tool that declares one rule. */
function declaring(declared: string, asked: string, question: Partial<Question> = {}): CheckCode {
  const contracts = [{ id: "c", access: [pair(declared)] }];
  return decide(asked, { world: { contracts }, context: { frames: [frame(TOOL, "host", ["c"])] }, question })
    .code;
}

/** The code for a tool that holds one permanent approval. */
function holding(approved: string, match: Approval["match"], asked: string): CheckCode {
  return decide(asked, { world: { approvals: [approval(approved, { match })] } }).code;
}

const ALLOWED = "allowed_sandbox";
const ASKED = "approval_required";
const URL_TEXT = "receive https://a.example/v1/reports";

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

  test("the answer is limited if any approval that was used is", () => {
    const frames = [frame(AGENT), frame(TOOL, "guarded", ["c"])];
    const approvals = [approval("read /x", { subject: AGENT, usesLeft: 1 })];
    const answer = decide("read /x", { world: { contracts, approvals }, context: { frames } });
    expect(answer).toMatchObject({ code: ALLOWED, frame: 1, limited: true });
  });
});

describe("approvals and denials", () => {
  const used = (approvals: Approval[], context: Partial<Context> = {}) =>
    decide(URL_TEXT, { world: { approvals }, context });

  test("a session approval holds for its organization, user and key together", () => {
    const own = sessionApproval(URL_TEXT);
    expect(used([own]).code).toBe("allowed_session");
    const others: Partial<Context>[] = [
      { userId: "21" },
      { organizationId: 0 },
      { sessionKey: "t" },
      { sessionKey: null },
    ];
    for (const other of others) expect(used([own], other).code).toBe(ASKED);
    expect(used([sessionApproval(URL_TEXT, { sessionKey: "" })], { sessionKey: "" }).code).toBe(ASKED);
  });

  test("an approval is dead at its expiry and without uses", () => {
    expect(used([approval(URL_TEXT, { expiresAtMs: NOW })]).code).toBe(ASKED);
    expect(used([approval(URL_TEXT, { usesLeft: 0 })]).code).toBe(ASKED);
    expect(used([approval(URL_TEXT, { expiresAtMs: NOW + 1 })])).toMatchObject({
      code: "allowed_permanent",
      limited: true,
    });
  });

  test("of several approvals an unlimited one is used first", () => {
    const limited = approval(URL_TEXT, { usesLeft: 5 });
    expect(used([limited]).limited).toBe(true);
    expect(used([limited, approval(URL_TEXT)]).limited).toBe(false);
  });

  test("an exact denial beats a widened approval, a widened denial does not", () => {
    const approvals = [approval(URL_TEXT, { match: "origin" })];
    const against = (match: Denial["match"]) =>
      decide(URL_TEXT, { world: { approvals, denials: [denial(URL_TEXT, { match })] } }).code;
    expect(against("exact")).toBe("resource_disabled");
    expect(against("any_query")).toBe("allowed_permanent");
  });

  test("a session approval suspends a denial for that session only", () => {
    const world = { approvals: [sessionApproval(URL_TEXT)], denials: [denial(URL_TEXT)] };
    expect(decide(URL_TEXT, { world }).code).toBe("allowed_session");
    expect(decide(URL_TEXT, { world, context: { sessionKey: "t" } }).code).toBe("resource_disabled");
  });

  test.each([
    ["exact", "receive https://a.example/p?q=1", ["https://a.example/p?q=1"], ["https://a.example/p"]],
    ["any_query", "receive https://a.example/p?q=1", ["https://a.example/p?q=2"], ["https://a.example/p/x"]],
    ["path_prefix", "receive https://a.example/p/", ["https://a.example/p/x"], ["https://a.example/px"]],
    ["origin", "receive https://a.example/p", ["wss://a.example/x", "a.example:443"], ["http://a.example/p"]],
    ["endpoint", "receive a.example:443", ["https://a.example/x"], ["https://a.example:8443/x", "a.example"]],
    ["directory", "read /data/app", ["/data/app", "/data/app/x"], ["/data/application"]],
    ["directory", "receive https://a.example/p/", [], ["https://a.example/p/", "https://a.example/p/x"]],
    ["exact", "receive a.example:443", ["a.example:443"], ["https://a.example/", "a.example"]],
    ["exact", "connect a.example", ["a.example"], ["a.example:443"]],
  ] as const)(
    "an approval with match %s on %s reaches what it should",
    (match, approved, reached, missed) => {
      const word = approved.slice(0, approved.indexOf(" "));
      for (const text of reached)
        expect(holding(approved, match, `${word} ${text}`)).toBe("allowed_permanent");
      for (const text of missed) expect(holding(approved, match, `${word} ${text}`)).toBe(ASKED);
    },
  );
});

describe("declared patterns", () => {
  test.each([
    ["https://a.example/v1/reports", ["https://a.example/v1/reports?q=1"], ["https://a.example/v1/reports/"]],
    [
      "https://a.example/v1?q=1",
      ["https://a.example/v1?q=1"],
      ["https://a.example/v1", "https://a.example/v1?q=2"],
    ],
    [
      "https://a.example/v1/",
      ["https://a.example/v1/", "https://a.example/v1/x?q"],
      ["https://a.example/v1"],
    ],
    [
      "https://a.example",
      ["https://a.example/x", "a.example:443"],
      ["http://a.example/", "https://a.example:8443/"],
    ],
    ["https://a.example/", ["https://a.example/x"], ["a.example:443", "a.example"]],
    ["a.example", ["http://a.example:81/x", "a.example:9", "a.example"], ["https://b.a.example/"]],
    ["a.example:443", ["https://a.example/x", "a.example:443"], ["http://a.example/", "a.example"]],
    ["http://localhost:80", ["ws://127.0.0.1/x", "http://[::1]/"], ["http://127.0.0.2/"]],
  ] as const)("%s allows what the table says", (declared, reached, missed) => {
    for (const text of reached) expect(declaring(`receive ${declared}`, `receive ${text}`)).toBe(ALLOWED);
    for (const text of missed) expect(declaring(`receive ${declared}`, `receive ${text}`)).toBe(ASKED);
  });

  test("under a folder encoded slashes, backslashes and dot segments do not match at any depth", () => {
    const below = (path: string) =>
      declaring("receive https://a.example/v1/", `receive https://a.example/v1/${path}`);
    const bad = ["a%2fb", "a%5Cb", "%252e%252e/x", "%25252e/x", "a%252Fb", "%%32e/x", "x/%2e%2e%2f"];
    for (const path of bad) expect(below(path)).toBe(ASKED);
    for (const path of ["...", "a%20b", "%zz", "x.."]) expect(below(path)).toBe(ALLOWED);
  });

  test("a folder ends in a slash, and a look-alike sibling is another path", () => {
    expect(declaring("read /data/app/", "read /data/app")).toBe(ALLOWED);
    expect(declaring("read /data/app/", "read /data/app/x")).toBe(ALLOWED);
    expect(declaring("read /data/app/", "read /data/application")).toBe(ASKED);
    expect(declaring("read /data/app", "read /data/app/x")).toBe(ASKED);
    expect(declaring("read /", "read /data/app")).toBe(ALLOWED);
    expect(declaring("read /data/app", "modify /data/app")).toBe(ASKED);
  });

  test("a unix socket is exactly that path", () => {
    expect(declaring("connect unix:/run/a", "connect unix:/run/a")).toBe(ALLOWED);
    expect(declaring("connect unix:/run/a", "connect unix:/run/a/b")).toBe(ASKED);
  });
});

describe("hosts and executables", () => {
  const host = (text: string) => text as Host;
  const local = { address: host("127.0.0.1") };

  test("a name on a local address needs a rule that names the address or a local host", () => {
    expect(declaring("receive a.example", URL_TEXT, local)).toBe(ASKED);
    expect(declaring("receive localhost", URL_TEXT, local)).toBe(ALLOWED);
    expect(declaring("receive a.example", URL_TEXT, { address: host("10.0.0.7") })).toBe(ALLOWED);
    expect(declaring("receive 10.0.0.7", URL_TEXT, { address: host("10.0.0.7") })).toBe(ASKED);
  });

  test("an address literal is allowed by its aliases unless it is local, and by 64 of them at most", () => {
    const aliases = [host("a.example")];
    expect(declaring("receive a.example", "receive 10.0.0.7:443", { aliases })).toBe(ALLOWED);
    expect(declaring("receive a.example", "receive 127.0.0.1:443", { aliases })).toBe(ASKED);
    const crowd = Array.from({ length: 64 }, (_, index) => host(`n${index}.example`));
    expect(declaring("receive a.example", "receive 10.0.0.7:443", { aliases: [...crowd, ...aliases] })).toBe(
      ASKED,
    );
  });

  test("what restricts looks at the host, its address and its aliases", () => {
    const denied = (deny: string, question: Partial<Question>) =>
      decide(URL_TEXT, { world: { rules: [rule("deny", deny)] }, question }).code;
    expect(denied("receive a.example", local)).toBe("denied_rule");
    expect(denied("receive [::1]", local)).toBe("denied_rule");
    expect(denied("receive b.example", { aliases: [host("b.example")] })).toBe("denied_rule");
  });

  test("a bare name may be allowed or denied by its path", () => {
    const question = { twin: access("execute /usr/bin/git") as Access };
    expect(declaring("execute /usr/bin/git", "run git", question)).toBe(ALLOWED);
    const world = { denials: [denial("execute /usr/bin/git")] };
    expect(decide("run git", { world, question }).code).toBe("resource_disabled");
  });

  test("a path may be denied by its name, and is never allowed by it", () => {
    const question = { twin: access("run git") as Access };
    expect(declaring("run git", "execute /usr/bin/git", question)).toBe(ASKED);
    const world = { rules: [rule("deny", "run git")] };
    expect(decide("execute /usr/bin/git", { world, question }).code).toBe("denied_rule");
  });
});

describe("generated cases", () => {
  const cases = Array.from({ length: 20_000 }, (_, seed) => makeCase(prng(seed)));
  const verdictOf = ({ world, context, question }: Case) => referenceDecide(world, context, question);

  test("every code that a decision can have occurs at least 20 times", () => {
    const counts = new Map<CheckCode, number>();
    for (const { code } of cases.map(verdictOf)) counts.set(code, (counts.get(code) ?? 0) + 1);
    const expected = Object.keys(CHECK_CODES).filter(
      (code) => !["request_limit", "approval_timeout"].includes(code),
    );
    expect([...counts.keys()].toSorted()).toEqual(expected.toSorted());
    expect(Math.min(...counts.values())).toBeGreaterThanOrEqual(20);
  });

  test("every mode is met by an allow", () => {
    const allowed = cases.filter((one) => CHECK_CODES[verdictOf(one).code] === "allowed");
    expect(new Set(allowed.map(({ context }) => context.mode))).toEqual(new Set(PERMISSION_MODES));
  });

  test("every form of a declared pattern allows something alone", () => {
    const forms = new Set(cases.flatMap(formsThatAllow));
    expect([...forms].toSorted()).toEqual(
      [
        "directory",
        "folder",
        "host",
        "host:port",
        "name",
        "origin",
        "path",
        "query",
        "unix",
        "url",
      ].toSorted(),
    );
  });

  test("every match of an approval allows something alone", () => {
    const matches = new Set(cases.flatMap(matchesThatAllow));
    expect([...matches].toSorted()).toEqual(
      ["any_query", "directory", "endpoint", "exact", "origin", "path_prefix"].toSorted(),
    );
  });

  test("the same seed gives the same case, and fast-check can draw cases", () => {
    expect(makeCase(prng(7))).toEqual(makeCase(prng(7)));
    assertProperty(property(arbitraryCase(), (one) => verdictOf(one).code in CHECK_CODES));
  });

  /** The forms of those declared rules that allow a case with no other rule beside them. */
  function formsThatAllow(one: Case): string[] {
    if (verdictOf(one).code !== ALLOWED) return [];
    const rules = one.world.contracts.flatMap((contract) => contract.access);
    return rules.filter((only) => isAllowedBy(one, only)).map(formOf);
  }

  function isAllowedBy(one: Case, only: AccessRule): boolean {
    const contracts = one.world.contracts.map(({ id }) => ({ id, access: [only] }));
    return verdictOf({ ...one, world: { ...one.world, contracts, approvals: [] } }).code === ALLOWED;
  }

  function matchesThatAllow(one: Case): string[] {
    const { code } = verdictOf(one);
    if (code !== "allowed_session" && code !== "allowed_permanent") return [];
    return one.world.approvals
      .filter((only) => verdictOf({ ...one, world: { ...one.world, approvals: [only] } }).code === code)
      .map(({ match }) => match);
  }

  function formOf({ resourceType, target }: AccessRule): string {
    if (resourceType === "system_dependency") return "name";
    if (resourceType === "filesystem") return target.endsWith("/") ? "directory" : "path";
    if (target.startsWith("unix:")) return "unix";
    if (!target.includes("://")) return /:\d+$/.test(target) ? "host:port" : "host";
    if (target.includes("?")) return "query";
    if (!/:\/\/.*[/\\]/.test(target)) return "origin";
    return target.endsWith("/") ? "folder" : "url";
  }
});
