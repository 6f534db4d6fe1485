/**
 * Whatever was registered, reloaded, configured, entered and taken away: once no frame holds an old version, the policy
 * holds what a fresh registry would have put there for the final state.
 */
import { PHASES, type Subject } from "@sallyport/contract";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type Fixture, openFixture, receive, subject } from "../testing/registry-fixture.ts";
import type { Registered, RegistryRefusal, SubjectEntry } from "./registry-answer.ts";

const MODULES = ["demo", "other"] as const;
const ASSETS = ["demo.tool", "other.tool"] as const;
const ENGINES = ["whisper", "vox"] as const;
const access = (hosts: readonly string[]) => hosts.map((host) => receive(`https://${host}.example`));
const hostList = fc.uniqueArray(fc.constantFrom("a", "b", "c"), { maxLength: 2 });
/** One in a few is bad, and must change nothing. */
const declared = fc.oneof(
  { weight: 4, arbitrary: hostList.map((hosts) => ({ access: access(hosts) })) },
  { weight: 1, arbitrary: fc.constant({ access: [receive("file:///etc")] }) },
);
const engineManifest = fc.record({
  runtime: fc
    .tuple(declared, fc.subarray(["endpoint", "feed"]))
    .map(([one, allowed_config_urls]) => ({ ...one, allowed_config_urls })),
  install: declared,
});
const config = fc.record(
  {
    endpoint: fc.constantFrom("https://x.example", "https://y.example", "bad value"),
    feed: fc.constant("feed.example:443"),
  },
  { requiredKeys: [] },
);
const root = fc.constantFrom("first", "second");

type Command =
  | { kind: "module" | "engine"; name: string; root: string; manifest: object; config: object }
  | { kind: "asset"; name: string; manifest: object }
  | { kind: "reload"; who: Subject; manifest: object }
  | { kind: "config"; name: string; config: object }
  | { kind: "hosts"; hosts: readonly string[] }
  | { kind: "unregister" | "enter"; who: Subject }
  | { kind: "leave"; at: number };

const module = fc.constantFrom(...MODULES);
const engine = fc.constantFrom(...ENGINES);
const simple = fc.oneof(
  module.map((name) => subject("module", name)),
  fc.constantFrom(...ASSETS).map((name) => subject("tool", name)),
);
const engineSubject = engine.map((name) => subject("engine", name));
const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({ kind: fc.constant("module"), name: module, root, manifest: declared, config: fc.constant({}) }),
  fc.record({ kind: fc.constant("engine"), name: engine, root, manifest: engineManifest, config }),
  fc.record({ kind: fc.constant("asset"), name: fc.constantFrom(...ASSETS), manifest: declared }),
  fc.record({ kind: fc.constant("reload"), who: simple, manifest: declared }),
  fc.record({ kind: fc.constant("reload"), who: engineSubject, manifest: engineManifest }),
  fc.record({ kind: fc.constant("config"), name: engine, config }),
  fc.record({ kind: fc.constant("hosts"), hosts: hostList }),
  fc.record({ kind: fc.constantFrom("unregister", "enter"), who: fc.oneof(simple, engineSubject) }),
  fc.record({ kind: fc.constant("leave"), at: fc.nat(5) }),
);

interface Kept {
  readonly who: Subject;
  root: string;
  manifest: object;
  config: object;
}

/** The state as a list, kept by nothing but the answers of the registry. */
class World {
  kept: Kept[] = [];
  hosts: readonly string[] = [];
  readonly entries: SubjectEntry[] = [];

  take(fixture: Fixture, one: Command): void {
    const { registry } = fixture;
    switch (one.kind) {
      case "module":
      case "engine":
      case "asset": {
        const at = { root: "", config: {}, ...one };
        const answer = put(fixture, at);
        if (answer.ok) this.kept.push({ ...at, who: answer.subject });
        return;
      }
      case "reload": {
        const held = this.#find(one.who);
        if (registry.reload(one.who, one.manifest).ok && held !== undefined) held.manifest = one.manifest;
        return;
      }
      case "config": {
        const who = subject("engine", one.name);
        const held = this.#find(who);
        if (registry.updateConfig(who, one.config).ok && held !== undefined) held.config = one.config;
        return;
      }
      case "hosts":
        registry.updateInstallerHosts(one.hosts);
        this.hosts = one.hosts;
        return;
      case "unregister": {
        const answer = registry.unregister(one.who);
        if (answer.ok)
          this.kept = this.kept.filter(({ who }) => !answer.subjects.some((gone) => isSame(gone, who)));
        return;
      }
      case "enter": {
        const answer = registry.enter(one.who);
        if (answer.ok) this.entries.push(answer);
        return;
      }
      case "leave":
        this.entries[one.at]?.leave();
    }
  }

  #find(who: Subject): Kept | undefined {
    return this.kept.find((held) => isSame(held.who, who));
  }
}

function isSame(left: Subject, right: Subject): boolean {
  return left.type === right.type && left.name === right.name;
}

function put(
  { registry, folder }: Fixture,
  one: { kind: string; name: string; root: string; manifest: object; config: object },
): Registered | RegistryRefusal {
  const { name, manifest } = one;
  const at = `${folder}/${one.root}`;
  if (one.kind === "module") return registry.registerModule({ name, root: at, manifest });
  if (one.kind === "engine")
    return registry.registerEngine({
      name,
      root: at,
      manifest,
      config: one.config,
      installFolders: [`${at}/v`],
    });
  return registry.registerTool({ name, module: name.slice(0, name.indexOf(".")), definition: manifest });
}

/** What every subject may do in every phase, and how many contracts the policy holds; no ids and no folders. */
function heldBy({ registry, snapshot, folder }: Fixture) {
  const who = [
    ...MODULES.map((name) => subject("module", name)),
    ...ASSETS.map((name) => subject("tool", name)),
    ...ENGINES.map((name) => subject("engine", name)),
  ];
  const subjects = who.map((one) => ({
    registered: snapshot.registrations.get(one)?.contracts.length ?? 0,
    phases: PHASES.map((phase) => {
      const entry = registry.enter(one, { phase });
      if (!entry.ok) return null;
      entry.leave();
      return entry.frame.contracts.map((id) => snapshot.contracts.get(id)?.contract.access ?? "missing");
    }),
  }));
  return JSON.stringify({ subjects, contracts: snapshot.contracts.size }).replaceAll(folder, "");
}

it("the policy holds what a fresh registry would put there", () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 40 }), (commands) => {
      const used = openFixture();
      const fresh = openFixture();
      try {
        const world = new World();
        for (const one of commands) world.take(used, one);
        for (const { leave } of world.entries) leave();
        fresh.registry.updateInstallerHosts(world.hosts);
        const order = ["module", "engine", "tool"];
        const kept = world.kept.toSorted((a, b) => order.indexOf(a.who.type) - order.indexOf(b.who.type));
        for (const { who, ...rest } of kept) {
          const answer = put(fresh, { kind: who.type, name: who.name, ...rest });
          expect(answer.ok).toBe(true);
        }
        expect(heldBy(used)).toBe(heldBy(fresh));
      } finally {
        used.close();
        fresh.close();
      }
    }),
    { numRuns: 200 },
  );
});
