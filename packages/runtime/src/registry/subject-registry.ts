/**
 * The subjects that a host knows, each from its manifest or definition, and the contracts that the policy holds of
 * them. A name belongs to who registered it first; a reload is one whole version or nothing; a frame keeps the version
 * that it entered. Trusts the host that registers; trusts nothing of manifests, definitions and configured values.
 * Must never add what one subject declares to another, nor hand out rules of a subject that is not registered.
 */
import { type Phase, type Subject, parseSubject, sameSubject, subjectLabel } from "@sallyport/contract";
import { Admission, type AdmissionOptions } from "./admission.ts";
import { MCP_PREFIX } from "./asset-name.ts";
import { copyConfig, copyTexts, ownField } from "./host-input.ts";
import { readLocalManifest } from "./local-manifest.ts";
import { type OneOffOperation, openOneOff } from "./one-off.ts";
import type { RegisteredSubject, SubjectSource, SubjectState } from "./registered-subject.ts";
import {
  type AssetRegistration,
  type EngineRegistration,
  type ExtractorRegistration,
  type LocalRegistration,
  type McpRegistration,
  type ModuleRegistration,
  realFolder,
  realFolders,
} from "./registration.ts";
import {
  type OneOff,
  type Registered,
  type RegistryRefusal,
  type SubjectDeclaration,
  type SubjectEntry,
  type Unregistered,
  refusal,
} from "./registry-answer.ts";

export interface SubjectRegistryOptions extends AdmissionOptions {
  /** As `readInstallerHosts` gives them; for the install phase of engines. */
  readonly installerHosts?: readonly string[] | undefined;
}

export interface EnterOptions {
  /** `runtime` unless said. */
  readonly phase?: Phase | undefined;
  /** `task_subprocess`: a child of the SDK, which has the same rules and no sensitive imports. */
  readonly use?: "own" | "task_subprocess" | undefined;
}

const NO_IMPORTS = Object.freeze([]);
/** Nothing of the host beside the manifest. */
const NOTHING_ADDED = Object.freeze({
  installFolders: Object.freeze([]),
  config: copyConfig(undefined),
  installerHosts: Object.freeze([]),
});

export class SubjectRegistry {
  readonly #admission: Admission;
  #installerHosts: readonly string[];

  constructor(options: SubjectRegistryOptions) {
    this.#admission = new Admission(options);
    this.#installerHosts = copyTexts(ownField(options, "installerHosts")) ?? [];
  }

  registerModule(registration: ModuleRegistration): Registered | RegistryRefusal {
    return this.#registerRooted("module", registration);
  }

  registerEngine(registration: EngineRegistration): Registered | RegistryRefusal {
    return this.#registerRooted("engine", registration);
  }

  registerExtractor(registration: ExtractorRegistration): Registered | RegistryRefusal {
    return this.#registerRooted("extractor", registration);
  }

  registerAgent(registration: AssetRegistration): Registered | RegistryRefusal {
    return this.#registerAsset("agent", registration);
  }

  registerTool(registration: AssetRegistration): Registered | RegistryRefusal {
    return this.#registerAsset("tool", registration);
  }

  registerPipeline(registration: AssetRegistration): Registered | RegistryRefusal {
    return this.#registerAsset("pipeline", registration);
  }

