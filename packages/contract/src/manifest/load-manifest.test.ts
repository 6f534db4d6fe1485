import { describe, expect, it } from "vitest";
import { whatwgUrl } from "../whatwg-url.ts";
import { loadManifest, readManifest } from "./load-manifest.ts";
import type { ManifestEnvironment, ManifestKind, ManifestResult } from "./manifest.ts";
import { ACCESS_ENTRIES_MAX } from "./manifest-schema.ts";

const ENVIRONMENT: ManifestEnvironment = {
  root: "/opt/modules/reports",
  variables: { workspace: "/srv/workspace", data: "/srv/data", tmp: "/tmp" },
  parseUrl: whatwgUrl,
};

const load = (manifest: unknown, kind: ManifestKind = "module") =>
  loadManifest(kind, JSON.stringify(manifest), ENVIRONMENT);

const faultsOf = (result: ManifestResult) => (result.ok ? [] : result.faults);
const pointersOf = (result: ManifestResult) => faultsOf(result).map(({ pointer }) => pointer);

function manifestOf(result: ManifestResult) {
  if (!result.ok) throw new Error(JSON.stringify(result.faults, null, 1));
  return result.manifest;
}

const entry = (resource_type: string, operation: string, target: unknown) => ({
  resource_type,
  operation,
  target,
});
const targetsOf = (result: ManifestResult) =>
  manifestOf(result).phases.runtime.access.map(({ target }) => target);
const only = (target: string, resourceType = "filesystem", operation = "read") =>
  load({ access: [entry(resourceType, operation, target)] });

describe("a module's manifest", () => {
  it("gives its rules with absolute targets, the text as declared and the pointer", () => {
    const result = load({
      name: "reports",
      access: [
        entry("network", "receive", "https://API.example.com/v1/"),
        entry("filesystem", "read", "models/"),
        entry("filesystem", "create", "${tmp}/out.txt"),
        entry("system_dependency", "execute", "FFmpeg"),
      ],
      allowed_imports: ["node:child_process", "vm"],
    });
    const manifest = manifestOf(result);
    expect(manifest.subject).toEqual({ type: "module", name: "reports" });
    expect(manifest.phases.runtime.access).toEqual([
      {
        resourceType: "network",
        operation: "receive",
        target: "https://api.example.com/v1/",
        declared: "https://API.example.com/v1/",
        pointer: "/access/0",
      },
      {
        resourceType: "filesystem",
        operation: "read",
        target: "/opt/modules/reports/models/",
        declared: "models/",
        pointer: "/access/1",
      },
      {
        resourceType: "filesystem",
        operation: "create",
        target: "/tmp/out.txt",
        declared: "${tmp}/out.txt",
        pointer: "/access/2",
      },
      {
        resourceType: "system_dependency",
        operation: "execute",
        target: "ffmpeg",
        declared: "FFmpeg",
        pointer: "/access/3",
      },
    ]);
    expect(manifest.phases.runtime.allowedImports).toEqual(["child_process", "vm"]);
    expect(manifest.phases.install.access).toEqual([]);
  });

  it("may have keys of the host, which are ignored whatever they hold", () => {
    expect(load({ version: "1", description: { access: ["x"] }, url: 7, operation: [] }).ok).toBe(true);
  });

  it("may be empty: nothing is declared then", () => {
    expect(manifestOf(load({})).phases.runtime.access).toEqual([]);
  });

  it("keeps an origin and the folder at its root apart", () => {
    expect(
      targetsOf(
        load({
          access: [
            entry("network", "receive", "https://a.example"),
            entry("network", "send", "https://a.example/"),
          ],
        }),
      ),
    ).toEqual(["https://a.example", "https://a.example/"]);
  });

  it("is frozen all the way down", () => {
    const manifest = manifestOf(
      load({ name: "x", access: [entry("filesystem", "read", "a")], allowed_imports: ["vm"] }),
    );
    const { runtime } = manifest.phases;
    const parts = [
      manifest,
      manifest.subject,
      manifest.phases,
      runtime,
      runtime.access,
      runtime.access[0],
      runtime.allowedImports,
    ];
    expect(parts.every(Object.isFrozen)).toBe(true);
  });

  it("has no phases: they are refused with the place where access belongs", () => {
    const result = load({ runtime: { access: [] }, install: {} });
    expect(pointersOf(result)).toEqual(["/runtime", "/install"]);
    expect(faultsOf(result)[0]?.instead).toContain("top-level `access`");
  });
});

