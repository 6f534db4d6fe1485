/** What an entry of a manifest reaches, in plain words; and what a manifest says about one access. */
import {
  type Manifest,
  type ManifestRule,
  type Pattern,
  operationLabel,
  parseAccess,
  parsePattern,
  parseSubject,
  whatwgUrl,
} from "@sallyport/contract";
import { ActiveContext, PLAIN_CONTEXT, Snapshot, explain } from "@sallyport/policy";
import { CliFault } from "../cli-fault.ts";
import type { CommandLine, CommonOptions } from "../command-line.ts";
import { type ExitName, exitOf } from "../exit-code.ts";
import { newSeed, rulesByPhase } from "./manifest-file.ts";

export function reachOf(rule: ManifestRule): string {
  const parsed = parsePattern(rule.resourceType, rule.target, whatwgUrl);
  const reach = parsed.ok ? patternWords(parsed.value) : "nothing";
  return rule.resourceType === "network" && rule.operation === "connect"
    ? `${reach}; raw bytes both ways`
    : reach;
}

function patternWords(pattern: Pattern): string {
  switch (pattern.kind) {
    case "url":
      return "that URL with that query";
    case "url_any_query":
      return "that URL with any query, nothing below it";
    case "url_prefix":
      return "every path below it on that origin";
    case "origin":
      return `every ${pattern.secure ? "HTTPS" : "clear-text HTTP"} request to that host on port ${pattern.port}, never another port`;
    case "host_port":
      return "URLs and raw sockets on that host and port";
    case "host":
      return "any scheme and port on exactly that host, no subdomains";
    case "socket":
      return "a raw socket to that endpoint, never a URL";
    case "unix":
      return "that unix socket";
    case "path":
      return "exactly that path, nothing below it";
    case "tree":
      return "that folder and everything below it";
    case "name":
      return "the program of that name in a system folder";
  }
}

/** Asks the engine about one access, in every phase that declares something. */
export function explainAccess(
  cli: CommandLine,
  { json }: CommonOptions,
  manifest: Manifest,
  words: readonly string[],
): ExitName {
  const [resourceType, operation, target] = words;
  const access = parseAccess({ resourceType, operation, target }, whatwgUrl);
  if (!access.ok)
    throw new CliFault({
      exit: exitOf(access.code),
      code: access.code,
      message: access.message,
      next: "write for example `network receive https://api.example.com/v1/x`",
    });
  const answers = rulesByPhase(manifest)
    .filter(([phase, rules]) => phase === "runtime" || rules.length > 0)
    .map(([phase, rules]) => {
      const { verdict, because } = explain(contextOf(rules), {
        access: access.value,
        ask: "passive",
        nowMs: 0,
      });
      return { phase, code: verdict.code, allowed: verdict.allowed, because };
    });
  if (json === true) cli.terminal.json({ answers });
  else {
    const { terminal } = cli;
    terminal.line(`${operationLabel(access.value)} ${terminal.shown(access.value.target.text, "bold")}`);
    for (const { phase, code, allowed, because } of answers) {
      const mark = allowed ? terminal.paint("green", "✔") : terminal.paint("red", "✘");
      terminal.line(`${mark} ${phase}: ${code}\n    ${terminal.shown(because)}`);
    }
  }
  return answers.some(({ allowed }) => allowed) ? "done" : "approval_required";
}

function contextOf(access: readonly ManifestRule[]): ActiveContext {
  const snapshot = new Snapshot({ seed: newSeed(), parseUrl: whatwgUrl });
  snapshot.apply({ kind: "contract_set", contract: { id: "manifest", access } });
  const subject = parseSubject("tool", "manifest");
  if (!subject.ok) throw new Error(subject.message);
  return new ActiveContext(snapshot, {
    frames: [{ subject: subject.value, phase: "runtime", entry: "host", contracts: ["manifest"] }],
    ...PLAIN_CONTEXT,
  });
}
