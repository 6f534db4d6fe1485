/**
 * Every row of the declaration table, asked of the policy that holds the contracts.
 */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type Fixture,
  codeOf,
  entered,
  entry,
  may,
  openFixture,
  read,
  receive,
  registered,
  subject,
} from "../testing/registry-fixture.ts";
import { withOneOff } from "./one-off.ts";

const API = ["network", "receive", "https://api.example.com/v1/x"] as const;
const SEND = ["network", "send", "https://api.example.com/v1/x"] as const;
const PACKAGES = ["network", "receive", "https://packages.example/simple/x"] as const;

let fixture: Fixture;
beforeEach(() => {
  fixture = openFixture({ installerHosts: ["packages.example"] });
});
afterEach(() => fixture.close());

const module = (manifest: object = {}, name = "demo") =>
  registered(fixture.registry.registerModule({ name, root: fixture.make("modules", name), manifest }));
const engine = (manifest: object, more: object = {}) =>
  registered(
    fixture.registry.registerEngine({
      name: "whisper",
      root: fixture.make("engines", "whisper"),
      manifest,
      ...more,
    }),
  );
const extractor = (manifest: object, more: object = {}) =>
  registered(
    fixture.registry.registerExtractor({
      name: "yolo",
      root: fixture.make("extractors", "yolo"),
      manifest,
      ...more,
    }),
  );

describe("a module", () => {
  it("and its tasks have the access and the imports at the top of its manifest", () => {
    const demo = module({
      access: [receive("https://api.example.com/v1/"), read("models/"), read("${data}/shared/")],
      allowed_imports: ["node:vm"],
    });
    expect(demo).toEqual({ type: "module", name: "demo" });
    expect(may(fixture, demo, API)).toBe(true);
    expect(may(fixture, demo, SEND)).toBe(false);
    expect(may(fixture, demo, ["filesystem", "read", `${fixture.folder}/modules/demo/models/a`])).toBe(true);
    expect(may(fixture, demo, ["filesystem", "read", `${fixture.folder}/data/shared/a`])).toBe(true);
    expect(may(fixture, demo, ["filesystem", "read", `${fixture.folder}/data/other`])).toBe(false);
    const task = entered(fixture, demo);
    expect(task.allowedImports).toEqual(["vm"]);
    expect(task.module).toEqual(demo);
    expect(task.root).toBe(`${fixture.folder}/modules/demo`);
  });

  it("has no install phase", () => {
    expect(fixture.registry.enter(module(), { phase: "install" })).toMatchObject({
      ok: false,
      reason: "no_such_phase",
    });
    expect(fixture.registry.enter(module({}, "other"), { phase: "setup" as never })).toMatchObject({
      ok: false,
      reason: "no_such_phase",
    });
  });

  it("is named by its manifest where the host does not name it", () => {
    const root = fixture.make("modules", "reports");
    const manifest = JSON.stringify({ name: "reports", access: [receive("https://api.example.com")] });
    expect(registered(fixture.registry.registerModule({ root, manifest }))).toEqual(
      subject("module", "reports"),
    );
    expect(fixture.registry.registerModule({ root, manifest: {} })).toMatchObject({
      reason: "invalid_subject",
    });
    expect(fixture.registry.registerModule({ name: "x", root, manifest })).toMatchObject({
      reason: "name_mismatch",
    });
  });
});

describe("an SDK task subprocess", () => {
  it("has the rules of its module and no sensitive imports", () => {
    const demo = module({ access: [receive("https://api.example.com/v1/")], allowed_imports: ["vm"] });
    const child = entered(fixture, demo, { use: "task_subprocess" });
    expect(child.frame).toEqual(entered(fixture, demo).frame);
    expect(codeOf(fixture, child.frame, API)).toBe("allowed_sandbox");
    expect(child.allowedImports).toEqual([]);
  });
});

