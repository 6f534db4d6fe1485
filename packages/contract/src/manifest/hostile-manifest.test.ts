import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { WIRE_ARBITRARIES } from "../testing/wire-arbitrary.ts";
import { whatwgUrl } from "../whatwg-url.ts";
import { scanJson } from "./json-text.ts";
import { MANIFEST_BYTES_MAX, loadManifest, readManifest } from "./load-manifest.ts";
import { MANIFEST_KINDS, type ManifestEnvironment, type ManifestResult } from "./manifest.ts";
import { ALLOWED_KEYS } from "./manifest-keys.ts";
import { MANIFEST_SCHEMAS } from "./manifest-schema.ts";

const ENVIRONMENT: ManifestEnvironment = {
  root: "/opt/m",
  variables: { data: "/srv/data" },
  parseUrl: whatwgUrl,
};
const load = (text: string) => loadManifest("module", text, ENVIRONMENT);
const faultsOf = (result: ManifestResult) => (result.ok ? [] : result.faults);
const pointersOf = (result: ManifestResult) => faultsOf(result).map(({ pointer }) => pointer);

describe("the text of a manifest", () => {
  it("has every key once: a repeated key is found wherever it is, with its pointer", () => {
    const text =
      '{"access":[{"resource_type":"filesystem","operation":"read","target":"a","target":"/etc/"}],"x":{"a~/b":1,"a~/b":2},"access":[]}';
    expect(pointersOf(load(text))).toEqual(["/access/0/target", "/x/a~0~1b", "/access"]);
  });

  it("has every key once also when the repeat is spelled with escapes", () => {
    expect(pointersOf(load('{"access":[],"\\u0061ccess":["x"]}'))).toContain("/access");
  });

  it("may use a key again in another object", () => {
    expect(load('{"a":{"x":1},"b":{"x":1},"c":[{"x":1},{"x":1}]}').ok).toBe(true);
  });

  it.each([
    ["a trailing comma", '{"access": [],}', "at line 1, column 15"],
    ["a comment", '{\n  // x\n  "access": []}', "at line 2, column 3"],
    ["an end too soon", '{"access": [', "at line 1, column 13"],
    ["two documents", "{} {}", "at line 1, column 4"],
    ["nothing", "", "at line 1, column 1"],
    ["a control character in a text", '{"a":"\n"}', "at line 1, column 6"],
  ])("is JSON: %s is refused with its place", (_title, text, place) => {
    const [fault, ...more] = faultsOf(load(text));
    expect(fault?.message).toContain(place);
    expect(more).toEqual([]);
  });

  it("has no byte order mark", () => {
    expect(faultsOf(load("\ufeff{}"))[0]?.message).toContain("byte order mark");
  });

  it("is not nested deeper than 64 levels, however deep it is", () => {
    const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
    expect(load(nested(64)).ok).toBe(true);
    expect(faultsOf(load(nested(65)))[0]?.message).toContain("nested too deep");
    expect(faultsOf(load("[".repeat(1_000_000)))[0]?.message).toContain("nested too deep");
  });

  it("is not longer than a mebibyte, counted in bytes", () => {
    const padded = (bytes: number) => `{"x":"${"a".repeat(bytes - 8)}"}`;
    expect(load(padded(MANIFEST_BYTES_MAX)).ok).toBe(true);
    expect(faultsOf(load(padded(MANIFEST_BYTES_MAX + 1)))[0]?.message).toContain("longer than");
    expect(faultsOf(load(`{"x":"${"é".repeat(600_000)}"}`))[0]?.message).toContain("longer than");
  });

  it("has keys of bounded length, so that pointers stay short", () => {
    expect(faultsOf(load(`{"${"k".repeat(257)}":1}`))[0]?.message).toContain("key is too long");
    expect(load(`{"${"k".repeat(256)}":1}`).ok).toBe(true);
  });

  it("is an object", () => {
    for (const text of ["[]", "null", "7", '"access"']) expect(pointersOf(load(text))).toEqual([""]);
  });
});

