/**
 * The check order by hand, and attacks on it. What a table can say is in `decision-matrix.test.ts`.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ActiveContext } from "./active-context.ts";
import type { Change } from "./change.ts";
import { decide } from "./decide.ts";
import type { Context, Question } from "./question.ts";
import { caseCount } from "./testing/case-count.ts";
import {
  AGENT,
  CORE,
  NOW_MS,
  SYSTEM,
  TOOL,
  access,
  activate,
  approval,
  context,
  denial,
  frame,
  question,
  rule,
  sessionApproval,
  snapshotOf,
} from "./testing/fixture-world.ts";

const READ = { resourceType: "filesystem", operation: "read", target: "/data/app/x" } as const;
const read = (target: string, more: Partial<Question> = {}): Question =>
  question("filesystem", "read", target, more);
const receive = (target: string, more: Partial<Question> = {}): Question =>
  question("network", "receive", target, more);
const declare = (id: string, ...targets: string[]): Change => ({
  kind: "contract_set",
  contract: { id, access: targets.map((target) => ({ ...READ, target })) },
});
const declareReceive = (...targets: string[]): Change => ({
  kind: "contract_set",
  contract: {
    id: "manifest",
    access: targets.map((target) => ({ resourceType: "network", operation: "receive", target })),
  },
});
const WITH_MANIFEST: Partial<Context> = { frames: [frame(TOOL, { contracts: ["manifest"] })] };

describe("a folder", () => {
  it("covers itself and all below it, and no look-alike beside it", () => {
    const active = activate(WITH_MANIFEST, declare("manifest", "/data/app/"));
    expect(decide(active, read("/data/app")).code).toBe("allowed_sandbox");
    expect(decide(active, read("/data/app/a/b/c")).code).toBe("allowed_sandbox");
    expect(decide(active, read("/data/application")).code).toBe("approval_required");
    expect(decide(active, read("/data")).code).toBe("approval_required");
    expect(decide(active, read("/data/ap")).code).toBe("approval_required");
  });

  it("covers everything where it is the root", () => {
    const active = activate(WITH_MANIFEST, declare("manifest", "/"));
    for (const path of ["/", "/a", "/a/b"]) expect(decide(active, read(path)).code).toBe("allowed_sandbox");
  });

  it("is found at any depth, also behind more than 32 and 64 segments", () => {
    const deep = `/${Array.from({ length: 90 }, (_, index) => `s${index}`).join("/")}`;
    const active = activate(WITH_MANIFEST, declare("manifest", `${deep}/`));
    expect(decide(active, read(`${deep}/x/y`)).code).toBe("allowed_sandbox");
    expect(decide(active, read(`${deep}x`)).code).toBe("approval_required");
    expect(decide(active, read(deep.slice(0, deep.lastIndexOf("/")))).code).toBe("approval_required");
  });
});

describe("a declared URL", () => {
  const rows: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    [
      "https://api.example.com/v1/reports",
      [
        "https://api.example.com/v1/reports",
        "https://api.example.com/v1/reports?x=1",
        "wss://api.example.com/v1/reports",
      ],
      [
        "https://api.example.com/v1/reports/",
        "https://api.example.com/v1/reports2",
        "http://api.example.com/v1/reports",
        "https://api.example.com:8443/v1/reports",
        "api.example.com:443",
        "https://x.api.example.com/v1/reports",
      ],
    ],
    [
      "https://api.example.com/v1/",
      [
        "https://api.example.com/v1/",
        "https://api.example.com/v1/a/b?q",
        "https://api.example.com/v1/a/../b",
      ],
      [
        "https://api.example.com/v1",
        "https://api.example.com/v10/",
        "https://api.example.com/v1/../admin",
        "https://api.example.com/v1/..%2fadmin",
        "https://api.example.com/v1/%252e%252e/admin",
        "https://api.example.com/v1/a%5cb",
        "api.example.com:443",
      ],
    ],
    [
      "https://api.example.com",
      [
        "https://api.example.com/",
        "https://api.example.com/a%2fb",
        "wss://api.example.com/x",
        "api.example.com:443",
      ],
      [
        "http://api.example.com/",
        "https://api.example.com:8443/",
        "api.example.com:80",
        "api.example.com",
        "https://api.example.com.evil.example/",
      ],
    ],
    [
      "api.example.com",
      ["https://api.example.com/", "http://api.example.com:8080/x", "api.example.com:25", "api.example.com"],
      [
        "https://x.api.example.com/",
        "https://example.com/",
        "https://api.example.com.evil.example/",
        "evilapi.example.com:25",
      ],
    ],
    [
      "api.example.com:443",
      ["https://api.example.com/", "http://api.example.com:443/", "api.example.com:443"],
      ["http://api.example.com/", "api.example.com:80", "api.example.com", "https://api.example.com:444/"],
    ],
    [
      "https://api.example.com/a?x=1",
      ["https://api.example.com/a?x=1"],
      [
        "https://api.example.com/a",
        "https://api.example.com/a?x=1&y",
        "https://api.example.com/a?x=10",
        "https://api.example.com/a?",
      ],
    ],
    [
      "http://localhost:8080",
      ["http://127.0.0.1:8080/x", "http://[::1]:8080/", "ws://localhost:8080/", "127.0.0.1:8080"],
      ["http://127.0.0.2:8080/", "http://0.0.0.0:8080/", "http://localhost/"],
    ],
  ];

  it.each(rows)("%s allows what the table says and nothing else", (pattern, allowed, refused) => {
    const active = activate(WITH_MANIFEST, declareReceive(pattern));
    for (const target of allowed)
      expect([target, decide(active, receive(target)).code]).toEqual([target, "allowed_sandbox"]);
    for (const target of refused)
      expect([target, decide(active, receive(target)).code]).toEqual([target, "approval_required"]);
  });

  it("that denies holds for paths that servers read in two ways", () => {
    const deny = rule("deny", {
      resourceType: "network",
      operation: "receive",
      target: "https://api.example.com/admin/",
    });
    const active = activate(WITH_MANIFEST, declareReceive("https://api.example.com"), {
      kind: "rule_set",
      rule: deny,
    });
    expect(decide(active, receive("https://api.example.com/admin/x%2f")).code).toBe("denied_rule");
    expect(decide(active, receive("https://api.example.com/other%2f")).code).toBe("allowed_sandbox");
  });
});

describe("addresses and names", () => {
  const [address, metadata, alias] = ["93.184.216.34", "169.254.169.254", "api.example.com"].map((text) => {
    const target = access("network", "connect", text);
    if (!("target" in target) || target.target.form !== "endpoint") throw new Error(text);
    return target.target.host;
  });

  it("rebinding: a name that resolves to a local address is not opened by a rule on the name", () => {
    const active = activate(WITH_MANIFEST, declareReceive("api.example.com"));
    expect(decide(active, receive("http://api.example.com/", { address })).allowed).toBe(true);
    expect(decide(active, receive("http://api.example.com/", { address: metadata })).code).toBe(
      "approval_required",
    );
  });

  it("rebinding: a rule that names the address opens it", () => {
    const active = activate(WITH_MANIFEST, declareReceive("http://169.254.169.254"));
    expect(decide(active, receive("http://api.example.com/", { address: metadata })).code).toBe(
      "allowed_sandbox",
    );
    expect(decide(active, receive("http://api.example.com/", { address })).code).toBe("approval_required");
  });

  it("an address matches a name that resolved to it, and no other name on the same address", () => {
    const active = activate(WITH_MANIFEST, declareReceive("https://api.example.com"));
    const aliases = [alias as NonNullable<typeof alias>];
    expect(decide(active, receive("https://93.184.216.34/", { aliases })).code).toBe("allowed_sandbox");
    expect(decide(active, receive("https://93.184.216.34/")).code).toBe("approval_required");
  });

  it("a widened denial of the address does not take away an exact approval of the name", () => {
    const aimed = { resourceType: "network", operation: "receive" } as const;
    const active = activate(
      {},
      { kind: "approval_set", approval: approval({ ...aimed, target: "https://api.example.com/" }) },
      {
        kind: "denial_set",
        denial: denial({ ...aimed, target: "https://93.184.216.34/" }, { match: "origin" }),
      },
    );
    expect(decide(active, receive("https://api.example.com/", { address })).code).toBe("allowed_permanent");
    expect(decide(active, receive("https://api.example.com/x", { address })).code).toBe("resource_disabled");
  });

  it("no more than 64 aliases are looked at", () => {
    const active = activate(WITH_MANIFEST, declareReceive("https://api.example.com"));
    const others = Array.from({ length: 63 }, () => address as NonNullable<typeof address>);
    const name = alias as NonNullable<typeof alias>;
    const ask = (aliases: (typeof name)[]): string =>
      decide(active, receive("https://93.184.216.34/", { aliases })).code;
    expect(ask([...others, name])).toBe("allowed_sandbox");
    expect(ask([...others, ...others.slice(0, 1), name])).toBe("approval_required");
  });

  it("a deny rule on an address holds for every name that resolves to it", () => {
    const deny = rule("deny", { resourceType: "network", operation: "receive", target: "93.184.216.34" });
    const active = activate(WITH_MANIFEST, declareReceive("api.example.com"), {
      kind: "rule_set",
      rule: deny,
    });
    expect(decide(active, receive("https://api.example.com/", { address })).code).toBe("denied_rule");
  });
});

describe("frames", () => {
  const inner = (entry: "host" | "guarded"): Partial<Context> => ({
    frames: [frame(AGENT, { contracts: ["outer"] }), frame(TOOL, { contracts: ["inner"], entry })],
  });

  it("that the host entered stand on their own contract", () => {
    const active = activate(inner("host"), declare("outer"), declare("inner", "/data/"));
    expect(decide(active, read("/data/x"))).toMatchObject({ code: "allowed_sandbox", frame: 1 });
  });

  it("that guarded code made up are bounded by those around them, and the one that fails is what is asked for", () => {
    const active = activate(inner("guarded"), declare("outer", "/data/a/"), declare("inner", "/data/"));
    expect(decide(active, read("/data/a/x"))).toMatchObject({ code: "allowed_sandbox", frame: 1 });
    expect(decide(active, read("/data/b/x"))).toMatchObject({
      code: "approval_required",
      frame: 0,
      registers: true,
    });
  });

  it("shed rule: a made-up frame does not shed the deny rule of the frame around it", () => {
    const deny = rule("deny", { ...READ, target: "/data/" }, { subject: AGENT });
    const active = activate(inner("guarded"), declare("outer", "/data/"), declare("inner", "/data/"), {
      kind: "rule_set",
      rule: deny,
    });
    expect(decide(active, read("/data/x"))).toMatchObject({ code: "denied_rule", frame: 0 });
  });

  it("claimed set-up: a made-up frame called module:system gets no set-up exception", () => {
    const frames = [frame(TOOL), frame(SYSTEM, { entry: "guarded" })];
    expect(decide(activate({ frames, setup: true }), read("/etc/x")).code).toBe("approval_required");
    expect(decide(activate({ frames: [frame(SYSTEM)], setup: true }), read("/etc/x")).code).toBe(
      "allowed_setup",
    );
    expect(decide(activate({ frames: [frame(SYSTEM), frame(TOOL)], setup: true }), read("/etc/x")).code).toBe(
      "approval_required",
    );
  });

  it("claimed host: a made-up frame called core:core has no powers", () => {
    const frames = [frame(TOOL), frame(CORE, { entry: "guarded" })];
    const registered: Change = {
      kind: "subject_registered",
      registration: { subject: AGENT, contracts: [] },
    };
    expect(decide(activate({ frames }), read("/etc/x")).code).toBe("approval_required");
    expect(decide(activate({ frames }, registered), read("/etc/x", { named: AGENT })).code).toBe(
      "subject_not_active",
    );
    expect(decide(activate({ frames: [frame(CORE, { entry: "guarded" })] }), read("/etc/x")).code).toBe(
      "no_subject",
    );
    expect(decide(activate({ frames: [frame(CORE)] }), read("/etc/x")).code).toBe("allowed_rule");
  });

  it("may be named to narrow, and a named subject never widens nor speaks for another", () => {
    const frames = [frame(AGENT, { contracts: ["outer"] }), frame(TOOL, { contracts: ["inner"] })];
    const changes = [declare("outer", "/data/a/"), declare("inner", "/data/")];
    const active = activate({ frames }, ...changes);
    expect(decide(active, read("/data/a/x", { named: AGENT })).code).toBe("allowed_sandbox");
    expect(decide(active, read("/data/b", { named: AGENT }))).toMatchObject({
      code: "approval_required",
      frame: 1,
      registers: false,
    });
    expect(decide(active, read("/data/b", { named: SYSTEM })).code).toBe("subject_not_active");
  });
});

describe("approvals and denials", () => {
  it("hold for organization, user and session together, compared as given", () => {
    const changes: Change[] = [
      { kind: "approval_set", approval: sessionApproval(READ, { organizationId: 0 }) },
    ];
    const ask = (more: Partial<Context>): string =>
      decide(activate({ organizationId: 0, ...more }, ...changes), read(READ.target)).code;
    expect(ask({})).toBe("allowed_session");
    for (const more of [
      { userId: "21" },
      { userId: null },
      { organizationId: null },
      { organizationId: 1 },
      { sessionKey: "other" },
      { sessionKey: null },
      { sessionKey: "" },
    ]) {
      expect([more, ask(more)]).toEqual([more, "approval_required"]);
    }
  });

  it("a denial beats a widened approval, and an exact approval of the session suspends it", () => {
    const wide: Change = {
      kind: "approval_set",
      approval: approval({ ...READ, target: "/data" }, { match: "directory" }),
    };
    const denied: Change = { kind: "denial_set", denial: denial(READ) };
    expect(decide(activate({}, wide), read(READ.target)).code).toBe("allowed_permanent");
    expect(decide(activate({}, wide, denied), read(READ.target)).code).toBe("resource_disabled");
    expect(decide(activate({}, wide, denied), read("/data/other")).code).toBe("allowed_permanent");
    const suspended: Change = { kind: "approval_set", approval: sessionApproval(READ) };
    expect(decide(activate({}, wide, denied, suspended), read(READ.target)).code).toBe("allowed_session");
  });

  it("end at their instant, at their last use, and for a clock that is not a number", () => {
    const until: Change = { kind: "approval_set", approval: approval(READ, { expiresAtMs: NOW_MS + 1 }) };
    const active = activate({}, until);
    expect(decide(active, read(READ.target))).toMatchObject({ code: "allowed_permanent", limited: true });
    expect(decide(active, read(READ.target, { nowMs: NOW_MS + 1 })).code).toBe("approval_required");
    expect(decide(active, read(READ.target, { nowMs: Number.NaN })).code).toBe("approval_required");
    expect(decide(active, read(READ.target)).code).toBe("allowed_permanent");
    const used: Change = { kind: "approval_set", approval: approval(READ, { usesLeft: 0 }) };
    expect(decide(activate({}, used), read(READ.target)).code).toBe("approval_required");
  });

  it("use an unlimited approval before a limited one", () => {
    const limited: Change = { kind: "approval_set", approval: approval(READ, { id: "a", usesLeft: 1 }) };
    const unlimited: Change = {
      kind: "approval_set",
      approval: approval({ ...READ, target: "/data" }, { id: "b", match: "directory" }),
    };
    expect(decide(activate({}, limited, unlimited), read(READ.target))).toMatchObject({
      limited: false,
      refs: ["b"],
    });
    expect(decide(activate({}, limited), read(READ.target))).toMatchObject({ limited: true, refs: ["a"] });
  });

  it("a denial on either form of a program blocks the approval of the other", () => {
    const twin = access("filesystem", "execute", "/usr/bin/git");
    if (!("target" in twin)) throw new Error("no twin");
    const git = { resourceType: "system_dependency", operation: "execute", target: "git" } as const;
    const path = { resourceType: "filesystem", operation: "execute", target: "/usr/bin/git" } as const;
    const ask = question("system_dependency", "execute", "git", { twin });
    expect(decide(activate({}, { kind: "approval_set", approval: approval(path) }), ask).code).toBe(
      "allowed_permanent",
    );
    const both: Change[] = [
      { kind: "approval_set", approval: approval(git) },
      { kind: "denial_set", denial: denial({ ...path, target: "/usr/bin" }, { match: "directory" }) },
    ];
    expect(decide(activate({}, ...both), ask).code).toBe("resource_disabled");
    const byPath = question("filesystem", "execute", "/usr/bin/git", { twin: ask.access as never });
    const named: Change[] = [
      { kind: "approval_set", approval: approval(path) },
      { kind: "rule_set", rule: rule("deny", git) },
    ];
    expect(decide(activate({}, ...named), byPath).code).toBe("denied_rule");
  });
});

describe("a twin", () => {
  const parsed = (resourceType: string, operation: string, target: string) => {
    const twin = access(resourceType, operation, target);
    if (!("target" in twin)) throw new Error(target);
    return twin;
  };

  it("restricts whatever it is, and allows only as the path of a program that is named", () => {
    const cat = { resourceType: "system_dependency", operation: "execute", target: "cat" } as const;
    const denied: Change = { kind: "rule_set", rule: rule("deny", cat) };
    const readable = read("/usr/bin/cat", { twin: parsed("system_dependency", "execute", "cat") });
    expect(decide(activate({}, denied), readable).code).toBe("denied_rule");
    const allowed: Change = { kind: "rule_set", rule: rule("allow", { ...READ, target: "/usr/bin/cat" }) };
    const asked = question("system_dependency", "execute", "cat", {
      twin: parsed("filesystem", "read", "/usr/bin/cat"),
    });
    expect(decide(activate({}, allowed), asked).code).toBe("approval_required");
    const other = question("filesystem", "execute", "/bin/cat", {
      twin: parsed("system_dependency", "execute", "cat"),
    });
    expect(decide(activate({}, { kind: "rule_set", rule: rule("allow", cat) }), other).code).toBe(
      "approval_required",
    );
  });
});

describe("decide is total", () => {
  it("whatever it is given, it answers, and never allows what it cannot read", () => {
    const snapshot = snapshotOf(declare("manifest", "/"));
    fc.assert(
      fc.property(
        fc.anything({ withNullPrototype: true, withBigInt: true, withSparseArray: true }),
        fc.anything(),
        (left, right) => {
          const active = new ActiveContext(snapshot, context(WITH_MANIFEST));
          expect(decide(active, left as Question).allowed).toBe(false);
          expect(decide(active, { ...read("/x"), access: left } as Question).allowed).toBe(false);
          expect(decide(left as ActiveContext, right as Question).allowed).toBe(false);
          const odd = {
            ...read("/x"),
            named: left,
            hook: right,
            twin: left,
            aliases: right,
            nowMs: left,
          } as Question;
          expect(typeof decide(active, odd).code).toBe("string");
        },
      ),
      { numRuns: caseCount(5000) },
    );
  });

  it("throwing getters and revoked proxies are no way through", () => {
    const active = activate(WITH_MANIFEST, declare("manifest", "/"));
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const trap = {
      get access(): never {
        throw new Error("gotcha");
      },
    };
    for (const hostile of [proxy, trap]) {
      expect(decide(active, hostile as Question)).toMatchObject({ code: "unavailable", allowed: false });
    }
  });

  it("an illegal pair is never looked up", () => {
    const active = activate(WITH_MANIFEST, declare("manifest", "/"));
    const forged = {
      resourceType: "network",
      operation: "read",
      target: (read("/x").access as { target: unknown }).target,
    };
    expect(decide(active, { ...read("/x"), access: forged as never }).code).toBe("invalid_operation");
    for (const key of ["__proto__", "constructor", "toString"]) {
      expect(decide(active, question(key, "read", "/x")).code).toBe("invalid_operation");
      expect(decide(active, question("filesystem", key, "/x")).code).toBe("invalid_operation");
    }
  });
});
