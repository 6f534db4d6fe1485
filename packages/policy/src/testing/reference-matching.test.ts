/**
 * What the second model takes rules, approvals and denials to reach, by hand.
 */
import type { Access, Host } from "@sallyport/contract";
import { describe, expect, test } from "vitest";
import type { Approval, Context, Denial, Question } from "../question.ts";
import {
  AGENT,
  ALLOWED,
  ASKED,
  NOW,
  URL_TEXT,
  access,
  approval,
  decide,
  declaring,
  denial,
  holding,
  pair,
  rule,
  sessionApproval,
} from "./reference-scene.ts";

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
    ["exact", "connect unix:/run/a", ["unix:/run/a"], ["unix:/run/a/b"]],
    // Point 26: what does not fit reaches nothing, not even itself.
    ["path_prefix", "receive https://a.example/p", [], ["https://a.example/p", "https://a.example/p/x"]],
    [
      "path_prefix",
      "receive https://a.example/p/?q",
      [],
      ["https://a.example/p/?q", "https://a.example/p/x"],
    ],
    ["path_prefix", "receive a.example:443", [], ["a.example:443", "https://a.example/"]],
    ["any_query", "receive a.example:443", [], ["a.example:443", "https://a.example/"]],
    ["origin", "receive a.example:443", [], ["a.example:443", "https://a.example/"]],
    ["endpoint", "connect unix:/run/a", [], ["unix:/run/a"]],
    ["directory", "connect unix:/run/a", [], ["unix:/run/a", "unix:/run/a/b"]],
    ["endpoint", "read /data/app", [], ["/data/app"]],
    ["directory", "run git", [], ["git"]],
    ["endpoint", "receive https://a.example/p", ["a.example:443", "wss://a.example/x"], ["a.example"]],
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

test("a denial whose match does not fit its target reaches nothing either", () => {
  const denied = (text: string, match: Denial["match"]) =>
    decide(text, { world: { denials: [denial(text, { match })] } }).code;
  expect(denied("receive https://a.example/p", "path_prefix")).toBe(ASKED);
  expect(denied("connect unix:/run/a", "endpoint")).toBe(ASKED);
  expect(denied("receive https://a.example/p/", "path_prefix")).toBe("resource_disabled");
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

  test("more than eight layers of encoding under a folder do not match", () => {
    const layered = (layers: number) =>
      declaring("receive https://a.example/", `receive https://a.example/%${"25".repeat(layers - 1)}41`);
    expect([1, 2, 8].map(layered)).toEqual([ALLOWED, ALLOWED, ALLOWED]);
    expect([9, 10, 40].map(layered)).toEqual([ASKED, ASKED, ASKED]);
  });

  test("ambiguous paths are allowed by all but folders", () => {
    const text = "receive https://a.example/v1/a%2fb";
    expect(declaring(text, text)).toBe(ALLOWED);
    expect(declaring("receive https://a.example", text)).toBe(ALLOWED);
    expect(holding(text, "exact", text)).toBe("allowed_permanent");
    expect(holding("receive https://a.example/v1/", "path_prefix", text)).toBe(ASKED);
    const rules = [rule("allow", "receive https://a.example/v1/")];
    expect(decide(text, { world: { rules } }).code).toBe(ASKED);
  });

  test.each(["a%2fb", "a%5Cb", "%252e%252e/x", "%%32e/x", `%${"25".repeat(9)}`])(
    "what restricts a folder restricts %s below it by its plain text",
    (path) => {
      const text = `receive https://a.example/v1/${path}`;
      const folder = "receive https://a.example/v1/";
      expect(decide(text, { world: { rules: [rule("deny", folder)] } }).code).toBe("denied_rule");
      expect(decide(text, { world: { builtins: [{ id: "b", ...pair(folder) }] } }).code).toBe("denied_rule");
      const denials = [denial(folder, { match: "path_prefix" })];
      expect(decide(text, { world: { denials } }).code).toBe("resource_disabled");
      const world = { rules: [rule("ask", folder), rule("allow", "receive a.example")] };
      expect(decide(text, { world }).code).toBe(ASKED);
      const other = { rules: [rule("deny", "receive https://a.example/v2/")] };
      expect(decide(text, { world: other }).code).toBe(ASKED);
    },
  );

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

  test.each([
    ["run git", "execute /usr/bin/git"],
    ["execute /usr/bin/git", "run git"],
  ])("asked as %s, a denial of either form leaves no approval of the other", (asked, other) => {
    const question = { twin: access(other) as Access };
    const answer = (approvals: Approval[], denials: Denial[]) =>
      decide(asked, { world: { approvals, denials }, question }).code;
    const name = [approval("run git"), sessionApproval("run git")];
    const path = [approval("execute /usr/bin/git"), sessionApproval("execute /usr/bin/git")];
    const deniedFolder = denial("execute /usr/bin", { match: "directory" });
    expect(answer(name, [denial("execute /usr/bin/git")])).toBe("resource_disabled");
    expect(answer(name, [deniedFolder])).toBe("resource_disabled");
    expect(answer(path, [denial("run git")])).toBe("resource_disabled");
    expect(answer([...name, ...path], [denial("run git"), deniedFolder])).toBe("resource_disabled");
    // Of one form the exact approval counts against its own denial, as it does for any target.
    expect(answer(path, [deniedFolder])).toBe("allowed_session");
    expect(answer(path, [denial("execute /usr/bin/git2"), denial("run git2")])).toBe("allowed_session");
  });

  test("a denial without the twin, or of another subject, leaves the approval", () => {
    const world = { approvals: [approval("run git")], denials: [denial("execute /usr/bin/git")] };
    expect(decide("run git", { world }).code).toBe("allowed_permanent");
    const question = { twin: access("execute /usr/bin/git") as Access };
    const denials = [denial("execute /usr/bin/git", { subject: AGENT })];
    expect(decide("run git", { world: { ...world, denials }, question }).code).toBe("allowed_permanent");
  });
});
