/**
 * Attacks on the registry, each named after what somebody tries.
 */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type Fixture,
  entered,
  entry,
  may,
  openFixture,
  read,
  receive,
  registered,
  subject,
} from "../testing/registry-fixture.ts";

let fixture: Fixture;
beforeEach(() => {
  fixture = openFixture();
});
afterEach(() => fixture.close());

const EVIL = ["network", "receive", "https://evil.example/"] as const;
const evil = { access: [receive("https://evil.example")] };
const register = (name: string, manifest: unknown = {}, root = fixture.make(name)) =>
  fixture.registry.registerModule({ name, root, manifest });

describe("same-name squatter", () => {
  it("a module of another folder does not get a name that is taken", () => {
    const demo = registered(register("demo", { access: [receive("https://good.example")] }));
    const answer = register("demo", evil, fixture.make("squatter"));
    expect(answer).toMatchObject({ ok: false, reason: "name_taken" });
    expect(fixture.events.at(-1)).toEqual({ kind: "registration_refused", subject: demo, refusal: answer });
    expect(may(fixture, demo, EVIL)).toBe(false);
    expect(may(fixture, demo, ["network", "receive", "https://good.example/"])).toBe(true);
  });

  it("a second registration by the same folder is refused too, whatever link names it", () => {
    registered(register("demo"));
    symlinkSync(`${fixture.folder}/demo`, `${fixture.folder}/link`);
    expect(register("demo", evil, `${fixture.folder}/link`)).toMatchObject({ reason: "already_registered" });
    expect(may(fixture, subject("module", "demo"), EVIL)).toBe(false);
  });

  it("an engine, an extractor and an MCP server keep their names as well", () => {
    const root = fixture.make("one");
    const other = fixture.make("two");
    for (const kind of ["Engine", "Extractor"] as const) {
      registered(fixture.registry[`register${kind}`]({ name: "shared", root, manifest: {} }));
      const manifest = { runtime: evil };
      expect(fixture.registry[`register${kind}`]({ name: "shared", root: other, manifest })).toMatchObject({
        reason: "name_taken",
      });
    }
    const server = "files";
    registered(fixture.registry.registerMcpServer({ server, url: "https://mcp.example/" }));
    expect(fixture.registry.registerMcpServer({ server, url: "https://evil.example/" })).toMatchObject({
      reason: "name_taken",
    });
    expect(fixture.registry.registerMcpServer({ server, url: "https://mcp.example/sse" })).toMatchObject({
      reason: "already_registered",
    });
    expect(may(fixture, subject("tool", "mcp.files"), EVIL)).toBe(false);
  });
});

describe("squatting of another module's names", () => {
  it.each([
    ["other.tool"],
    ["tool"],
    ["demo."],
    ["demo.sub.tool"],
    ["Demo.tool"],
    ["demonic.tool"],
    ["mcp.files"],
    ["local.0123"],
  ])("the module `demo` cannot register `%s`", (name) => {
    registered(register("demo"));
    registered(register("other"));
    const answer = fixture.registry.registerTool({ name, module: "demo", definition: evil });
    expect(answer).toMatchObject({ ok: false, reason: "name_not_owned" });
    expect(fixture.events.at(-1)).toMatchObject({ kind: "registration_refused", refusal: answer });
    expect(fixture.registry.enter(subject("tool", name)).ok).toBe(false);
  });

  it("a definition that names itself is held to the same rule", () => {
    registered(register("demo"));
    registered(register("other"));
    const definition = { name: "other.tool", ...evil };
    expect(fixture.registry.registerTool({ module: "demo", definition })).toMatchObject({
      reason: "name_not_owned",
    });
    expect(registered(fixture.registry.registerTool({ module: "other", definition })).name).toBe(
      "other.tool",
    );
  });

  it.each(["mcp", "local", "mcp.files", "local.x"])("no module is called `%s`", (name) => {
    expect(register(name)).toMatchObject({ ok: false, reason: "name_not_owned" });
  });

  it.each(["mcpx", "locals"])("a module may be called `%s`", (name) => {
    expect(register(name).ok).toBe(true);
  });

  it("nobody is the host's own code", () => {
    expect(register("core")).toMatchObject({ ok: false, reason: "invalid_subject" });
    expect(fixture.registry.enter(subject("core", "core")).ok).toBe(false);
  });
});

