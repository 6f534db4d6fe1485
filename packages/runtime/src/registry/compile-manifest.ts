/**
 * From a manifest, and what the host adds to it, to the rules of each phase: the rows of the declaration table.
 * Trusts the host's folders; trusts nothing of the manifest. Never mixes phases, and never adds what another subject
 * declared.
 */
import { randomInt } from "node:crypto";
import {
  type ConfigUrl,
  type Manifest,
  type ManifestFault,
  type ManifestKind,
  type ManifestResult,
  type OperationOf,
  OPERATIONS,
  type PhaseContract,
  type PointedFault,
  type SensitiveImport,
  type UrlParser,
  configUrlRules,
  installerRules,
  loadManifest,
  readManifest,
} from "@sallyport/contract";
import { type AccessRule, exampleFaults } from "@sallyport/policy";
import type { ConfigCopy } from "./host-input.ts";
import { type RealFolders, plainRule, realRules } from "./real-rules.ts";

export interface CompiledPhase {
  readonly access: readonly AccessRule[];
  readonly allowedImports: readonly SensitiveImport[];
}

export interface CompiledManifest {
  readonly runtime: CompiledPhase;
  /** Engines and extractors only. */
  readonly install: CompiledPhase | undefined;
  readonly configUrls: readonly ConfigUrl[];
}

export interface CompileEnvironment extends RealFolders {
  readonly parseUrl: UrlParser;
  readonly folderKind?: ((path: string) => "directory" | "file" | "missing") | undefined;
}

export type Compiled =
  | {
      readonly ok: true;
      readonly manifest: Manifest;
      readonly compiled: CompiledManifest;
      readonly warnings: Extract<ManifestResult, { ok: true }>["warnings"];
    }
  | { readonly ok: false; readonly faults: readonly ManifestFault[] };

/** What a manifest may leave out, and a polluted prototype would put in. */
const OPTIONAL_KEYS = [
  "name",
  "access",
  "allowed_imports",
  "allowed_config_urls",
  "runtime",
  "install",
  "url",
  "operation",
  "examples",
] as const;
const SEED_END = 2 ** 32;

/** INVARIANT: nothing is loaded while every object inherits a declaration that nobody wrote. */
function pollutionFault(): ManifestFault | undefined {
  const key = OPTIONAL_KEYS.find((one) => one in Object.prototype);
  if (key === undefined) return undefined;
  return Object.freeze({
    pointer: `/${key}`,
    message: `\`Object.prototype\` holds \`${key}\`, which every manifest would inherit`,
    instead: "find the code that put it there, and start the host again",
  });
}

/** Text is read as JSON, anything else as JSON that was parsed already. */
export function compileManifest(
  kind: ManifestKind,
  manifest: unknown,
  environment: CompileEnvironment,
): Compiled {
  const polluted = pollutionFault();
  if (polluted !== undefined) return { ok: false, faults: [polluted] };
  const { root, variables, parseUrl, folderKind } = environment;
  const where = { root: root ?? "/", variables, parseUrl, folderKind };
  const result =
    typeof manifest === "string" ? loadManifest(kind, manifest, where) : readManifest(kind, manifest, where);
  if (!result.ok) return { ok: false, faults: result.faults };
  const { runtime, install } = result.manifest.phases;
  const all = [...runtime.access, ...install.access];
  const seed = [randomInt(SEED_END), randomInt(SEED_END)] as const;
  const faults: ManifestFault[] = [runtime, install].flatMap(({ access }) =>
    exampleFaults(access, { seed, parseUrl }),
  );
  const compile = ({ access, allowedImports }: PhaseContract): CompiledPhase => {
    const real = realRules(access, all, environment);
    faults.push(...real.faults);
    return Object.freeze({ access: real.rules, allowedImports });
  };
  const compiled = Object.freeze({
    runtime: compile(runtime),
    install: hasInstallPhase(kind) ? compile(install) : undefined,
    configUrls: runtime.allowedConfigUrls,
  });
  if (faults.length > 0) return { ok: false, faults };
  return { ok: true, manifest: result.manifest, compiled, warnings: result.warnings };
}

export function hasInstallPhase(kind: ManifestKind): kind is "engine" | "extractor" {
  return kind === "engine" || kind === "extractor";
}

export interface InstallAdditions {
  /** Real paths. */
  readonly installFolders: readonly string[];
  /** Engines only; an extractor brings its own. */
  readonly installerHosts: readonly string[];
}

export interface AddedRules {
  readonly access: readonly AccessRule[];
  readonly ignored: readonly PointedFault[];
}

/** The install phase: what is declared, the install folders whole, and the installers' hosts to receive from. */
export function installAccess(
  declared: readonly AccessRule[],
  { installFolders, installerHosts }: InstallAdditions,
  parseUrl: UrlParser,
): AddedRules {
  const folders = installFolders.flatMap((folder) =>
    OPERATIONS.filesystem.map((operation): AccessRule => {
      return Object.freeze({
        resourceType: "filesystem",
        operation: operation satisfies OperationOf<"filesystem">,
        target: `${folder}/`,
        match: undefined,
      });
    }),
  );
  const installers = installerRules(installerHosts, parseUrl);
  const hosts = installers.rules.map((rule) => plainRule(rule, rule.target));
  return { access: Object.freeze([...declared, ...folders, ...hosts]), ignored: installers.faults };
}

/** The configured values of the keys that a manifest lists, as they are now. A bad value gives no rule. */
export function configAccess(
  configUrls: readonly ConfigUrl[],
  config: ConfigCopy,
  parseUrl: UrlParser,
): AddedRules {
  const { rules, faults } = configUrlRules(configUrls, config, parseUrl);
  return { access: Object.freeze(rules.map((rule) => plainRule(rule, rule.target))), ignored: faults };
}
