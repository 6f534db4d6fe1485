/** Suggestions: each covers the request, the exact one nothing else, and each wider one all that the narrower does. */
import {
  type Access,
  type Host,
  OPERATIONS,
  type ResourceType,
  foldLocalHost,
  foldUrl,
  isAmbiguousPath,
  parseAccess,
  whatwgUrl,
} from "@sallyport/contract";
import { describe, expect, it } from "vitest";
import { maskMessage } from "../audit/event-masking.ts";
import { type Random, between, pick, prng } from "../testing/seeded-random.ts";
import { ApprovalTrial } from "./approval-trial.ts";
import { type WideningOptions, suggestWidenings } from "./suggest-widening.ts";

function access(resourceType: ResourceType, operation: string, target: string): Access {
  const parsed = parseAccess({ resourceType, operation, target }, whatwgUrl);
  if (!parsed.ok) throw new Error(`${target}: ${parsed.message}`);
  return parsed.value;
}

const suggest = (of: Access, more: Partial<WideningOptions> = {}) =>
  suggestWidenings(of, { parseUrl: whatwgUrl, ...more });
const receive = (target: string) => access("network", "receive", target);
const read = (target: string) => access("filesystem", "read", target);
const brief = (of: Access, more: Partial<WideningOptions> = {}) =>
  suggest(of, more).map(({ target, match, wide }) => `${match} ${target}${wide ? " wide" : ""}`);

const SCHEMES = ["https", "http", "wss", "ws"];
const HOSTS = [
  "a.example",
  "b.a.example",
  "localhost",
  "127.0.0.1",
  "[::1]",
  "10.0.0.7",
  "xn--bcher-kva.example",
];
const PORTS = ["", "", ":443", ":80", ":8443"];
const SEGMENTS = ["v1", "v1", "reports", "7", "a%20b", "", "...", "x;y=1"];
const ODD_PATHS = ["/v1/a%2fb", "/v1/%252e%252e/x", "/v1/a%5cb", "/v1/%25252fx", "/v1/%%32e/x"];
const QUERIES = ["", "", "?q=1", "?q=2", "?"];
const NAMES = ["srv", "data", "app", "application", "x", "%2e%2e", "ü", "\u202egnp"];

function randomAccess(random: Random): Access {
  const roll = random();
  if (roll < 0.5) {
    const depth = between(random, 0, 5);
    const path =
      random() < 0.15
        ? pick(random, ODD_PATHS)
        : `/${Array.from({ length: depth }, () => pick(random, SEGMENTS)).join("/")}`;
    const url = `${pick(random, SCHEMES)}://${pick(random, HOSTS)}${pick(random, PORTS)}${path}${pick(random, QUERIES)}`;
    return access("network", pick(random, OPERATIONS.network), url);
  }
  if (roll < 0.65)
    return access(
      "network",
      pick(random, OPERATIONS.network),
      `${pick(random, HOSTS)}${pick(random, PORTS)}`,
    );
  if (roll < 0.7) return access("network", "connect", `unix:/run/${pick(random, NAMES)}.sock`);
  if (roll < 0.75) return access("system_dependency", "execute", pick(random, ["ffmpeg", "git", "g++"]));
  const path = `/${Array.from({ length: between(random, 0, 9) }, () => pick(random, NAMES)).join("/")}`;
  return access("filesystem", pick(random, OPERATIONS.filesystem), path);
}

/** Whether two accesses are one for the policy: ws is http there, and the local hosts are one. */
function isSame(left: Access, right: Access): boolean {
  if (left.operation !== right.operation) return false;
  const [one, other] = [left.target, right.target];
  if (one.form === "url" && other.form === "url") return foldUrl(one).text === foldUrl(other).text;
  if (one.form === "endpoint" && other.form === "endpoint") {
    return one.port === other.port && foldLocalHost(one.host) === foldLocalHost(other.host);
  }
  return one.form === other.form && one.text === other.text;
}

const RUNS = 600;
const POOL = Array.from({ length: 250 }, (_, seed) => randomAccess(prng(seed + 77)));