describe("engines and extractors", () => {
  const both = {
    name: "whisper",
    runtime: {
      access: [entry("network", "receive", "https://a.example")],
      allowed_imports: ["worker_threads"],
    },
    install: {
      access: [entry("filesystem", "create", "models/")],
      allowed_imports: ["node:inspector/promises"],
    },
  };

  it.each(["engine", "extractor"] as const)("an %s has access and imports for each phase", (kind) => {
    const { phases, subject } = manifestOf(load(both, kind));
    expect(subject?.type).toBe(kind);
    expect(phases.runtime.access[0]?.pointer).toBe("/runtime/access/0");
    expect(phases.install.access[0]?.target).toBe("/opt/modules/reports/models/");
    expect([phases.runtime.allowedImports, phases.install.allowedImports]).toEqual([
      ["worker_threads"],
      ["inspector"],
    ]);
  });

  it("an engine lists configuration keys, for receive and send unless it names operations", () => {
    const runtime = { allowed_config_urls: ["endpoint", { key: "feed", operations: ["receive"] }] };
    expect(manifestOf(load({ runtime }, "engine")).phases.runtime.allowedConfigUrls).toEqual([
      { key: "endpoint", operations: ["receive", "send"] },
      { key: "feed", operations: ["receive"] },
    ]);
  });

  it("an extractor, and an install phase, has no configuration keys", () => {
    expect(pointersOf(load({ runtime: { allowed_config_urls: [] } }, "extractor"))).toEqual([
      "/runtime/allowed_config_urls",
    ]);
    expect(pointersOf(load({ install: { allowed_config_urls: [] } }, "engine"))).toEqual([
      "/install/allowed_config_urls",
    ]);
  });

  it("refuses bad configuration entries one by one", () => {
    const allowed_config_urls = [
      "https://a.example",
      7,
      { key: "a", operations: ["read"] },
      { operations: ["send"] },
      { key: "b", operations: [], more: 1 },
      "same",
      "same",
    ];
    expect(pointersOf(load({ runtime: { allowed_config_urls } }, "engine"))).toEqual([
      "/runtime/allowed_config_urls/0",
      "/runtime/allowed_config_urls/1",
      "/runtime/allowed_config_urls/2/operations",
      "/runtime/allowed_config_urls/3/key",
      "/runtime/allowed_config_urls/4/more",
      "/runtime/allowed_config_urls/4/operations",
      "/runtime/allowed_config_urls/6",
    ]);
  });

  it("declare nothing at the top level", () => {
    const result = load({ access: [], allowed_imports: [] }, "engine");
    expect(pointersOf(result)).toEqual(["/access", "/allowed_imports"]);
    expect(faultsOf(result)[0]?.instead).toBe("move it into `runtime` or `install`, whichever needs it");
  });

  it("refuse a phase that is no object and keys that a phase does not have", () => {
    expect(
      pointersOf(
        load({ runtime: [], install: { allowed_urls: ["https://a.example"], acess: [] } }, "engine"),
      ),
    ).toEqual(["/runtime", "/install/allowed_urls", "/install/acess"]);
  });
});

describe("assets, MCP servers and one-off URLs", () => {
  it.each(["agent", "tool", "pipeline"] as const)("an %s has access of its own and no imports", (kind) => {
    const manifest = manifestOf(load({ name: "demo.x", access: [entry("filesystem", "read", "in/")] }, kind));
    expect(manifest.subject).toEqual({ type: kind, name: "demo.x" });
    expect(pointersOf(load({ allowed_imports: ["vm"] }, kind))).toEqual(["/allowed_imports"]);
  });

  it("an MCP server is the tool mcp.<server>, with receive and send on its origin and no filesystem", () => {
    const manifest = manifestOf(
      load({ name: "search", url: "https://mcp.example.com:8443/sse?x=1" }, "mcp_server"),
    );
    expect(manifest.subject).toEqual({ type: "tool", name: "mcp.search" });
    expect(manifest.phases.runtime.access.map(({ operation, target }) => [operation, target])).toEqual([
      ["receive", "https://mcp.example.com:8443"],
      ["send", "https://mcp.example.com:8443"],
    ]);
  });

  it("an MCP server needs a name and a URL and declares nothing itself", () => {
    expect(pointersOf(load({ access: [] }, "mcp_server"))).toEqual(["/access", "/name", "/url"]);
    expect(pointersOf(load({ name: "x", url: "mcp.example.com" }, "mcp_server"))).toEqual(["/url"]);
    expect(pointersOf(load({ name: "../x", url: "https://a.example" }, "mcp_server"))).toEqual(["/name"]);
  });

  it("a one-off URL is that URL exactly, for receive unless another operation is named", () => {
    const [rule] = manifestOf(load({ url: "https://media.example/" }, "one_off_url")).phases.runtime.access;
    expect(rule).toMatchObject({ operation: "receive", target: "https://media.example/", match: "exact" });
    const [send] = manifestOf(load({ url: "https://media.example/x", operation: "send" }, "one_off_url"))
      .phases.runtime.access;
    expect(send?.operation).toBe("send");
    expect(pointersOf(load({ url: "ftp://x", operation: "read", headers: {} }, "one_off_url"))).toEqual([
      "/headers",
      "/url",
      "/operation",
    ]);
  });
});

