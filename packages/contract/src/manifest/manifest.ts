/**
 * What a manifest is once it has been read: frozen, absolute, every rule legal. Plain data; decides nothing.
 */
import type { Access } from "../access.ts";
import type { Phase } from "../decision.ts";
import type { OperationOf, ResourceOperation } from "../resource.ts";
import type { Subject } from "../subject.ts";
import type { UrlParser } from "../target/host.ts";
import type { Match } from "../target/pattern.ts";
import type { PointedFault } from "../wire/json-value.ts";
import type { SensitiveImport } from "./sensitive-import.ts";

/** Module tasks share the manifest of their module. */
export const MANIFEST_KINDS = [
  "module",
  "engine",
  "extractor",
  "agent",
  "tool",
  "pipeline",
  "mcp_server",
  "one_off_url",
] as const;
export type ManifestKind = (typeof MANIFEST_KINDS)[number];

/** Folders that the host defines and a filesystem target may begin with, as in `${data}/reports/`. */
export const MANIFEST_VARIABLES = ["workspace", "data", "tmp", "home"] as const;
export type ManifestVariable = (typeof MANIFEST_VARIABLES)[number];

/** What the host tells the loader. Trusted. */
export interface ManifestEnvironment {
  /** Absolute folder of the subject; an asset's root is that of its module. */
  readonly root: string;
  readonly variables: { readonly [V in ManifestVariable]?: string | undefined };
  readonly parseUrl: UrlParser;
  /** What is at a path now; used for warnings only. */
  readonly folderKind?: ((path: string) => "directory" | "file" | "missing") | undefined;
}

/** A rule whose target is absolute, spelled as patterns are spelled. */
export type ExpandedRule = ResourceOperation & {
  readonly target: string;
  /** `exact`: the target and nothing around it, whatever its spelling. Absent: the spelling says how wide it is. */
  readonly match?: Extract<Match, "exact">;
};

export type ManifestRule = ExpandedRule & {
  /** The target as it was written. */
  readonly declared: string;
  readonly pointer: string;
  readonly examples?: RuleExamples;
};

/** A target that an entry names to say what it means. */
export interface RuleExample {
  readonly access: Access;
  /** As it was written. */
  readonly declared: string;
  readonly pointer: string;
}

export interface RuleExamples {
  /** The entry itself matches each of them. */
  readonly match: readonly RuleExample[];
  /** No entry of the same list matches any of them. */
  readonly noMatch: readonly RuleExample[];
}

/** The value of a configuration key is allowed as a target. */
export interface ConfigUrl {
  readonly key: string;
  readonly operations: readonly OperationOf<"network">[];
}

export interface PhaseContract {
  readonly access: readonly ManifestRule[];
  readonly allowedImports: readonly SensitiveImport[];
  readonly allowedConfigUrls: readonly ConfigUrl[];
}

export interface Manifest {
  readonly kind: ManifestKind;
  /** Absent where the manifest has no name: the host's registry names the subject. */
  readonly subject?: Subject;
  readonly phases: Readonly<Record<Phase, PhaseContract>>;
}

export interface ManifestFault extends PointedFault {
  /** What to write in its place. */
  readonly instead: string;
}

export const WARNING_CODES = [
  "never_matches",
  "wider_than_it_looks",
  "narrower_than_it_looks",
  "redundant",
  "ignored",
] as const;
export type WarningCode = (typeof WARNING_CODES)[number];

export interface ManifestWarning extends PointedFault {
  readonly severity: "warning";
  readonly code: WarningCode;
}

export type ManifestResult =
  | { readonly ok: true; readonly manifest: Manifest; readonly warnings: readonly ManifestWarning[] }
  | {
      readonly ok: false;
      readonly faults: readonly ManifestFault[];
      readonly warnings: readonly ManifestWarning[];
    };