describe("a definition that changes after it was registered", () => {
  it("changes nothing, and neither does its configuration or a list of folders", () => {
    const access = [receive("https://good.example")];
    const manifest = { runtime: { access, allowed_config_urls: ["endpoint"], allowed_imports: ["vm"] } };
    const config = { endpoint: "https://one.example" };
    const installFolders = [fixture.make("venv")];
    const engine = registered(
      fixture.registry.registerEngine({
        name: "whisper",
        root: fixture.make("whisper"),
        manifest,
        config,
        installFolders,
      }),
    );
    access.push(receive("https://evil.example"));
    (access[0] as { target: unknown }).target = "https://evil.example";
    manifest.runtime.allowed_imports.push("child_process");
    config.endpoint = "https://evil.example";
    installFolders.push(fixture.make("evil"));
    fixture.registry.updateInstallerHosts(["packages.example"]);
    expect(may(fixture, engine, EVIL)).toBe(false);
    expect(may(fixture, engine, ["network", "receive", "https://one.example/"])).toBe(true);
    expect(
      may(fixture, engine, ["filesystem", "read", `${fixture.folder}/evil/a`], { phase: "install" }),
    ).toBe(false);
    expect(entered(fixture, engine).allowedImports).toEqual(["vm"]);
  });

  it("through a getter is read once", () => {
    let reads = 0;
    const manifest = {
      get access() {
        return reads++ === 0 ? [] : evil.access;
      },
    };
    const demo = registered(register("demo", manifest));
    expect(reads).toBe(1);
    expect(may(fixture, demo, EVIL)).toBe(false);
  });

  it("cannot be reached through what the registry hands out", () => {
    const demo = registered(register("demo", { allowed_imports: ["vm"] }));
    const { frame, allowedImports } = entered(fixture, demo);
    const held = fixture.snapshot.contracts.get(frame.contracts[0] ?? "")?.contract;
    for (const value of [demo, frame, frame.contracts, allowedImports, held, held?.access])
      expect(Object.isFrozen(value)).toBe(true);
  });
});

describe("prototype pollution", () => {
  const polluted = <T>(fields: Readonly<Record<string, unknown>>, run: () => T): T => {
    for (const [key, value] of Object.entries(fields))
      Reflect.defineProperty(Object.prototype, key, { value, configurable: true, writable: true });
    try {
      return run();
    } finally {
      for (const key of Object.keys(fields)) Reflect.deleteProperty(Object.prototype, key);
    }
  };

  it("gives nobody a folder, a configuration, a module or a phase", () => {
    const root = fixture.make("whisper");
    const fields = {
      config: { endpoint: "https://evil.example" },
      endpoint: "https://evil.example",
      installFolders: [fixture.make("evil")],
      installerHosts: ["evil.example"],
      module: "evil",
      phase: "install",
    };
    polluted(fields, () => {
      const manifest = { runtime: { allowed_config_urls: ["endpoint"] } };
      const engine = registered(fixture.registry.registerEngine({ name: "whisper", root, manifest }));
      const demo = registered(register("demo"));
      for (const who of [engine, demo]) {
        expect(may(fixture, who, EVIL)).toBe(false);
        expect(entered(fixture, who)).toMatchObject({ frame: { phase: "runtime" }, allowedImports: [] });
      }
      expect(entered(fixture, engine).module).toBeUndefined();
      const install = { phase: "install" } as const;
      expect(may(fixture, engine, EVIL, install)).toBe(false);
      expect(may(fixture, engine, ["filesystem", "read", `${fixture.folder}/evil/a`], install)).toBe(false);
    });
  });

  it.each([
    ["access", evil.access],
    ["allowed_imports", ["vm"]],
    ["allowed_config_urls", ["endpoint"]],
    ["runtime", evil],
    ["install", evil],
    ["name", "evil"],
  ])("of `%s` lets no manifest be loaded, and keeps what is registered", (key, value) => {
    const demo = registered(register("demo"));
    polluted({ [key]: value }, () => {
      expect(register("other")).toMatchObject({ ok: false, reason: "invalid_manifest" });
      expect(fixture.registry.reload(demo, {})).toMatchObject({ ok: false, reason: "invalid_manifest" });
      expect(may(fixture, demo, EVIL)).toBe(false);
    });
  });

  it("does not widen a declared rule", () => {
    const demo = polluted({ match: "origin" }, () => {
      const one = registered(register("demo", { access: [receive("https://api.example.com/v1/")] }));
      expect(may(fixture, one, ["network", "receive", "https://api.example.com/other"])).toBe(false);
      return one;
    });
    expect(may(fixture, demo, ["network", "receive", "https://api.example.com/v1/a"])).toBe(true);
  });

  it("by `__proto__` in a manifest or a configuration adds nothing", () => {
    const text =
      '{"__proto__": {"access": [{"resource_type": "network", "operation": "receive", "target": "https://evil.example"}]}}';
    expect(may(fixture, registered(register("demo", text)), EVIL)).toBe(false);
    const engine = registered(
      fixture.registry.registerEngine({
        name: "whisper",
        root: fixture.make("whisper"),
        manifest: { runtime: { allowed_config_urls: ["endpoint"] } },
        config: JSON.parse('{"__proto__": {"endpoint": "https://evil.example"}}') as unknown,
      }),
    );
    expect(may(fixture, engine, EVIL)).toBe(false);
    registered(fixture.registry.updateConfig(engine, Object.create({ endpoint: "https://evil.example" })));
    expect(may(fixture, engine, EVIL)).toBe(false);
  });
});

describe("a configuration that cannot be read", () => {
  it("gives no rule, and no rule of the old one stays", () => {
    const engine = registered(
      fixture.registry.registerEngine({
        name: "whisper",
        root: fixture.make("whisper"),
        manifest: { runtime: { allowed_config_urls: ["a", "b"] } },
        config: { a: "https://a.example" },
      }),
    );
    const config = {
      a: "https://a.example",
      get b(): string {
        throw new Error("hostile");
      },
    };
    registered(fixture.registry.updateConfig(engine, config));
    expect(may(fixture, engine, ["network", "receive", "https://a.example/"])).toBe(false);
  });
});