describe("filesystem targets", () => {
  it.each([
    ["models/", "/opt/modules/reports/models/"],
    ["./a//b", "/opt/modules/reports/a/b"],
    [".", "/opt/modules/reports"],
    ["./", "/opt/modules/reports/"],
    ["${data}", "/srv/data"],
    ["${data}/", "/srv/data/"],
    ["${workspace}/x/./y", "/srv/workspace/x/y"],
    ["/var/lib/x/", "/var/lib/x/"],
    ["/", "/"],
    ["a$b", "/opt/modules/reports/a$b"],
  ])("%s is %s", (declared, target) => {
    expect(targetsOf(only(declared))).toEqual([target]);
  });

  it.each([
    ["../x", "leaves the subject's root folder"],
    ["a/../../x", "leaves the subject's root folder"],
    ["a//../../x", "leaves the subject's root folder"],
    ["${data}/../x", "leaves ${data}"],
    ["a/../b", "could lead through a link"],
    ["/a/../b", "could lead through a link"],
    ["/../b", "could lead through a link"],
    ["${nowhere}/x", "unknown variable `${nowhere}`"],
    ["${__proto__}/x", "unknown variable `${__proto__}`"],
    ["${constructor}", "unknown variable `${constructor}`"],
    ["${data", "unknown variable"],
    ["${home}/x", "the host does not define"],
    ["${data}x", "without a slash"],
    ["x/${data}", "in the middle"],
    ["${data}/${tmp}", "in the middle"],
    ["a\0b", "is no path"],
    ["file:///etc", "a URL is no filesystem target"],
    ["https://a.example", "a URL is no filesystem target"],
  ])("%j is refused: %s", (declared, message) => {
    const [fault, ...more] = faultsOf(only(declared));
    expect(fault?.pointer).toBe("/access/0/target");
    expect(fault?.message).toContain(message);
    expect(more).toEqual([]);
  });

  it("says which path was meant where `..` stays inside", () => {
    expect(faultsOf(only("a/../b/"))[0]?.instead).toBe("write `b/`");
    expect(faultsOf(only("${data}/a/../b"))[0]?.instead).toBe("write `${data}/b`");
  });

  it("refuses a root of the host that is not absolute, as a fault and not by throwing", () => {
    const result = readManifest(
      "module",
      { access: [entry("filesystem", "read", "x")] },
      { ...ENVIRONMENT, root: "relative" },
    );
    expect(faultsOf(result)[0]?.message).toContain("no absolute path");
  });
});

