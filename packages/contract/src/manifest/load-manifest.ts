/**
 * The manifest loader: text or a parsed value in, a frozen manifest or every fault out. Never throws on input.
 * Trusts the environment of the host. INVARIANT: what it accepts, the published schema accepts too.
 */
import type { Phase } from "../decision.ts";
import { type Subject, type SubjectType, parseSubject } from "../subject.ts";
import { longerThan } from "../target/network.ts";
import { issueFaults, issueMessage } from "../wire/define-wire.ts";
import { quoted } from "../wire/json-pointer.ts";
import { type JsonValue, snapshotJson } from "../wire/json-value.ts";
import { type DerivedRules, mcpRules, oneOffRules } from "./derived-rules.ts";
import { type JsonScan, scanJson, JSON_KEY_LENGTH_MAX } from "./json-text.ts";
import { ALLOWED_KEYS, type ManifestKey, belongs, checkKeys } from "./manifest-keys.ts";
import type {
  Manifest,
  ManifestEnvironment,
  ManifestKind,
  ManifestResult,
  PhaseContract,
} from "./manifest.ts";
import { type ManifestReport, manifestReport } from "./manifest-report.ts";
import { MANIFEST_SCHEMAS } from "./manifest-schema.ts";
import { EMPTY_PHASE, readPhase } from "./phase-reader.ts";

export const MANIFEST_BYTES_MAX = 1_048_576;

/** Reads the text of a manifest. */
export function loadManifest(
  kind: ManifestKind,
  text: string,
  environment: ManifestEnvironment,
): ManifestResult {
  const report = manifestReport();
  if (longerThan(text, MANIFEST_BYTES_MAX)) {
    report.fault(
      [],
      `the manifest is longer than ${MANIFEST_BYTES_MAX} bytes`,
      "keep data out of the manifest",
    );
    return resultOf(undefined, report);
  }
  const scan = scanJson(text);
  if (!scan.ok) {
    report.fault([], ...scanFault(scan, text));
    return resultOf(undefined, report);
  }
  for (const path of scan.duplicates) {
    report.fault(path, `the key ${quoted(String(path.at(-1)))} is there twice`, "keep one of the two");
  }
  return readInto(kind, JSON.parse(text) as unknown, environment, report);
}

/** Reads a manifest that was parsed already; what a JSON parser drops (repeated keys) cannot be seen here. */
export function readManifest(
  kind: ManifestKind,
  value: unknown,
  environment: ManifestEnvironment,
): ManifestResult {
  return readInto(kind, value, environment, manifestReport());
}

function readInto(
  kind: ManifestKind,
  value: unknown,
  environment: ManifestEnvironment,
  report: ManifestReport,
): ManifestResult {
  const fields = ownFields(kind, value, report);
  if (fields === undefined) return resultOf(undefined, report);
  const subject = readSubject(kind, fields, report);
  const phases = readPhases(kind, fields, environment, report);
  if (!report.hasFaults()) {
    const published = MANIFEST_SCHEMAS[kind].safeParse(fields, { error: issueMessage });
    const issues = published.success ? [] : issueFaults(published.error.issues);
    for (const { pointer, message } of issues)
      report.fault([], `${pointer} ${message}`, "write what the published schema asks for");
  }
  return resultOf(Object.freeze({ kind, ...(subject === undefined ? {} : { subject }), phases }), report);
}

type Fields = { readonly [K in ManifestKey]?: JsonValue };

/** The keys of ours, each read once into plain JSON; the rest of the document is not looked into. */
function ownFields(kind: ManifestKind, value: unknown, report: ManifestReport): Fields | undefined {
  // INVARIANT: without a prototype, so that a key which is not there is never found on a polluted one.
  const fields = Object.create(null) as { [K in ManifestKey]?: JsonValue };
  try {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      report.fault([], "a manifest must be a JSON object", 'write `{"access": [...]}`');
      return undefined;
    }
    checkKeys(kind, Object.keys(value), report);
    for (const key of ALLOWED_KEYS[kind]) {
      const held = Object.hasOwn(value, key) ? (value as Readonly<Record<string, unknown>>)[key] : undefined;
      if (held === undefined) continue;
      const snapshot = snapshotJson(held, { path: [key], loneSurrogates: "keep" });
      if (snapshot.ok) fields[key] = snapshot.value;
      else
        for (const { pointer, message } of snapshot.faults)
          report.fault(pathOf(pointer), message, "write plain JSON");
    }
  } catch {
    // WHY: only a getter or a proxy of the caller can throw here.
    report.fault([], "the manifest cannot be read", "pass plain JSON");
    return undefined;
  }
  return fields;
}

const SUBJECT_TYPE_OF: Readonly<Record<ManifestKind, SubjectType | undefined>> = {
  module: "module",
  engine: "engine",
  extractor: "extractor",
  agent: "agent",
  tool: "tool",
  pipeline: "pipeline",
  mcp_server: "tool",
  one_off_url: undefined,
};

