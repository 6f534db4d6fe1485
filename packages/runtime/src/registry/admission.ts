/**
 * Who is let into the registry, and under which name: the first one keeps it, a second one is refused and told about.
 * Must never replace what is registered by anything but its own reload.
 */
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import {
  type ManifestFault,
  type ManifestVariable,
  MANIFEST_VARIABLES,
  type ManifestWarning,
  type PointedFault,
  type Subject,
  type SubjectType,
  type UrlParser,
  parseSubject,
  sameSubject,
  subjectLabel,
} from "@sallyport/contract";
import type { AccessRule } from "@sallyport/policy";
import { assetNameFault, moduleNameFault } from "./asset-name.ts";
import { type Compiled, type CompiledManifest, compileManifest } from "./compile-manifest.ts";
import { type ConfigCopy, ownField } from "./host-input.ts";
import { PolicyLink, type PolicyLinkOptions } from "./policy-link.ts";
import { RegisteredSubject, type SubjectSource, type SubjectState } from "./registered-subject.ts";
import { realFolder, subjectOf } from "./registration.ts";
import { type Registered, type RegistryRefusal, refusal } from "./registry-answer.ts";
import { SubjectBook } from "./subject-book.ts";

export interface AdmissionOptions extends PolicyLinkOptions {
  readonly parseUrl: UrlParser;
  /** The folders behind `${workspace}`, `${data}`, `${tmp}` and `${home}`. */
  readonly variables: { readonly [V in ManifestVariable]?: string | undefined };
  /** What is at a path now; for warnings only. */
  readonly folderKind?: ((path: string) => "directory" | "file" | "missing") | undefined;
  /** Ids that no other host of the same service uses. */
  readonly newContractId?: (() => string) | undefined;
}

/** What is asked to be registered, read already. WHY no optional field: a polluted prototype would fill it. */
export interface Candidate {
  readonly kind: SubjectSource["kind"];
  readonly name: unknown;
  readonly manifest: unknown;
  readonly module: Subject | undefined;
  readonly root: string | undefined;
  readonly installFolders: readonly string[];
  readonly config: ConfigCopy;
  readonly installerHosts: readonly string[];
}

const TYPE_OF = {
  module: "module",
  engine: "engine",
  extractor: "extractor",
  agent: "agent",
  tool: "tool",
  pipeline: "pipeline",
  mcp_server: "tool",
  local: "tool",
} as const satisfies Readonly<Record<SubjectSource["kind"], SubjectType>>;

export class Admission {
  readonly link: PolicyLink;
  readonly parseUrl: UrlParser;
  readonly newContractId: () => string;
  readonly #book = new SubjectBook<RegisteredSubject>();
  readonly #variables: { readonly [V in ManifestVariable]?: string | undefined };
  readonly #folderKind: AdmissionOptions["folderKind"];

  constructor(options: AdmissionOptions) {
    this.link = new PolicyLink(options);
    this.parseUrl = options.parseUrl;
    this.newContractId = ownField(options, "newContractId") ?? (() => `contract-${randomUUID()}`);
    this.#folderKind = ownField(options, "folderKind");
    this.#variables = realVariables(options.variables);
  }

  find(subject: Subject): RegisteredSubject | undefined {
    return this.#book.get(subject);
  }

  all(): Iterable<RegisteredSubject> {
    return this.#book.values();
  }

  admit(candidate: Candidate): Registered | RegistryRefusal {
    const { kind, name } = candidate;
    const type = TYPE_OF[kind];
    const compiled = this.#compile(kind, candidate.manifest, candidate, []);
    if (!compiled.ok) {
      const given = parseSubject(type, name);
      return this.refuse(given.ok ? given.value : undefined, invalidManifest(compiled.faults));
    }
    const named = subjectOf(type, name, kind === "local" ? undefined : compiled.manifest.subject);
    if (!named.ok) {
      const reason = named.code === "invalid_manifest" ? "name_mismatch" : "invalid_subject";
      return this.refuse(undefined, refusal(reason, named.message));
    }
    const subject = named.value;
    const source: SubjectSource = Object.freeze({
      subject,
      kind,
      module: candidate.module,
      root: candidate.root,
      installFolders: candidate.installFolders,
    });
    const problem = nameFault(source) ?? this.#takenFault(source, compiled.compiled);
    if (problem !== undefined) return this.refuse(subject, problem);
    const held = new RegisteredSubject(source, this);
    const taken = held.become({
      compiled: compiled.compiled,
      config: candidate.config,
      installerHosts: candidate.installerHosts,
    });
    if (!taken.ok) return this.refuse(subject, unavailable(subject));
    this.#book.set(subject, held);
    this.link.tell({ kind: "subject_registered", subject });
    return this.#registered(subject, compiled.warnings, taken.ignored);
  }