describe("an engine at run time", () => {
  const MANIFEST = {
    runtime: {
      access: [receive("https://api.example.com/v1/")],
      allowed_imports: ["worker_threads"],
      allowed_config_urls: ["endpoint", { key: "feed", operations: ["receive"] }],
    },
    install: { access: [receive("https://wheels.example")], allowed_imports: ["child_process"] },
  };

  it("has `runtime.access` and `runtime.allowed_imports`, and nothing of the install phase", () => {
    const whisper = engine(MANIFEST, { installFolders: [fixture.make("venv")] });
    expect(may(fixture, whisper, API)).toBe(true);
    expect(entered(fixture, whisper).allowedImports).toEqual(["worker_threads"]);
    expect(may(fixture, whisper, ["network", "receive", "https://wheels.example/a"])).toBe(false);
    expect(may(fixture, whisper, PACKAGES)).toBe(false);
    expect(may(fixture, whisper, ["filesystem", "create", `${fixture.folder}/venv/a`])).toBe(false);
  });

  it("may reach the configured values of the listed keys, by the operations of their entry", () => {
    const config = { endpoint: "https://one.example", feed: "https://feed.example/a/", other: "x.example" };
    const whisper = engine(MANIFEST, { config });
    expect(may(fixture, whisper, ["network", "receive", "https://one.example/q"])).toBe(true);
    expect(may(fixture, whisper, ["network", "send", "https://one.example/q"])).toBe(true);
    expect(may(fixture, whisper, ["network", "connect", "one.example:443"])).toBe(false);
    expect(may(fixture, whisper, ["network", "receive", "https://feed.example/a/b"])).toBe(true);
    expect(may(fixture, whisper, ["network", "send", "https://feed.example/a/b"])).toBe(false);
    expect(may(fixture, whisper, ["network", "receive", "https://x.example/"])).toBe(false);
    expect(may(fixture, whisper, ["network", "receive", "https://one.example/q"], { phase: "install" })).toBe(
      false,
    );
  });

  it("follows its configuration, also in a frame that was entered before the change", () => {
    const whisper = engine(MANIFEST, { config: { endpoint: "https://one.example" } });
    const { frame } = entered(fixture, whisper);
    const reach = (host: string) => codeOf(fixture, frame, ["network", "send", `https://${host}/`]);
    expect([reach("one.example"), reach("two.example")]).toEqual(["allowed_sandbox", "approval_required"]);
    registered(fixture.registry.updateConfig(whisper, { endpoint: "https://two.example" }));
    expect([reach("one.example"), reach("two.example")]).toEqual(["approval_required", "allowed_sandbox"]);
    registered(fixture.registry.updateConfig(whisper, {}));
    expect([reach("one.example"), reach("two.example")]).toEqual(["approval_required", "approval_required"]);
  });

  it("follows its configuration in a frame of a version that was replaced", () => {
    const whisper = engine(MANIFEST, {
      config: { endpoint: "https://one.example", feed: "https://f.example" },
    });
    const old = entered(fixture, whisper);
    registered(fixture.registry.reload(whisper, { runtime: { allowed_config_urls: ["feed"] } }));
    registered(
      fixture.registry.updateConfig(whisper, { endpoint: "https://two.example", feed: "https://g.example" }),
    );
    const reach = (host: string) => codeOf(fixture, old.frame, ["network", "receive", `https://${host}/`]);
    expect(["one", "two", "f", "g"].map((host) => reach(`${host}.example`))).toEqual([
      "approval_required",
      "allowed_sandbox",
      "approval_required",
      "allowed_sandbox",
    ]);
    expect(may(fixture, whisper, ["network", "receive", "https://two.example/"])).toBe(false);
    expect(may(fixture, whisper, ["network", "send", "https://g.example/"])).toBe(true);
  });

  it("gets no rule from a bad value, which is told, while the good ones hold", () => {
    const whisper = engine(MANIFEST, { config: { endpoint: "https://one.example" } });
    const answer = fixture.registry.updateConfig(whisper, {
      endpoint: "file:///etc",
      feed: "https://f.example",
    });
    expect(answer).toMatchObject({ ok: true, ignored: [{ pointer: "/endpoint" }, { pointer: "/endpoint" }] });
    expect(fixture.events.at(-1)).toMatchObject({ kind: "value_ignored", subject: whisper });
    expect(may(fixture, whisper, ["network", "receive", "https://one.example/"])).toBe(false);
    expect(may(fixture, whisper, ["network", "receive", "https://f.example/"])).toBe(true);
  });
});

