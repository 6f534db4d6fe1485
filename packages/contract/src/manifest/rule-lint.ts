/**
 * Warnings about rules that are legal and probably not what was meant: never matching, wider or narrower than they
 * look, or redundant. Warns only; nothing here changes a rule.
 */
import { type Host, isLocalAddress } from "../target/host.ts";
import { originText } from "../target/network.ts";
import { isAmbiguousPath } from "../target/pattern.ts";
import { quoted } from "../wire/json-pointer.ts";
import type { ReadRule } from "./access-entry.ts";
import type { ManifestEnvironment, WarningCode } from "./manifest.ts";
import type { ManifestReport } from "./manifest-report.ts";
import { redundantRules } from "./redundant-rule.ts";

type Warn = (code: WarningCode, message: string) => void;

export function lintRules(
  rules: readonly ReadRule[],
  environment: ManifestEnvironment,
  report: ManifestReport,
): void {
  const redundant = redundantRules(rules);
  for (const read of rules) {
    const warn: Warn = (code, message) => report.warn(`${read.rule.pointer}/target`, code, message);
    const wider = redundant.get(read);
    if (wider !== undefined) {
      warn(
        "redundant",
        `${quoted(read.rule.declared)} is covered by ${quoted(wider.rule.declared)} at ${quoted(wider.rule.pointer)}: remove it`,
      );
    }
    lintNetwork(read, warn);
    lintFilesystem(read, environment, warn);
  }
}

function lintNetwork({ rule, read }: ReadRule, warn: Warn): void {
  const { pattern, network } = read;
  if (network === undefined) return;
  if (rule.operation === "connect") {
    warn(
      "wider_than_it_looks",
      "`connect` lets raw bytes pass both ways; for HTTP declare `receive` and `send`",
    );
  }
  if (pattern.kind === "host") {
    warn(
      "wider_than_it_looks",
      `${quoted(rule.declared)} covers every scheme and port of that host, clear text too; write ${quoted(`https://${pattern.host}`)} for HTTPS only`,
    );
  }
  if (network.form !== "url") return;
  const isClear = network.scheme === "http" || network.scheme === "ws";
  if (isClear && !isLocalHost(network.host)) {
    warn(
      "wider_than_it_looks",
      `${quoted(rule.declared)} is clear text: anybody on the way can read and change it; write \`https:\``,
    );
  }
  if (rule.declared.includes("#")) {
    warn("wider_than_it_looks", "the part behind `#` is never sent and not looked at: remove it");
  }
  if (pattern.kind === "origin") return;
  const origin = originText(network);
  if (rule.operation === "connect") {
    warn(
      "never_matches",
      `a raw connection has no path, so this rule never matches; write ${quoted(origin)}`,
    );
  }
  if (network.path.includes("*")) {
    warn(
      "narrower_than_it_looks",
      "`*` is an ordinary character in a path; for all below a folder end the URL in `/`",
    );
  }
  if (pattern.kind === "url_prefix" && isAmbiguousPath(network.path)) {
    warn(
      "never_matches",
      "a folder whose path holds a backslash, or an encoded slash, backslash or dot segment, never matches",
    );
  } else if (pattern.kind === "url_prefix" && network.path === "/") {
    warn(
      "narrower_than_it_looks",
      `${quoted(rule.declared)} covers every URL there but no raw socket; write ${quoted(origin)} for the whole origin`,
    );
  }
  if (pattern.kind === "url_any_query" && !lastSegment(network.path).includes(".")) {
    warn(
      "narrower_than_it_looks",
      `${quoted(rule.declared)} covers that URL only; to cover all below it end it in \`/\``,
    );
  }
}

const WRITES: ReadonlySet<string> = new Set(["create", "modify", "delete", "execute"]);

function lintFilesystem({ rule, read }: ReadRule, environment: ManifestEnvironment, warn: Warn): void {
  const { pattern, isBase } = read;
  if (pattern.kind !== "path" && pattern.kind !== "tree") return;
  const isTree = pattern.kind === "tree";
  if (isTree && pattern.text === "") {
    warn(
      "wider_than_it_looks",
      `${quoted(rule.declared)} is the whole filesystem: name the folders that are needed`,
    );
  } else if (isTree && isBase && WRITES.has(rule.operation)) {
    warn(
      "wider_than_it_looks",
      `${quoted(rule.declared)} with \`${rule.operation}\` covers the whole folder: name the part that is needed`,
    );
  }
  if (rule.declared.startsWith("~")) {
    warn("narrower_than_it_looks", "`~` is an ordinary character here; write `${home}/…`");
  }
  if (/\$[A-Za-z]/.test(rule.declared)) {
    warn(
      "narrower_than_it_looks",
      "`$` without braces is an ordinary character here; variables are written `${data}`",
    );
  }
  if (rule.declared.includes("*")) {
    warn(
      "narrower_than_it_looks",
      "`*` is an ordinary character in a path; for all below a folder end it in `/`",
    );
  }
  const kind = environment.folderKind?.(pattern.text === "" ? "/" : pattern.text);
  if (!isTree && kind === "directory") {
    warn(
      "narrower_than_it_looks",
      `${quoted(rule.declared)} is a folder, and without a trailing slash only the folder itself is meant; write ${quoted(`${rule.declared}/`)}`,
    );
  }
  if (isTree && kind === "file") {
    warn(
      "wider_than_it_looks",
      `${quoted(rule.declared)} is a file, and would cover all below it if it became a folder: remove the trailing slash`,
    );
  }
}

function isLocalHost(host: Host): boolean {
  return host === "localhost" || host.endsWith(".localhost") || isLocalAddress(host);
}

function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