  /** The subject `tool:mcp.<server>`: receive and send on the origin of the URL. */
  registerMcpServer(registration: McpRegistration): Registered | RegistryRefusal {
    return this.#admission.admit({
      ...NOTHING_ADDED,
      kind: "mcp_server",
      name: undefined,
      module: undefined,
      root: undefined,
      manifest: serverManifest(registration),
    });
  }

  /** The subject `tool:local.<digest>`. The same manifest of the same folder again is the same subject. */
  registerLocal(registration: LocalRegistration): Registered | RegistryRefusal {
    const root = realFolder(ownField(registration, "root"));
    if (!root.ok) return this.#admission.refuse(undefined, refusal("invalid_folder", root.message));
    const local = readLocalManifest(ownField(registration, "manifest"), root.value);
    if (!local.ok) return this.#admission.refuse(undefined, refusal("invalid_manifest", local.message));
    const { subject, text } = local.value;
    if (this.#admission.find(subject) !== undefined)
      return Object.freeze({ ok: true, subject, warnings: [], ignored: [] });
    return this.#admission.admit({
      ...NOTHING_ADDED,
      kind: "local",
      name: subject.name,
      module: undefined,
      root: root.value,
      manifest: text,
    });
  }

  /** A changed manifest or definition, as one whole version. A bad one keeps the old and raises an event. */
  reload(subject: Subject, manifest: unknown): Registered | RegistryRefusal {
    return this.#admission.reload(subject, manifest);
  }

  /** A changed URL of an MCP server. */
  reloadMcpServer(registration: McpRegistration): Registered | RegistryRefusal {
    const manifest = serverManifest(registration);
    const subject = parseSubject("tool", `${MCP_PREFIX}${String(manifest.name)}`);
    if (subject.ok) return this.#admission.reload(subject.value, manifest);
    return this.#admission.refuse(undefined, refusal("invalid_subject", subject.message));
  }

  /** The configuration of an engine as it is now. Running frames follow; a bad value gives no rule. */
  updateConfig(engine: Subject, config: unknown): Registered | RegistryRefusal {
    const held = this.#admission.find(engine);
    if (held?.state === undefined || held.source.kind !== "engine") {
      return refusal(
        "not_registered",
        `\`${subjectLabel(engine)}\` is no registered engine: register it first`,
      );
    }
    return this.#admission.change(held, { ...held.state, config: copyConfig(config) });
  }

  /** The installers' hosts as they are now, for every engine that is entered for its installation from here on. */
  updateInstallerHosts(hosts: readonly string[]): readonly (Registered | RegistryRefusal)[] {
    this.#installerHosts = copyTexts(hosts) ?? [];
    return [...this.#admission.all()].flatMap((held) => {
      if (held.source.kind !== "engine" || held.state === undefined) return [];
      const state: SubjectState = { ...held.state, installerHosts: this.#installerHosts };
      return [this.#admission.change(held, state)];
    });
  }

  /** Takes a subject away, and the assets of a module with it. Frames that entered it keep their contracts. */
  unregister(subject: Subject): Unregistered | RegistryRefusal {
    const held = this.#admission.find(subject);
    if (held === undefined) return unknownSubject(subject);
    const own = held.source.subject;
    const assets = [...this.#admission.all()].filter(
      ({ source }) => source.module !== undefined && sameSubject(source.module, own),
    );
    // INVARIANT: the module goes last, so that no asset is ever left without one.
    const subjects: Subject[] = [];
    for (const one of [...assets.filter((asset) => asset !== held), held]) {
      if (!this.#admission.dismiss(one))
        return refusal(
          "unavailable",
          `\`${subjectLabel(one.source.subject)}\` could not be taken away: try again`,
        );
      subjects.push(one.source.subject);
    }
    return Object.freeze({ ok: true, subjects: Object.freeze(subjects) });
  }

  /** A frame of a registered subject, to be entered by the host. `leave` is called when it has ended. */
  enter(subject: Subject, options: EnterOptions = {}): SubjectEntry | RegistryRefusal {
    const phase = ownField(options, "phase") ?? "runtime";
    const held = this.#admission.find(subject);
    const version = held?.current;
    if (held === undefined || version === undefined) return unknownSubject(subject);
    const contracts = version.contractsOf(phase);
    if (contracts === undefined) {
      return refusal(
        "no_such_phase",
        `\`${subjectLabel(held.source.subject)}\` has no phase \`${phase}\`: enter it with \`runtime\``,
      );
    }
    const isTask = ownField(options, "use") === "task_subprocess";
    return Object.freeze({
      ok: true,
      frame: Object.freeze({ subject: held.source.subject, phase, entry: "host", contracts }),
      allowedImports: isTask ? NO_IMPORTS : version.importsOf(phase),
      module: moduleOf(held),
      root: held.source.root,
      leave: version.enter(),
    });
  }

  /** The module that a subject is or belongs to; engines, extractors, MCP servers and local manifests have none. */
  moduleOf(subject: Subject): Subject | undefined {
    const held = this.#admission.find(subject);
    return held === undefined ? undefined : moduleOf(held);
  }

  /** What every subject declares, by real paths, in each phase that it has; for people. */
  declarations(): readonly SubjectDeclaration[] {
    return [...this.#admission.all()].flatMap(({ source, state }) =>
      state === undefined ? [] : declarationsOf(source, state),
    );
  }

  /** A contract for that URL and one call, for a frame of the active subject; `receive` unless said. */
  oneOff(url: unknown, operation: OneOffOperation = "receive"): OneOff | RegistryRefusal {
    return openOneOff(this.#admission, url, operation);
  }

  #registerRooted(
    kind: "module" | "engine" | "extractor",
    registration: EngineRegistration,
  ): Registered | RegistryRefusal {
    const name = ownField(registration, "name");
    const root = realFolder(ownField(registration, "root"));
    if (!root.ok) return this.#admission.refuse(undefined, refusal("invalid_folder", root.message));
    const folders = realFolders(kind === "module" ? { root: "", manifest: undefined } : registration);
    if (!folders.ok) return this.#admission.refuse(undefined, refusal("invalid_folder", folders.message));
    return this.#admission.admit({
      kind,
      name,
      module: undefined,
      root: root.value,
      installFolders: folders.value,
      config: kind === "engine" ? copyConfig(ownField(registration, "config")) : NOTHING_ADDED.config,
      installerHosts: kind === "engine" ? this.#installerHosts : NOTHING_ADDED.installerHosts,
      manifest: ownField(registration, "manifest"),
    });
  }

  #registerAsset(
    kind: "agent" | "tool" | "pipeline",
    registration: AssetRegistration,
  ): Registered | RegistryRefusal {
    const owner = parseSubject("module", ownField(registration, "module"));
    const module = owner.ok ? this.#admission.find(owner.value) : undefined;
    if (module === undefined) {
      const message = "the module of an asset must be registered before it: register the module first";
      return this.#admission.refuse(undefined, refusal("not_registered", message));
    }
    return this.#admission.admit({
      ...NOTHING_ADDED,
      kind,
      name: ownField(registration, "name"),
      module: module.source.subject,
      root: module.source.root,
      manifest: ownField(registration, "definition"),
    });
  }
}

function declarationsOf({ subject, root }: SubjectSource, { compiled }: SubjectState): SubjectDeclaration[] {
  const { runtime, install } = compiled;
  const phases = [
    ["runtime", runtime] as const,
    ...(install === undefined ? [] : [["install", install] as const]),
  ];
  return phases.map(([phase, { access, allowedImports }]) =>
    Object.freeze({ subject, phase, access, allowedImports, root }),
  );
}

function moduleOf({ source }: RegisteredSubject): Subject | undefined {
  return source.kind === "module" ? source.subject : source.module;
}

function serverManifest(registration: McpRegistration): { readonly name: unknown; readonly url: unknown } {
  return { name: ownField(registration, "server"), url: ownField(registration, "url") };
}

function unknownSubject(subject: Subject): RegistryRefusal {
  return refusal("not_registered", `\`${subjectLabel(subject)}\` is not registered: register it first`);
}