describe("an engine during installation", () => {
  it("has `install.access`, its install folders and the installers' hosts to receive from", () => {
    const venv = fixture.make("venv");
    const whisper = engine(
      {
        runtime: { access: [receive("https://api.example.com/v1/")], allowed_imports: ["vm"] },
        install: { access: [receive("https://wheels.example")], allowed_imports: ["child_process"] },
      },
      { installFolders: [venv] },
    );
    const install = (...access: [string, string, string]) =>
      may(fixture, whisper, access, { phase: "install" });
    expect(install("network", "receive", "https://wheels.example/a")).toBe(true);
    expect(install(...PACKAGES)).toBe(true);
    expect(install("network", "send", "https://packages.example/simple/x")).toBe(false);
    expect(install("network", "receive", "http://packages.example/")).toBe(false);
    for (const operation of ["read", "create", "modify", "delete", "execute"])
      expect(install("filesystem", operation, `${venv}/bin/python`)).toBe(true);
    expect(install("filesystem", "read", `${venv}-other/a`)).toBe(false);
    expect(install(...API)).toBe(false);
    expect(entered(fixture, whisper, { phase: "install" }).allowedImports).toEqual(["child_process"]);
  });

  it("follows changed installer hosts", () => {
    const whisper = engine({});
    const host = (name: string) =>
      may(fixture, whisper, ["network", "receive", `https://${name}/`], { phase: "install" });
    expect([host("packages.example"), host("mirror.example")]).toEqual([true, false]);
    const [answer] = fixture.registry.updateInstallerHosts(["mirror.example", "not a host"]);
    expect(answer).toMatchObject({ ok: true, ignored: [{ pointer: "/1" }] });
    expect([host("packages.example"), host("mirror.example")]).toEqual([false, true]);
  });

  it.each([["relative"], ["/"], ["/a/../b"]])("refuses %s as an install folder", (folder) => {
    const root = fixture.make("engines", "whisper");
    const answer = fixture.registry.registerEngine({
      name: "whisper",
      root,
      manifest: {},
      installFolders: [folder],
    });
    expect(answer).toMatchObject({ ok: false, reason: "invalid_folder" });
    expect(fixture.events.at(-1)).toMatchObject({ kind: "registration_refused" });
  });
});

describe("an extractor", () => {
  it("has `runtime.access` at run time, and no configured URLs", () => {
    const yolo = extractor({
      runtime: { access: [receive("https://api.example.com/v1/")], allowed_imports: ["vm"] },
    });
    expect(may(fixture, yolo, API)).toBe(true);
    expect(entered(fixture, yolo).allowedImports).toEqual(["vm"]);
    expect(fixture.registry.updateConfig(yolo, {})).toMatchObject({ ok: false, reason: "not_registered" });
    const manifest = { runtime: { allowed_config_urls: ["endpoint"] } };
    expect(fixture.registry.reload(yolo, manifest)).toMatchObject({ reason: "invalid_manifest" });
  });

  it("has its install folders and no installer hosts during installation", () => {
    const venv = fixture.make("yolo-venv");
    const yolo = extractor(
      { install: { access: [receive("https://wheels.example")], allowed_imports: ["child_process"] } },
      { installFolders: [venv] },
    );
    fixture.registry.updateInstallerHosts(["packages.example"]);
    const install = { phase: "install" } as const;
    expect(may(fixture, yolo, ["network", "receive", "https://wheels.example/a"], install)).toBe(true);
    expect(may(fixture, yolo, ["filesystem", "create", `${venv}/a`], install)).toBe(true);
    expect(may(fixture, yolo, PACKAGES, install)).toBe(false);
    expect(may(fixture, yolo, ["filesystem", "create", `${venv}/a`])).toBe(false);
    expect(entered(fixture, yolo, install).allowedImports).toEqual(["child_process"]);
  });
});