describe("the scan of JSON text", () => {
  it("accepts exactly what JSON.parse accepts", () => {
    const pieces = [
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      '"a"',
      '"\\u00e9"',
      '"\\x"',
      "1",
      "-0",
      "01",
      "1.5e+3",
      ".5",
      "true",
      "nul",
      " ",
      "\n",
      '"',
    ];
    const accepts = (text: string): boolean => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };
    const texts = fc.oneof(
      fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => parts.join("")),
      fc.json(),
      fc.tuple(fc.json(), fc.nat(), fc.constantFrom(...pieces)).map(([json, at, piece]) => {
        const place = json.length === 0 ? 0 : at % json.length;
        return `${json.slice(0, place)}${piece}${json.slice(place + 1)}`;
      }),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect(scanJson(text).ok).toBe(accepts(text));
      }),
      { numRuns: 5000 },
    );
  });

  it("finds a repeated key exactly where parsing and writing again would lose one", () => {
    const document = fc.letrec<{ value: string }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom("1", "null", '"x"'),
        fc.array(tie("value"), { maxLength: 3 }).map((elements) => `[${elements.join(",")}]`),
        fc
          .array(fc.tuple(fc.constantFrom("a", "b", "__proto__", "0"), tie("value")), { maxLength: 3 })
          .map((members) => `{${members.map(([key, value]) => `"${key}":${value}`).join(",")}}`),
      ),
    })).value;
    fc.assert(
      fc.property(document, (text) => {
        const scan = scanJson(text);
        const isShorter = JSON.stringify(JSON.parse(text)).length < text.length;
        expect(scan.ok && scan.duplicates.length > 0).toBe(isShorter);
      }),
      { numRuns: 3000 },
    );
  });
});

describe("hostile keys", () => {
  it("`__proto__` and `constructor` are ordinary keys of the host at the top, and unknown keys inside ours", () => {
    expect(
      load(
        '{"__proto__":{"access":[{"resource_type":"filesystem","operation":"delete","target":"/"}]},"constructor":1}',
      ),
    ).toMatchObject({
      ok: true,
      manifest: { phases: { runtime: { access: [] } } },
    });
    const entry =
      '{"resource_type":"filesystem","operation":"read","target":"a","__proto__":{},"constructor":1}';
    expect(pointersOf(load(`{"access":[${entry}]}`))).toEqual([
      "/access/0/__proto__",
      "/access/0/constructor",
    ]);
  });

  it("a field that is only inherited is not there", () => {
    expect(
      pointersOf(
        load('{"access":[{"__proto__":{"resource_type":"filesystem","operation":"read","target":"/"}}]}'),
      ),
    ).toEqual(["/access/0/__proto__", "/access/0/resource_type", "/access/0/operation", "/access/0/target"]);
    expect(readManifest("module", Object.create({ access: ["x"] }), ENVIRONMENT).ok).toBe(true);
  });

  it("keys of a phase with hostile names are refused", () => {
    const result = loadManifest("engine", '{"runtime":{"__proto__":{},"toString":1}}', ENVIRONMENT);
    expect(pointersOf(result)).toEqual(["/runtime/__proto__", "/runtime/toString"]);
  });
});

describe("hostile sizes", () => {
  it("a flood of faults is cut, and the rest is counted", () => {
    const faults = faultsOf(load(`{"access":[${Array.from({ length: 4000 }, () => "1").join(",")}]}`));
    expect(faults.length).toBe(101);
    expect(faults.at(-1)).toEqual({
      pointer: "",
      message: "has 3900 more faults",
      instead: "correct the faults above first",
    });
  });

  it("a list of half a million elements is one fault", () => {
    expect(pointersOf(load(`{"access":[${"1,".repeat(500_000)}1]}`))).toEqual(["/access"]);
  });

  it("a hundred thousand repeated keys are cut as well", () => {
    expect(faultsOf(load(`{${'"a":1,'.repeat(100_000)}"a":1}`)).length).toBe(101);
  });

  it("long paths of many segments are judged without comparing every pair of rules", () => {
    const access = Array.from({ length: 60 }, (_, index) => ({
      resource_type: "filesystem",
      operation: "read",
      target: `${"a/".repeat(8000)}${index}`,
    }));
    expect(readManifest("module", { access }, ENVIRONMENT).ok).toBe(true);
  });

  it("messages quote a shortened input", () => {
    const [fault] = faultsOf(load(JSON.stringify({ access: ["x".repeat(500_000)] })));
    expect((fault?.message.length ?? 0) + (fault?.instead.length ?? 0)).toBeLessThan(600);
  });
});