  reload(subject: Subject, manifest: unknown): Registered | RegistryRefusal {
    const held = this.#book.get(subject);
    if (held?.state === undefined)
      return refusal("not_registered", `\`${subjectLabel(subject)}\` is not registered: register it first`);
    const { source, state } = held;
    if (source.kind === "local") {
      const message = "another local manifest is another subject: register it in the place of a reload";
      return this.#keepOld(source.subject, refusal("name_taken", message));
    }
    const { runtime, install } = state.compiled;
    const before = [...runtime.access, ...(install?.access ?? [])];
    const compiled = this.#compile(source.kind, manifest, source, before);
    if (!compiled.ok) return this.#keepOld(source.subject, invalidManifest(compiled.faults));
    const declared = compiled.manifest.subject;
    if (declared !== undefined && !sameSubject(declared, source.subject)) {
      const message = `the manifest calls itself \`${subjectLabel(declared)}\`: register that one by its own name`;
      return this.#keepOld(source.subject, refusal("name_mismatch", message));
    }
    return this.change(held, { ...state, compiled: compiled.compiled }, compiled.warnings);
  }

  change(
    held: RegisteredSubject,
    state: SubjectState,
    warnings: readonly ManifestWarning[] = [],
  ): Registered | RegistryRefusal {
    const { subject } = held.source;
    const former = held.current;
    const taken = held.become(state);
    if (!taken.ok) return this.#keepOld(subject, unavailable(subject));
    if (held.current !== former) this.link.tell({ kind: "subject_reloaded", subject });
    return this.#registered(subject, warnings, taken.ignored);
  }

  dismiss(held: RegisteredSubject): boolean {
    const { subject } = held.source;
    if (!held.end()) return false;
    this.#book.delete(subject);
    this.link.tell({ kind: "subject_unregistered", subject });
    return true;
  }

  refuse(subject: Subject | undefined, answer: RegistryRefusal): RegistryRefusal {
    this.link.tell({ kind: "registration_refused", subject, refusal: answer });
    return answer;
  }

  #keepOld(subject: Subject, answer: RegistryRefusal): RegistryRefusal {
    this.link.tell({ kind: "reload_refused", subject, refusal: answer });
    return answer;
  }

  #registered(
    subject: Subject,
    warnings: readonly ManifestWarning[],
    ignored: readonly PointedFault[],
  ): Registered {
    if (ignored.length > 0)
      this.link.tell({ kind: "value_ignored", subject, faults: Object.freeze(ignored) });
    return Object.freeze({ ok: true, subject, warnings, ignored });
  }

  #compile(
    kind: SubjectSource["kind"],
    manifest: unknown,
    { root, installFolders }: Pick<Candidate, "root" | "installFolders">,
    before: readonly AccessRule[],
  ): Compiled {
    return compileManifest(kind === "local" ? "module" : kind, manifest, {
      root,
      variables: this.#variables,
      ownFolders: installFolders,
      before,
      parseUrl: this.parseUrl,
      folderKind: this.#folderKind,
    });
  }

  /** INVARIANT: whoever has a name keeps it; what is asked for under it was approved for that one and nobody else. */
  #takenFault(source: SubjectSource, compiled: CompiledManifest): RegistryRefusal | undefined {
    const holder = this.#book.get(source.subject);
    if (holder === undefined) return undefined;
    const isSame =
      holder.source.kind === source.kind &&
      holder.source.root === source.root &&
      (source.kind !== "mcp_server" || isDeepStrictEqual(holder.state?.compiled, compiled));
    const label = `\`${subjectLabel(source.subject)}\``;
    return isSame
      ? refusal("already_registered", `${label} is registered already: reload it to change it`)
      : refusal("name_taken", `${label} is registered already by somebody else: use another name`);
  }
}

function nameFault({ kind, subject, module }: SubjectSource): RegistryRefusal | undefined {
  if (kind === "module") return moduleNameFault(subject);
  return module === undefined ? undefined : assetNameFault(subject, module);
}

function realVariables(variables: AdmissionOptions["variables"]): {
  readonly [V in ManifestVariable]?: string | undefined;
} {
  const real = Object.create(null) as { [V in ManifestVariable]?: string };
  for (const variable of MANIFEST_VARIABLES) {
    const folder = realFolder(ownField(variables, variable));
    if (folder.ok) real[variable] = folder.value;
  }
  return Object.freeze(real);
}

function invalidManifest(faults: readonly ManifestFault[]): RegistryRefusal {
  const [first] = faults;
  const more = faults.length > 1 ? `, and ${faults.length - 1} more` : "";
  const what =
    first === undefined ? "" : ` at \`${first.pointer}\`: ${first.message}: ${first.instead}${more}`;
  return refusal("invalid_manifest", `the manifest has faults${what}`, faults);
}

function unavailable(subject: Subject): RegistryRefusal {
  return refusal(
    "unavailable",
    `\`${subjectLabel(subject)}\` could not be handed on to the policy: try again`,
  );
}