describe.each(["Agent", "Tool", "Pipeline"] as const)("an asset: %s", (kind) => {
  const register = (definition: object, name = "demo.asset") =>
    fixture.registry[`register${kind}`]({ name, module: "demo", definition });

  it("has the access of its own definition, which never becomes its module's", () => {
    const demo = module({ access: [receive("https://module.example")] });
    const asset = registered(
      register({ access: [receive("https://api.example.com/v1/"), read("prompts/")] }),
    );
    const prompt = ["filesystem", "read", `${fixture.folder}/modules/demo/prompts/a`] as const;
    expect([may(fixture, asset, API), may(fixture, asset, prompt)]).toEqual([true, true]);
    expect([may(fixture, demo, API), may(fixture, demo, prompt)]).toEqual([false, false]);
    expect(may(fixture, asset, ["network", "receive", "https://module.example/"])).toBe(false);
    expect(entered(fixture, asset)).toMatchObject({ module: demo, allowedImports: [] });
    expect(fixture.registry.moduleOf(asset)).toEqual(demo);
  });

  it("is used only while it is the active subject", () => {
    const demo = module();
    const asset = registered(register({ access: [receive("https://api.example.com/v1/")] }));
    const [outer, inner] = [entered(fixture, demo).frame, entered(fixture, asset).frame];
    expect(codeOf(fixture, [outer, inner], API)).toBe("allowed_sandbox");
    expect(codeOf(fixture, [inner, outer], API)).toBe("approval_required");
  });

  it("may not list sensitive imports, and needs its module", () => {
    expect(register({})).toMatchObject({ ok: false, reason: "not_registered" });
    module();
    expect(register({ allowed_imports: ["vm"] })).toMatchObject({ ok: false, reason: "invalid_manifest" });
  });
});

describe("an MCP server", () => {
  it("is `tool:mcp.<server>` with its origin, both ways, and no filesystem", () => {
    const url = "https://mcp.example:8443/sse?x=1";
    const server = registered(fixture.registry.registerMcpServer({ server: "files", url }));
    expect(server).toEqual({ type: "tool", name: "mcp.files" });
    expect(may(fixture, server, ["network", "receive", "https://mcp.example:8443/other"])).toBe(true);
    expect(may(fixture, server, ["network", "send", "https://mcp.example:8443/other"])).toBe(true);
    expect(may(fixture, server, ["network", "connect", "mcp.example:8443"])).toBe(false);
    expect(may(fixture, server, ["network", "receive", "https://mcp.example/"])).toBe(false);
    const { frame, allowedImports } = entered(fixture, server);
    const held = frame.contracts.flatMap((id) => fixture.snapshot.contracts.get(id)?.contract.access ?? []);
    expect(held.map(({ resourceType }) => resourceType)).toEqual(["network", "network"]);
    expect(allowedImports).toEqual([]);
  });

  it("follows its configured URL, and a bad one keeps the old", () => {
    const url = "https://mcp.example/sse";
    const server = registered(fixture.registry.registerMcpServer({ server: "files", url }));
    const at = (host: string) => may(fixture, server, ["network", "send", `https://${host}/`]);
    registered(fixture.registry.reloadMcpServer({ server: "files", url: "https://new.example/sse" }));
    expect([at("mcp.example"), at("new.example")]).toEqual([false, true]);
    expect(fixture.registry.reloadMcpServer({ server: "files", url: "stdio://x" }).ok).toBe(false);
    expect(at("new.example")).toBe(true);
    expect(fixture.events.at(-1)).toMatchObject({ kind: "reload_refused", subject: server });
  });
});