describe("links", () => {
  const file = (path: string) => {
    mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    writeFileSync(path, "");
    return path;
  };

  it("a root that is a link is honoured by its real path", () => {
    fixture.make("real");
    symlinkSync(`${fixture.folder}/real`, `${fixture.folder}/link`);
    const demo = registered(register("demo", { access: [read("in/")] }, `${fixture.folder}/link`));
    expect(may(fixture, demo, ["filesystem", "read", `${fixture.folder}/real/in/a`])).toBe(true);
    expect(entered(fixture, demo).root).toBe(`${fixture.folder}/real`);
  });

  it("a declared folder and a file that are links are honoured by their real paths", () => {
    fixture.make("real", "sub");
    file(`${fixture.folder}/target.txt`);
    symlinkSync(`${fixture.folder}/real`, `${fixture.folder}/link`);
    symlinkSync(`${fixture.folder}/target.txt`, `${fixture.folder}/file`);
    const demo = registered(
      register("demo", {
        access: [
          read(`${fixture.folder}/link/`),
          entry("filesystem", "create", `${fixture.folder}/link/`),
          read(`${fixture.folder}/file`),
          entry("filesystem", "delete", `${fixture.folder}/file`),
        ],
      }),
    );
    const at = (operation: string, path: string) =>
      may(fixture, demo, ["filesystem", operation, `${fixture.folder}/${path}`]);
    expect([at("read", "real/sub/a"), at("create", "real/a"), at("read", "target.txt")]).toEqual([
      true,
      true,
      true,
    ]);
    // WHY: deleting a link deletes the link.
    expect([at("delete", "file"), at("delete", "target.txt")]).toEqual([true, false]);
  });

  it("a link that a module ships does not lead its relative targets out of its folder", () => {
    const root = fixture.make("demo");
    fixture.make("secret");
    symlinkSync(`${fixture.folder}/secret`, `${root}/models`);
    const answer = register("demo", { access: [read("models/")] });
    expect(answer).toMatchObject({ reason: "invalid_manifest", faults: [{ pointer: "/access/0/target" }] });
    fixture.make("data", "own");
    symlinkSync(`${fixture.folder}/secret`, `${fixture.folder}/data/link`);
    expect(register("demo", { access: [read("${data}/link/")] })).toMatchObject({ ok: false });
    symlinkSync(`${fixture.folder}/data/own`, `${fixture.folder}/data/inside`);
    const demo = registered(register("demo", { access: [read("${data}/inside/")] }));
    expect(may(fixture, demo, ["filesystem", "read", `${fixture.folder}/data/own/a`])).toBe(true);
  });

  it("a link that a subject plants where it may write opens nothing at the next load", () => {
    const spool = fixture.make("spool");
    fixture.make("secret");
    const access = [entry("filesystem", "create", `${spool}/`), read(`${spool}/in/`)];
    const demo = registered(register("demo", { access }));
    symlinkSync(`${fixture.folder}/secret`, `${spool}/in`);
    const secret = ["filesystem", "read", `${fixture.folder}/secret/a`] as const;
    expect(fixture.registry.reload(demo, { access })).toMatchObject({ reason: "invalid_manifest" });
    expect(may(fixture, demo, secret)).toBe(false);
    fixture.registry.unregister(demo);
    expect(register("demo", { access })).toMatchObject({ reason: "invalid_manifest" });
  });

  it("a declared folder that its subject replaced by a link is not followed by a reload", () => {
    const spool = fixture.make("spool");
    fixture.make("secret");
    const access = [entry("filesystem", "create", `${spool}/`), entry("filesystem", "delete", `${spool}/`)];
    const demo = registered(register("demo", { access }));
    rmSync(spool, { recursive: true });
    symlinkSync(`${fixture.folder}/secret`, spool);
    expect(fixture.registry.reload(demo, { access: [...access, read(`${spool}/`)] })).toMatchObject({
      reason: "invalid_manifest",
    });
    expect(may(fixture, demo, ["filesystem", "create", `${fixture.folder}/secret/a`])).toBe(false);
  });

  it("a link in the place of a folder of the host is not followed after the registration", () => {
    const venv = fixture.make("venv");
    fixture.make("secret");
    const manifest = {};
    const root = fixture.make("whisper");
    const engine = registered(
      fixture.registry.registerEngine({ name: "whisper", root, manifest, installFolders: [venv] }),
    );
    rmSync(venv, { recursive: true });
    symlinkSync(`${fixture.folder}/secret`, venv);
    registered(fixture.registry.reload(engine, { install: evil }));
    fixture.registry.updateInstallerHosts(["packages.example"]);
    expect(may(fixture, engine, EVIL, { phase: "install" })).toBe(true);
    expect(
      may(fixture, engine, ["filesystem", "read", `${fixture.folder}/secret/a`], { phase: "install" }),
    ).toBe(false);
  });
});
