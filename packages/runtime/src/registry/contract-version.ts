/**
 * One whole version of a subject's contracts, as the policy holds them. It is counted who entered it: a version that
 * was replaced goes once its last frame has left, never before. The configured values stand in a contract of their
 * own, which follows the configuration also in frames that were entered before.
 */
import type { ConfigUrl, Phase, SensitiveImport } from "@sallyport/contract";
import type { AccessRule } from "@sallyport/policy";
import type { RegistryChange } from "./registry-answer.ts";

export interface VersionRules {
  readonly runtime: PhaseRules;
  readonly install: PhaseRules | undefined;
  readonly configUrls: readonly ConfigUrl[];
}

export interface PhaseRules {
  readonly access: readonly AccessRule[];
  readonly allowedImports: readonly SensitiveImport[];
}

export class ContractVersion {
  readonly rules: VersionRules;
  readonly #ids: Readonly<Record<"runtime" | "install" | "config", string | undefined>>;
  readonly #onGone: (version: ContractVersion) => void;
  #frames = 0;
  #isReplaced = false;

  constructor(rules: VersionRules, newId: () => string, onGone: (version: ContractVersion) => void) {
    this.rules = rules;
    this.#onGone = onGone;
    this.#ids = Object.freeze({
      runtime: newId(),
      install: rules.install === undefined ? undefined : newId(),
      config: rules.configUrls.length === 0 ? undefined : newId(),
    });
  }

  /** What a frame of that phase refers to, its own contract first; `undefined` where there is no such phase. */
  contractsOf(phase: Phase): readonly string[] | undefined {
    const { runtime, install, config } = this.#ids;
    // INVARIANT: what is no phase has no contract.
    const own = phase === "runtime" ? runtime : phase === "install" ? install : undefined;
    if (own === undefined) return undefined;
    return Object.freeze(phase === "runtime" && config !== undefined ? [own, config] : [own]);
  }

  importsOf(phase: Phase): readonly SensitiveImport[] {
    return (phase === "runtime" ? this.rules.runtime : this.rules.install)?.allowedImports ?? [];
  }

  /** The changes that put it into the policy, where nothing refers to it yet. */
  arrival(configured: readonly AccessRule[]): readonly RegistryChange[] {
    const { runtime, install } = this.#ids;
    const changes = [setContract(runtime as string, this.rules.runtime.access)];
    if (install !== undefined) changes.push(setContract(install, this.rules.install?.access ?? []));
    return [...changes, ...this.configured(configured)];
  }

  /** The changes that make its configured values these. */
  configured(access: readonly AccessRule[]): readonly RegistryChange[] {
    return this.#ids.config === undefined ? [] : [setContract(this.#ids.config, access)];
  }

  /** The changes that take it out again. */
  departure(): readonly RegistryChange[] {
    return Object.values(this.#ids).flatMap((id) =>
      id === undefined ? [] : [{ kind: "contract_removed", id } as const],
    );
  }

  /** One frame more. What is returned lets it go; more calls do nothing. */
  enter(): () => void {
    this.#frames++;
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      this.#frames--;
      this.#goIfUnused();
    };
  }

  /** Nobody enters it any more. */
  replace(): void {
    this.#isReplaced = true;
    this.#goIfUnused();
  }

  #goIfUnused(): void {
    if (this.#isReplaced && this.#frames === 0) this.#onGone(this);
  }
}

function setContract(id: string, access: readonly AccessRule[]): RegistryChange {
  return { kind: "contract_set", contract: Object.freeze({ id, access }) };
}