describe("a one-off URL", () => {
  it("is allowed for that URL, for one call, while the active subject stays", () => {
    const demo = module();
    const { frame } = entered(fixture, demo);
    const oneOff = fixture.registry.oneOff("https://media.example/");
    if (!oneOff.ok) throw new Error(oneOff.message);
    const during = withOneOff(frame, oneOff);
    expect(during.subject).toEqual(demo);
    const code = (operation: string, url: string) => codeOf(fixture, during, ["network", operation, url]);
    expect(code("receive", "https://media.example/")).toBe("allowed_sandbox");
    expect(code("receive", "https://media.example/other")).toBe("approval_required");
    expect(code("send", "https://media.example/")).toBe("approval_required");
    oneOff.end();
    oneOff.end();
    expect(code("receive", "https://media.example/")).toBe("approval_required");
    expect([...fixture.snapshot.contracts.keys()]).toEqual(frame.contracts);
  });

  it("is for the operation that the host names, and a bad URL is none", () => {
    const { frame } = entered(fixture, module());
    const oneOff = fixture.registry.oneOff("https://media.example/up", "send");
    if (!oneOff.ok) throw new Error(oneOff.message);
    const during = withOneOff(frame, oneOff);
    expect(codeOf(fixture, during, ["network", "send", "https://media.example/up"])).toBe("allowed_sandbox");
    expect(codeOf(fixture, during, ["network", "receive", "https://media.example/up"])).toBe(
      "approval_required",
    );
    expect(fixture.registry.oneOff("file:///etc/passwd")).toMatchObject({ reason: "invalid_url" });
    expect(fixture.registry.oneOff("https://a.example/", "read" as never)).toMatchObject({ ok: false });
  });
});

describe("a manifest that nobody registered", () => {
  it("runs as `tool:local.<digest>`, the same subject for the same manifest however it is spelled", () => {
    const root = fixture.make("project");
    const manifest = {
      access: [receive("https://api.example.com/v1/"), read("in/")],
      allowed_imports: ["vm"],
    };
    const local = registered(fixture.registry.registerLocal({ root, manifest }));
    expect([local.type, local.name]).toEqual(["tool", expect.stringMatching(/^local\.[0-9a-f]{64}$/)]);
    const text = JSON.stringify({ allowed_imports: ["vm"], access: manifest.access }, null, 2);
    expect(registered(fixture.registry.registerLocal({ root, manifest: text }))).toEqual(local);
    expect(may(fixture, local, API)).toBe(true);
    expect(may(fixture, local, ["filesystem", "read", `${root}/in/a`])).toBe(true);
    expect(entered(fixture, local).allowedImports).toEqual(["vm"]);
    expect(fixture.registry.moduleOf(local)).toBeUndefined();
  });

  it("is another subject when it changes, and in another folder", () => {
    const root = fixture.make("project");
    const names = [
      { root, manifest: {} },
      { root, manifest: { description: "other" } },
      { root, manifest: { access: [entry("system_dependency", "execute", "ffmpeg")] } },
      { root: fixture.make("elsewhere"), manifest: {} },
    ].map((one) => registered(fixture.registry.registerLocal(one)).name);
    expect(new Set(names).size).toBe(4);
  });

  it("has the name that its digest gives, never the one that it calls itself", () => {
    const root = fixture.make("project");
    const local = registered(fixture.registry.registerLocal({ root, manifest: { name: "system" } }));
    expect(local.name).toMatch(/^local\./);
    expect(fixture.registry.enter(subject("module", "system")).ok).toBe(false);
    expect(fixture.registry.reload(local, { access: [] })).toMatchObject({ ok: false, reason: "name_taken" });
  });
});
