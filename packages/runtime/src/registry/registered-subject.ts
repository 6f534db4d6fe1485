/**
 * One registered subject: where it comes from, what its manifest says, and the versions of it that are in use.
 * INVARIANT: the current version is replaced as a whole or not at all.
 */
import { isDeepStrictEqual } from "node:util";
import type { ManifestKind, PointedFault, Subject, UrlParser } from "@sallyport/contract";
import { type CompiledManifest, configAccess, installAccess } from "./compile-manifest.ts";
import { ContractVersion, type VersionRules } from "./contract-version.ts";
import type { ConfigCopy } from "./host-input.ts";
import type { PolicyLink } from "./policy-link.ts";

/** What stays for as long as the subject is registered. */
export interface SubjectSource {
  readonly subject: Subject;
  /** `local`: a manifest that nobody registered. */
  readonly kind: Exclude<ManifestKind, "one_off_url"> | "local";
  readonly module: Subject | undefined;
  /** Real path, read once: a link that is made later leads nowhere. */
  readonly root: string | undefined;
  /** Real paths, read once. */
  readonly installFolders: readonly string[];
}

/** What may change meanwhile. */
export interface SubjectState {
  readonly compiled: CompiledManifest;
  readonly config: ConfigCopy;
  readonly installerHosts: readonly string[];
}

export interface SubjectParts {
  readonly link: PolicyLink;
  readonly parseUrl: UrlParser;
  readonly newContractId: () => string;
}

export type Taken = { readonly ok: true; readonly ignored: readonly PointedFault[] } | { readonly ok: false };

export class RegisteredSubject {
  readonly source: SubjectSource;
  readonly #parts: SubjectParts;
  /** The current version, and those before it that frames still hold. */
  readonly #versions = new Set<ContractVersion>();
  #state: SubjectState | undefined;
  #current: ContractVersion | undefined;

  constructor(source: SubjectSource, parts: SubjectParts) {
    this.source = source;
    this.#parts = parts;
  }

  get state(): SubjectState | undefined {
    return this.#state;
  }

  get current(): ContractVersion | undefined {
    return this.#current;
  }

  /** Makes this the state. Where it says nothing new the version stays. */
  become(state: SubjectState): Taken {
    const { rules, ignored } = this.#rulesOf(state);
    const configured = configAccess(rules.configUrls, state.config, this.#parts.parseUrl);
    const before = this.#state;
    const isSame = this.#current !== undefined && isDeepStrictEqual(this.#current.rules, rules);
    if (!isSame && !this.#replaceVersion(rules, configured.access)) return { ok: false };
    const isConfigured =
      isDeepStrictEqual(before?.config, state.config) || this.#configure(state, { isCurrentNew: !isSame });
    // INVARIANT: a configuration that was not taken is not held for taken, so that the next try hands it on again.
    this.#state = Object.freeze(isConfigured ? state : { ...state, config: before?.config ?? {} });
    return isConfigured ? { ok: true, ignored: [...ignored, ...configured.ignored] } : { ok: false };
  }

  /** Hands the configuration on to every version in use; to a new one it came with its arrival. */
  #configure({ config }: SubjectState, { isCurrentNew }: { readonly isCurrentNew: boolean }): boolean {
    const { link, parseUrl } = this.#parts;
    const held = [...this.#versions].filter((version) => !isCurrentNew || version !== this.#current);
    return link.applyAll(
      held.flatMap((version) =>
        version.configured(configAccess(version.rules.configUrls, config, parseUrl).access),
      ),
    );
  }

  /** Nobody enters it any more; what is in use stays until it has left. */
  end(): boolean {
    const { subject } = this.source;
    if (!this.#parts.link.applyAll([{ kind: "subject_unregistered", subject }])) return false;
    this.#current?.replace();
    this.#current = undefined;
    return true;
  }

  #rulesOf({ compiled, installerHosts }: SubjectState): {
    readonly rules: VersionRules;
    readonly ignored: readonly PointedFault[];
  } {
    const { runtime, install, configUrls } = compiled;
    if (install === undefined) return { rules: { runtime, install, configUrls }, ignored: [] };
    const additions = { installFolders: this.source.installFolders, installerHosts };
    const { access, ignored } = installAccess(install.access, additions, this.#parts.parseUrl);
    return { rules: { runtime, install: Object.freeze({ ...install, access }), configUrls }, ignored };
  }

  #replaceVersion(rules: VersionRules, configured: VersionRules["runtime"]["access"]): boolean {
    const { link, newContractId } = this.#parts;
    const version = new ContractVersion(rules, newContractId, (gone) => {
      this.#versions.delete(gone);
      link.applyAll(gone.departure());
    });
    const { subject } = this.source;
    const former = this.#registration(this.#current);
    const changes = [...version.arrival(configured), ...this.#registration(version)];
    const undo = former.length > 0 ? former : [{ kind: "subject_unregistered", subject } as const];
    if (!link.applyAll(changes, [...undo, ...version.departure()])) return false;
    const old = this.#current;
    this.#current = version;
    this.#versions.add(version);
    old?.replace();
    return true;
  }

  #registration(version: ContractVersion | undefined) {
    const contracts = version?.contractsOf("runtime");
    if (contracts === undefined) return [];
    const registration = Object.freeze({ subject: this.source.subject, contracts });
    return [{ kind: "subject_registered", registration } as const];
  }
}
