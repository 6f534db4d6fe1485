/**
 * Which of our keys a manifest of each kind has, and where a key belongs that stands in the wrong place.
 */
import { quoted } from "../wire/json-pointer.ts";
import type { ManifestKind } from "./manifest.ts";
import type { ManifestReport } from "./manifest-report.ts";

export const MANIFEST_KEYS = [
  "name",
  "access",
  "allowed_imports",
  "runtime",
  "install",
  "url",
  "operation",
] as const;
export type ManifestKey = (typeof MANIFEST_KEYS)[number];

const ASSET_KEYS = ["name", "access"] as const;
export const ALLOWED_KEYS = Object.freeze({
  module: ["name", "access", "allowed_imports"],
  engine: ["name", "runtime", "install"],
  extractor: ["name", "runtime", "install"],
  agent: ASSET_KEYS,
  tool: ASSET_KEYS,
  pipeline: ASSET_KEYS,
  mcp_server: ["name", "url"],
  one_off_url: ["url", "operation"],
}) satisfies Readonly<Record<ManifestKind, readonly ManifestKey[]>> as Readonly<
  Record<ManifestKind, readonly ManifestKey[]>
>;

/** The keys that are ours in every manifest; `url` and `operation` are the host's own wherever we do not read them. */
const OUR_KEYS = ["name", "access", "allowed_imports", "runtime", "install"] as const;
type OurKey = (typeof OUR_KEYS)[number];

/** Lists of other tools: next to our keys they look as if they were read. */
const OLD_KEYS: ReadonlySet<string> = new Set([
  "allowed_urls",
  "allowed_paths",
  "allowed_hosts",
  "allowed_targets",
  "allowed_domains",
  "allowed_commands",
]);

const IN_PHASES = "move it into `runtime` or `install`, whichever needs it";
const FROM_URL = "remove it: the rules follow from `url`";
const AT_TOP = "declare access in the top-level `access`; phases belong to engines and extractors";

const MISPLACED: Readonly<Record<ManifestKind, Partial<Record<OurKey, string>>>> = {
  module: { runtime: AT_TOP, install: AT_TOP },
  engine: { access: IN_PHASES, allowed_imports: IN_PHASES },
  extractor: { access: IN_PHASES, allowed_imports: IN_PHASES },
  agent: assetAdvice(),
  tool: assetAdvice(),
  pipeline: assetAdvice(),
  mcp_server: { access: FROM_URL, allowed_imports: FROM_URL, runtime: FROM_URL, install: FROM_URL },
  one_off_url: {},
};

function assetAdvice(): Partial<Record<OurKey, string>> {
  return {
    runtime: AT_TOP,
    install: AT_TOP,
    allowed_imports: "remove it: sensitive imports belong to the manifest of a module, engine or extractor",
  };
}

/** Faults for keys of ours in the wrong place; warnings for old lists, which nobody reads. */
export function checkKeys(kind: ManifestKind, keys: readonly string[], report: ManifestReport): void {
  const misplaced = MISPLACED[kind];
  for (const key of keys) {
    if ((ALLOWED_KEYS[kind] as readonly string[]).includes(key)) continue;
    if (kind === "one_off_url") {
      report.fault([key], `unknown key ${quoted(key)}`, "remove it; a one-off URL has `url` and `operation`");
    } else if (Object.hasOwn(misplaced, key)) {
      report.fault(
        [key],
        `\`${key}\` does not belong to the manifest of this kind (${kind})`,
        misplaced[key as OurKey] ?? "remove it",
      );
    } else if (OLD_KEYS.has(key)) {
      report.warn(`/${key}`, "ignored", `\`${key}\` is not read: declare each target in \`access\``);
    }
  }
}

/** Where a key belongs that is not one of a phase. */
export function belongs(key: string): string {
  if (key === "allowed_config_urls") return "move it into `runtime` of an engine: no other phase has it";
  if (OLD_KEYS.has(key)) return "declare each target in `access`, field by field";
  if (key === "name" || key === "runtime" || key === "install") return "move it to the top level";
  return "remove it; a phase has `access` and `allowed_imports`, an engine's `runtime` also `allowed_config_urls`";
}