function readSubject(kind: ManifestKind, fields: Fields, report: ManifestReport): Subject | undefined {
  const type = SUBJECT_TYPE_OF[kind];
  const { name } = fields;
  if (type === undefined) return undefined;
  if (name === undefined) {
    if (kind === "mcp_server") report.fault(["name"], "is missing", "write the name of the server");
    return undefined;
  }
  // WHY: parsed as written first, so that `mcp.` in front cannot make a bad name good.
  const written = parseSubject(type, name);
  const isServer = written.ok && kind === "mcp_server";
  const parsed = isServer ? parseSubject(type, `mcp.${written.value.name}`) : written;
  if (parsed.ok) return parsed.value;
  report.fault(["name"], parsed.message, "write a name such as `reports` or `demo.read_file`");
  return undefined;
}

function readPhases(
  kind: ManifestKind,
  fields: Fields,
  environment: ManifestEnvironment,
  report: ManifestReport,
): Readonly<Record<Phase, PhaseContract>> {
  switch (kind) {
    case "module":
    case "agent":
    case "tool":
    case "pipeline":
      return phasesOf(readPhase(fields, [], environment, report), EMPTY_PHASE);
    case "engine":
    case "extractor": {
      const read = (phase: Phase) => readNamedPhase(kind, phase, fields[phase], environment, report);
      return phasesOf(read("runtime"), read("install"));
    }
    case "mcp_server":
      return phasesOf(urlPhase(fields, mcpRules(fields.url, environment.parseUrl), report), EMPTY_PHASE);
    case "one_off_url": {
      const { url, operation } = fields;
      const derived = oneOffRules(url, environment.parseUrl, (operation ?? "receive") as "receive");
      return phasesOf(urlPhase(fields, derived, report), EMPTY_PHASE);
    }
  }
}

function readNamedPhase(
  kind: "engine" | "extractor",
  phase: Phase,
  value: JsonValue | undefined,
  environment: ManifestEnvironment,
  report: ManifestReport,
): PhaseContract {
  if (value === undefined) return EMPTY_PHASE;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    report.fault([phase], "must be an object", `write \`"${phase}": {"access": [...]}\``);
    return EMPTY_PHASE;
  }
  const fields = Object.create(null) as {
    access?: JsonValue;
    allowed_imports?: JsonValue;
    allowed_config_urls?: JsonValue;
  };
  for (const [key, held] of Object.entries(value as Readonly<Record<string, JsonValue>>)) {
    if (key === "access" || key === "allowed_imports") fields[key] = held;
    else if (key === "allowed_config_urls" && kind === "engine" && phase === "runtime") fields[key] = held;
    else report.fault([phase, key], `unknown key ${quoted(key)} in \`${phase}\``, belongs(key));
  }
  return readPhase(fields, [phase], environment, report);
}

function urlPhase({ url }: Fields, derived: DerivedRules, report: ManifestReport): PhaseContract {
  for (const { pointer, message } of derived.faults) {
    const isMissing = pointer === "/url" && url === undefined;
    const instead =
      pointer === "/url" ? "write a URL such as `https://mcp.example.com/sse`" : "leave it out for `receive`";
    report.fault(pathOf(pointer), isMissing ? "is missing" : message, instead);
  }
  const declared = typeof url === "string" ? url : "";
  const access = derived.rules.map((rule) => Object.freeze({ ...rule, declared, pointer: "/url" }));
  return Object.freeze({ ...EMPTY_PHASE, access: Object.freeze(access) });
}

function phasesOf(runtime: PhaseContract, install: PhaseContract): Readonly<Record<Phase, PhaseContract>> {
  return Object.freeze({ runtime, install });
}

function scanFault(scan: Extract<JsonScan, { ok: false }>, text: string): readonly [string, string] {
  const where = `at line ${scan.line}, column ${scan.column}`;
  switch (scan.reason) {
    case "depth":
      return [`the manifest is nested too deep ${where}`, "keep it below 64 levels"];
    case "key_length":
      return [`a key is too long ${where}`, `keep keys below ${JSON_KEY_LENGTH_MAX + 1} characters`];
    case "syntax":
      if (text.startsWith("\ufeff"))
        return ["the manifest begins with a byte order mark", "save it as UTF-8 without one"];
      return [
        `the manifest is no JSON ${where}`,
        "correct the syntax: no comments, no trailing commas, double quotes",
      ];
  }
}

function pathOf(pointer: string): readonly string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function resultOf(manifest: Manifest | undefined, report: ManifestReport): ManifestResult {
  const warnings = report.warnings();
  if (manifest === undefined || report.hasFaults())
    return Object.freeze({ ok: false, faults: report.faults(), warnings });
  return Object.freeze({ ok: true, manifest, warnings });
}