describe("values that are no plain JSON", () => {
  it("are refused without throwing", () => {
    const thrower = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error("no");
        },
      },
    );
    const cycle: Record<string, unknown> = {};
    cycle["access"] = cycle;
    const values: unknown[] = [
      thrower,
      { access: thrower },
      cycle,
      { access: [new Map()] },
      { access: () => 1 },
      Symbol("x"),
      1n,
    ];
    for (const value of values) expect(readManifest("module", value, ENVIRONMENT).ok).toBe(false);
  });

  it("are read once: an entry cannot change after it was checked", () => {
    let reads = 0;
    const entry = {
      resource_type: "filesystem",
      operation: "read",
      get target() {
        return reads++ === 0 ? "a" : "/etc/";
      },
    };
    const result = readManifest("module", { access: [entry] }, ENVIRONMENT);
    expect(result).toMatchObject({
      ok: true,
      manifest: { phases: { runtime: { access: [{ target: "/opt/m/a" }] } } },
    });
    expect(reads).toBe(1);
  });
});

describe("the loader and the published schema", () => {
  const junk = fc.jsonValue({ maxDepth: 3 });
  const rules = fc.array(WIRE_ARBITRARIES.access_rule, { maxLength: 3 });
  const mixed = fc.array(fc.oneof(WIRE_ARBITRARIES.access_rule, junk), { maxLength: 3 });
  const legal = {
    name: fc.constant("x"),
    access: rules,
    allowed_imports: fc.constantFrom([], ["node:vm", "sqlite"]),
    url: fc.constantFrom("https://a.example/x", "http://localhost:1"),
    operation: fc.constantFrom("send", "receive", "connect"),
  };
  const phase = (access: fc.Arbitrary<unknown>) =>
    fc.record({ access, allowed_imports: legal.allowed_imports }, { requiredKeys: [] });
  const members = { ...legal, runtime: phase(rules), install: phase(rules) };
  const wild = fc.record(
    {
      name: fc.oneof(legal.name, junk),
      access: fc.oneof(mixed, junk),
      allowed_imports: fc.oneof(legal.allowed_imports, junk),
      runtime: fc.oneof(phase(mixed), junk),
      install: fc.oneof(phase(mixed), junk),
      url: fc.oneof(legal.url, junk),
      operation: fc.oneof(legal.operation, junk),
    },
    { requiredKeys: [] },
  );

  it.each(MANIFEST_KINDS)("agree on what is refused for the kind %s", (kind) => {
    const proper = fc.record(
      Object.fromEntries(ALLOWED_KEYS[kind].map((key) => [key, members[key]])),
      kind === "mcp_server" || kind === "one_off_url" ? {} : { requiredKeys: [] },
    );
    let accepted = 0;
    fc.assert(
      fc.property(fc.oneof(proper, wild), (manifest) => {
        const value = JSON.parse(JSON.stringify(manifest)) as unknown;
        const result = readManifest(kind, value, ENVIRONMENT);
        const isPublished = MANIFEST_SCHEMAS[kind].safeParse(value).success;
        if (result.ok) accepted++;
        if (result.ok) expect(isPublished).toBe(true);
        for (const { instead } of faultsOf(result)) expect(instead).not.toContain("published schema");
      }),
      { numRuns: 300 },
    );
    expect(accepted).toBeGreaterThan(20);
  });
});

describe("prototype pollution", () => {
  const everyones = Object.getPrototypeOf({}) as object;
  const rule = { resource_type: "filesystem", operation: "delete", target: "/" };
  const polluted: Readonly<Record<string, unknown>> = {
    name: "squatter",
    access: [rule],
    allowed_imports: ["child_process"],
    allowed_config_urls: ["url"],
    runtime: { access: [rule], allowed_imports: ["child_process"] },
    install: { access: [rule] },
    url: "https://evil.example.com",
  };

  it.each(["module", "engine", "extractor", "agent", "tool", "pipeline"] as const)(
    "rules on a polluted prototype are no rules of a %s",
    (kind) => {
      const written = kind === "engine" || kind === "extractor" ? { runtime: {} } : {};
      const clean = readManifest(kind, written, ENVIRONMENT);
      const results = Object.entries(polluted).map(([key, value]) => {
        Object.defineProperty(everyones, key, { value, configurable: true, enumerable: true });
        try {
          return readManifest(kind, written, ENVIRONMENT);
        } finally {
          Reflect.deleteProperty(everyones, key);
        }
      });
      expect(clean.ok).toBe(true);
      // WHY both: a polluted process may be refused; what it must never be given is a rule.
      for (const result of results) expect(result.ok ? result : clean).toEqual(clean);
    },
  );
});