describe("for every access", () => {
  const cases = Array.from({ length: RUNS }, (_, seed) => {
    const of = randomAccess(prng(seed));
    const suggestions = suggest(of, { isFolder: seed % 2 === 0, homes: ["/srv/data"] });
    const trials = suggestions.map((suggestion) => new ApprovalTrial(of, suggestion, whatwgUrl));
    return { of, suggestions, trials };
  });
  const alike = (of: Access) => POOL.filter(({ resourceType }) => resourceType === of.resourceType);

  it("there is a suggestion, the first is exact, and each covers the request", () => {
    for (const { of, suggestions, trials } of cases) {
      expect(suggestions[0]).toMatchObject({ match: "exact", target: of.target.text, wide: false });
      expect(trials.every((trial) => trial.covers(of))).toBe(true);
      const widths = suggestions.map(({ target, match }) => JSON.stringify([match, target]));
      expect(new Set(widths).size).toBe(widths.length);
    }
    expect(cases.reduce((sum, { suggestions }) => sum + suggestions.length, 0)).toBeGreaterThan(3 * RUNS);
  });

  it("the exact one covers nothing else of a pool", () => {
    let same = 0;
    for (const { of, trials } of cases) {
      for (const other of alike(of)) {
        const isCovered = (trials[0] as ApprovalTrial).covers(other);
        if (isCovered) same++;
        expect(isCovered).toBe(isSame(of, other));
      }
    }
    expect(same).toBeGreaterThan(50);
  });

  it("each wider one covers all that the narrower one does, and more", () => {
    let strictly = 0;
    for (const { of, trials } of cases) {
      for (const other of alike(of)) {
        const covered = trials.map((trial) => trial.covers(other));
        const first = covered.indexOf(true);
        if (first < 0) continue;
        expect(covered.slice(first).every(Boolean)).toBe(true);
        if (first > 0) strictly++;
      }
    }
    expect(strictly).toBeGreaterThan(500);
  });

  it("no operation covers another", () => {
    for (const { of, trials } of cases) {
      for (const operation of OPERATIONS[of.resourceType]) {
        if (operation === of.operation || of.target.form === "unix") continue;
        const other = access(of.resourceType, operation, of.target.text);
        expect(trials.some((trial) => trial.covers(other))).toBe(false);
      }
    }
  });

  it("an ambiguous path has no prefix, unix sockets and programs have nothing but themselves", () => {
    const seen = { ambiguous: 0, alone: 0 };
    for (const { of, suggestions } of cases) {
      const matches = suggestions.map(({ match }) => match);
      if (of.target.form === "url" && isAmbiguousPath(of.target.path)) {
        seen.ambiguous++;
        expect(matches).toEqual(["exact", "any_query", "origin", "endpoint"]);
      }
      if (of.target.form === "unix" || of.target.form === "name") {
        seen.alone++;
        expect(matches).toEqual(["exact"]);
      }
    }
    expect(Math.min(seen.ambiguous, seen.alone)).toBeGreaterThan(10);
  });

  it("whole hosts, the root, first-level folders and homes are never offered in silence", () => {
    for (const { suggestions } of cases) {
      for (const { target, match, wide } of suggestions) {
        if (match === "origin" || match === "endpoint") expect(wide).toBe(true);
        if (match === "path_prefix") expect(new URL(target).pathname).toMatch(/[^/]/);
        if (match !== "directory") continue;
        expect(target).not.toBe("/");
        expect(wide).toBe(target.split("/").length === 2 || target === "/srv/data");
      }
    }
  });

  it("the examples are on the side where the engine puts them", () => {
    for (const { of, suggestions, trials } of cases) {
      suggestions.forEach(({ covers, not }, index) => {
        expect(covers.length).toBeGreaterThan(0);
        // WHY: names with invisible characters are shown otherwise than they are.
        const examples = (texts: readonly string[]) => texts.filter((text) => !text.includes("\\u{"));
        const isCovered = (text: string) =>
          trials[index]?.covers(access(of.resourceType, of.operation, text));
        expect(examples(covers).every((text) => isCovered(text) === true)).toBe(true);
        expect(examples(not).every((text) => isCovered(text) === false)).toBe(true);
      });
    }
  });
});