describe("entries that are refused", () => {
  it.each([
    [
      "`url` as a resource type",
      entry("url", "receive", "https://a.example"),
      "/resource_type",
      'write `"resource_type": "network"`',
    ],
    [
      "an unknown resource type",
      entry("database", "read", "x"),
      "/resource_type",
      "network, filesystem, system_dependency",
    ],
    [
      "a pair that does not belong together",
      entry("network", "read", "https://a.example"),
      "/operation",
      "connect, receive, send",
    ],
    [
      "write as an operation",
      entry("filesystem", "write", "x"),
      "/operation",
      "one with `create` and one with `modify`",
    ],
    ["constructor as an operation", entry("filesystem", "constructor", "x"), "/operation", "read, create"],
    [
      "__proto__ as a resource type",
      entry("__proto__", "read", "x"),
      "/resource_type",
      "network, filesystem",
    ],
    ["a target that is a list", entry("filesystem", "read", ["a"]), "/target", "one entry for each target"],
    ["an empty target", entry("filesystem", "read", ""), "/target", "write a URL, a path"],
    ["a bad URL", entry("network", "receive", "ftp://a.example"), "/target", "https://api.example.com/v1/"],
    ["a URL with a password", entry("network", "receive", "https://u:p@a.example"), "/target", "write a URL"],
    ["a path as a network target", entry("network", "receive", "./x"), "/target", '"filesystem"'],
    [
      "a variable in a network target",
      entry("network", "receive", "https://${data}/"),
      "/target",
      "allowed_config_urls",
    ],
    ["a star for subdomains", entry("network", "receive", "*.example.com"), "/target", "`www.example.com`"],
    [
      "a star in the host of a URL",
      entry("network", "receive", "https://*.example.com/x"),
      "/target",
      "`www.example.com`",
    ],
    [
      "a leading dot for subdomains",
      entry("network", "receive", ".example.com"),
      "/target",
      "one entry for each host",
    ],
    [
      "a unix socket that is not connected to",
      entry("network", "send", "unix:/run/x"),
      "/target",
      '"connect"',
    ],
    [
      "a path as a program name",
      entry("system_dependency", "execute", "/usr/bin/git"),
      "/target",
      "bare name",
    ],
    ["a lone surrogate in a path", entry("filesystem", "read", "a\ud800"), "/target", "valid Unicode"],
    [
      "a lone surrogate in a URL",
      entry("network", "send", "https://a.example/\udc00"),
      "/target",
      "valid Unicode",
    ],
  ])("%s", (_title, bad, place, instead) => {
    const [fault, ...more] = faultsOf(load({ access: [bad] }));
    expect(fault?.pointer).toBe(`/access/0${place}`);
    expect(fault?.instead).toContain(instead);
    expect(more).toEqual([]);
  });

  it("each fault of an entry is told, not only the first", () => {
    const result = load({
      access: [{ type: "network", resource_type: "url", operation: "write", extra: 1 }, "x", 7, null],
    });
    expect(pointersOf(result)).toEqual([
      "/access/0/type",
      "/access/0/extra",
      "/access/0/resource_type",
      "/access/0/operation",
      "/access/0/target",
      "/access/1",
      "/access/2",
      "/access/3",
    ]);
  });

  it("an old joined key, with the entry to write instead", () => {
    const [fault] = faultsOf(load({ access: ["network:reports:https://a.example/x"] }));
    expect(fault?.instead).toContain(
      '{"resource_type": "network", "operation": "receive", "target": "https://a.example/x"}',
    );
  });

  it("texts of an old list, with the entry to write instead", () => {
    const faults = faultsOf(load({ access: ["https://a.example", "./models/"] }));
    expect(faults[0]?.instead).toContain('"network"');
    expect(faults[1]?.instead).toContain(
      '{"resource_type": "filesystem", "operation": "read", "target": "./models/"}',
    );
  });

  it("an access that is no list", () => {
    expect(pointersOf(load({ access: { network: [] } }))).toEqual(["/access"]);
    expect(pointersOf(load({ access: "https://a.example" }))).toEqual(["/access"]);
    expect(pointersOf(load({ access: null }))).toEqual(["/access"]);
  });

  it("an entry that is there twice, also in another spelling", () => {
    const result = load({
      access: [
        entry("network", "receive", "https://a.example/x"),
        entry("network", "send", "https://a.example/x"),
        entry("network", "receive", "HTTPS://A.example:443/x"),
        entry("filesystem", "read", "a//b"),
        entry("filesystem", "read", "./a/b"),
      ],
    });
    expect(faultsOf(result).map(({ pointer, message }) => [pointer, message])).toEqual([
      ["/access/2", "repeats the entry at `/access/0`"],
      ["/access/4", "repeats the entry at `/access/3`"],
    ]);
  });

  it("imports that are not sensitive, unknown or listed twice", () => {
    const result = load({ allowed_imports: ["fs", "node:vm", "vm", 7, "__proto__", "node:native_addons"] });
    expect(pointersOf(result)).toEqual([0, 2, 3, 4, 5].map((index) => `/allowed_imports/${index}`));
    expect(faultsOf(result)[0]?.instead).toContain("native_addons");
  });

  it("a name that no subject can have", () => {
    expect(pointersOf(load({ name: "" }))).toEqual(["/name"]);
    expect(pointersOf(load({ name: "core" }))).toEqual(["/name"]);
    expect(pointersOf(load({ name: { toString: "x" } }))).toEqual(["/name"]);
  });

  it(`more than ${ACCESS_ENTRIES_MAX} entries, with one fault`, () => {
    const access = Array.from({ length: ACCESS_ENTRIES_MAX + 1 }, (_, index) =>
      entry("filesystem", "read", `f${index}`),
    );
    expect(pointersOf(load({ access }))).toEqual(["/access"]);
  });
});

describe("faults", () => {
  it("are lower-case, have no full stop and always say what to write instead", () => {
    const faults = faultsOf(
      load({
        access: ["a", entry("url", "x", 1), entry("network", "send", "*.a")],
        runtime: 1,
        allowed_imports: ["fs"],
      }),
    );
    expect(faults.length).toBeGreaterThan(6);
    for (const { message, instead } of faults) {
      expect(message).toMatch(/^[a-z`].*[^.]$/s);
      expect(instead).toMatch(/^[a-z`].*[^.]$/s);
    }
  });
});