describe("the suggestions for", () => {
  it("a URL go from the URL to its endpoint", () => {
    expect(brief(receive("https://api.example.com/v1/reports/7?q=1"))).toEqual([
      "exact https://api.example.com/v1/reports/7?q=1",
      "any_query https://api.example.com/v1/reports/7",
      "path_prefix https://api.example.com/v1/reports/",
      "path_prefix https://api.example.com/v1/",
      "origin https://api.example.com/ wide",
      "endpoint api.example.com:443 wide",
    ]);
  });

  it("a URL without folders have no prefix, so that the origin is never offered as one", () => {
    expect(brief(receive("http://a.example/x")).map((text) => text.split(" ")[0])).toEqual([
      "exact",
      "any_query",
      "origin",
      "endpoint",
    ]);
    expect(brief(receive("http://a.example/")).join()).not.toContain("path_prefix");
    expect(brief(receive("http://a.example//x//y")).filter((text) => text.startsWith("path_prefix"))).toEqual(
      ["path_prefix http://a.example//x//", "path_prefix http://a.example//x/"],
    );
  });

  it("a folder of a URL begin with that folder", () => {
    expect(brief(receive("https://a.example/v1/"))).toContain("path_prefix https://a.example/v1/");
  });

  it("a socket and a look-up", () => {
    expect(brief(access("network", "connect", "db.example:5432"))).toEqual([
      "exact db.example:5432",
      "endpoint db.example:5432 wide",
    ]);
    expect(brief(access("network", "connect", "db.example"))).toEqual([
      "exact db.example",
      "endpoint db.example wide",
    ]);
  });

  it("a file go up its folders, and say where they become wide", () => {
    expect(brief(read("/srv/app/data/2026/x.csv"))).toEqual([
      "exact /srv/app/data/2026/x.csv",
      "directory /srv/app/data/2026",
      "directory /srv/app/data",
      "directory /srv/app",
      "directory /srv wide",
    ]);
    expect(brief(read("/usr/local/bin/tool"))).toEqual([
      "exact /usr/local/bin/tool",
      "directory /usr/local/bin wide",
      "directory /usr/local wide",
      "directory /usr wide",
    ]);
    expect(brief(read("/etc"))).toEqual(["exact /etc"]);
    expect(brief(read("/"), { isFolder: true })).toEqual(["exact /"]);
  });

  it("a file in a home are wide from the home on", () => {
    const home = ["", "home", "ann"].join("/");
    expect(brief(read(`${home}/docs/x`))).toEqual([
      `exact ${home}/docs/x`,
      `directory ${home}/docs`,
      `directory ${home} wide`,
      "directory /home wide",
    ]);
    expect(brief(read("/srv/people/ann/x"), { homes: ["/srv/people/ann"] })).toEqual([
      "exact /srv/people/ann/x",
      "directory /srv/people/ann wide",
      "directory /srv/people wide",
      "directory /srv wide",
    ]);
  });

  it("a folder begin with what is below it, where the host knows that it is one", () => {
    expect(brief(read("/srv/app/data"), { isFolder: true }).slice(0, 2)).toEqual([
      "exact /srv/app/data",
      "directory /srv/app/data",
    ]);
  });

  it("a deep path are bounded", () => {
    expect(suggest(read(`/${"a/".repeat(2000)}x`))).toHaveLength(7);
    expect(suggest(receive(`https://a.example/${"a/".repeat(2000)}x`))).toHaveLength(12);
  });

  it("a name that leads to a local address name the address", () => {
    const known = { address: "127.0.0.1" as Host };
    expect(brief(receive("http://rebound.example/x"), { known })).toEqual([
      "exact http://127.0.0.1/x",
      "any_query http://127.0.0.1/x",
      "origin http://127.0.0.1/ wide",
      "endpoint 127.0.0.1:80 wide",
    ]);
  });
});

describe("what an approver reads", () => {
  it("is a label in plain words, and examples on both sides", () => {
    const [, , below, , origin] = suggest(receive("https://api.example.com/v1/reports/7?q=1"));
    expect(below).toMatchObject({
      label: "every URL below `https://api.example.com/v1/reports/`",
      covers: [
        "https://api.example.com/v1/reports/7?q=1",
        "https://api.example.com/v1/reports/",
        "https://api.example.com/v1/reports/example",
      ],
      not: [
        "https://api.example.com/v1/reports-other/",
        "https://api.example.com/",
        "http://api.example.com:443/v1/reports/7",
      ],
    });
    expect(origin?.label).toBe("every URL on `https://api.example.com`, and sockets to it");
    const [, folder] = suggest(read("/srv/app/x"));
    expect(folder).toMatchObject({
      label: "the folder `/srv/app` and everything below it",
      covers: ["/srv/app/x", "/srv/app", "/srv/app/example"],
      not: ["/srv/app-other", "/srv"],
    });
  });

  it("cannot deceive: hidden characters are written out", () => {
    const [exact, folder] = suggest(read("/srv/in\u202evoice/x\u200b"));
    expect(exact).toMatchObject({
      target: "/srv/in\u202evoice/x\u200b",
      covers: ["/srv/in\\u{202e}voice/x\\u{200b}"],
    });
    expect(folder?.label).toBe("the folder `/srv/in\\u{202e}voice` and everything below it");
  });

  it("has its credentials masked where the caller asks for it, but not in what is stored", () => {
    const key = new Uint8Array(32);
    const show = (text: string) => maskMessage(text, key);
    const secret = "a1B2c3D4e5F6g7H8i9J0";
    const suggestions = suggest(receive(`https://a.example/hook/${secret}/run?token=hunter2`), { show });
    for (const { label, covers, not } of suggestions) {
      expect([label, ...covers, ...not].join("\n")).not.toMatch(new RegExp(`${secret}|hunter2`));
    }
    expect(suggestions[0]?.target).toContain(secret);
  });
});

describe("a trial", () => {
  it("covers nothing with a match that its target cannot have", () => {
    const of = read("/srv/x");
    expect(new ApprovalTrial(of, { target: "/srv/x", match: "origin" }, whatwgUrl).covers(of)).toBe(false);
    expect(new ApprovalTrial(of, { target: "srv", match: "exact" }, whatwgUrl).covers(of)).toBe(false);
  });
});
