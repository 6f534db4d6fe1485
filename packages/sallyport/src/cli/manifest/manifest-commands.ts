/** `sallyport manifest`: write, lint, test and explain manifests. Needs no service and no data folder. */
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import {
  MANIFEST_KINDS,
  type Manifest,
  type ManifestKind,
  type ManifestRule,
  type Phase,
  operationLabel,
  parseSubject,
  whatwgUrl,
} from "@sallyport/contract";
import { type ExampleResult, exampleFaults, tryExamples } from "@sallyport/policy";
import { Option, type Command } from "commander";
import { CliFault } from "../cli-fault.ts";
import { type CommandLine, type CommonOptions, addGroup, addLeaf } from "../command-line.ts";
import type { ExitName } from "../exit-code.ts";
import { explainAccess, reachOf } from "./explain-manifest.ts";
import {
  type ManifestOptions,
  counted,
  faultLine,
  manifestOptions,
  newSeed,
  readManifestFile,
  rulesByPhase,
  soundManifest,
} from "./manifest-file.ts";

export function addManifestCommands(program: Command, cli: CommandLine): void {
  const group = addGroup(program, "manifest", "write, lint, test and explain manifests");
  addLeaf<InitOptions>(group, cli, {
    name: "init",
    description: "write a manifest to begin with",
    dataless: true,
    shape: (command) =>
      command
        .argument("[file]", "the file to write", "manifest.json")
        .option("--name <name>", "the name of the subject")
        .addOption(
          new Option("--kind <kind>", "what it is the manifest of").choices(INIT_KINDS).default("module"),
        ),
    run: async (line, options, [file = "manifest.json"]) => initManifest(line, options, file),
  });
  addLeaf<ManifestOptions & { readonly strict?: boolean }>(group, cli, {
    name: "lint",
    description: "say what is wrong with a manifest, and what is probably not meant",
    dataless: true,
    shape: (command) => manifestOptions(command).option("--strict", "warnings count as faults"),
    run: async (line, options, [file = "manifest.json"]) => lintManifest(line, options, file),
  });
  addLeaf<ManifestOptions>(group, cli, {
    name: "test",
    description: "try the examples inside a manifest with the engine that will decide",
    dataless: true,
    shape: manifestOptions,
    run: async (line, options, [file = "manifest.json"]) => testManifest(line, options, file),
  });
  addLeaf<ManifestOptions>(group, cli, {
    name: "explain",
    description: "say in plain words what a manifest allows, or what it says about one access",
    dataless: true,
    shape: (command) =>
      manifestOptions(command).argument("[access...]", "`network receive https://…`: about this access only"),
    run: async (line, options, [file = "manifest.json", ...access]) =>
      explainManifest(line, options, file, access),
  });
}

interface InitOptions extends CommonOptions {
  readonly kind: ManifestKind;
  readonly name?: string | undefined;
}

const INIT_KINDS = MANIFEST_KINDS.filter((kind) => kind !== "mcp_server" && kind !== "one_off_url");

const STARTER_ACCESS = [
  {
    resource_type: "network",
    operation: "receive",
    target: "https://api.example.com/v1/",
    examples: {
      match: ["https://api.example.com/v1/reports?page=2"],
      no_match: ["https://api.example.com/admin", "http://api.example.com/v1/reports"],
    },
  },
  {
    resource_type: "filesystem",
    operation: "read",
    target: "./inbox/",
    examples: { match: ["./inbox/note.txt"], no_match: ["./inbox-private/note.txt"] },
  },
];

async function initManifest(
  cli: CommandLine,
  { kind, name, json }: InitOptions,
  file: string,
): Promise<void> {
  const type = kind === "mcp_server" || kind === "one_off_url" ? "tool" : kind;
  const parsed = name === undefined ? undefined : parseSubject(type, name);
  if (parsed?.ok === false)
    throw new CliFault({ exit: "invalid", code: parsed.code, message: parsed.message });
  const hasPhases = kind === "engine" || kind === "extractor";
  const manifest = {
    ...(name === undefined ? {} : { name }),
    ...(hasPhases
      ? { runtime: { access: STARTER_ACCESS }, install: { access: [] } }
      : { access: STARTER_ACCESS }),
  };
  const path = resolve(cli.cwd, file);
  try {
    writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`, { flag: "wx" });
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === "EEXIST";
    throw new CliFault({
      exit: "failed",
      message: isThere ? `\`${path}\` is there already` : `\`${path}\` cannot be written`,
      next: isThere ? "give another name, or edit it" : "choose a folder that you may write to",
    });
  }
  if (json === true) cli.terminal.json({ file: path, manifest });
  else {
    cli.terminal.line(`wrote ${cli.terminal.shown(path, "bold")}`);
    cli.terminal.note(
      `next: change it to what is needed, then \`sallyport manifest test ${cli.terminal.shown(file)}\``,
    );
  }
}

async function lintManifest(
  cli: CommandLine,
  options: ManifestOptions & { readonly strict?: boolean },
  file: string,
): Promise<ExitName> {
  const { result } = readManifestFile(cli, options, file);
  const { warnings } = result;
  const faults = result.ok ? brokenExamples(result.manifest) : result.faults;
  const isSound = faults.length === 0 && (options.strict !== true || warnings.length === 0);
  if (options.json === true) cli.terminal.json({ ok: isSound, faults, warnings });
  else {
    const { terminal } = cli;
    for (const fault of faults) terminal.line(faultLine(cli, fault));
    for (const { pointer, code, message } of warnings)
      terminal.line(
        `${terminal.paint("yellow", "warning")}  ${terminal.shown(pointer)}  ${terminal.shown(message)} ${terminal.paint("dim", `[${code}]`)}`,
      );
    const verdict = `${counted(faults.length, "fault")}, ${counted(warnings.length, "warning")}`;
    terminal.line(isSound ? terminal.paint("green", verdict) : terminal.paint("red", verdict));
  }
  return isSound ? "done" : "invalid";
}

function brokenExamples(manifest: Manifest) {
  return rulesByPhase(manifest).flatMap(([, access]) =>
    exampleFaults(access, { seed: newSeed(), parseUrl: whatwgUrl }),
  );
}

async function testManifest(cli: CommandLine, options: ManifestOptions, file: string): Promise<ExitName> {
  const manifest = soundManifest(cli, options, file);
  const results = rulesByPhase(manifest).flatMap(([, access]) =>
    tryExamples(access, { seed: newSeed(), parseUrl: whatwgUrl }),
  );
  const failed = results.filter(({ holds }) => !holds);
  if (options.json === true) {
    cli.terminal.json({ ok: failed.length === 0, examples: results.map(exampleJson) });
  } else {
    const { terminal } = cli;
    for (const { example, list, holds } of results) {
      const mark = holds ? terminal.paint("green", "✔") : terminal.paint("red", "✘");
      const label = operationLabel(example.access);
      const word = list === "match" ? "matches" : "does not match";
      terminal.line(`${mark} ${label} ${terminal.shown(example.declared)} ${terminal.paint("dim", word)}`);
      if (!holds) terminal.line(`    ${terminal.shown(example.pointer)}: the engine says otherwise`);
    }
    const verdict = `${counted(results.length - failed.length, "example")} hold, ${failed.length} do not`;
    terminal.line(terminal.paint(failed.length === 0 ? "green" : "red", verdict));
    if (results.length === 0)
      terminal.note('there are no examples: add `"examples": {"match": […], "no_match": […]}` to an entry');
  }
  return failed.length === 0 ? "done" : "invalid";
}

function exampleJson({ example, list, holds }: ExampleResult) {
  return { pointer: example.pointer, target: example.declared, list, holds };
}

async function explainManifest(
  cli: CommandLine,
  options: ManifestOptions,
  file: string,
  access: readonly string[],
): Promise<ExitName> {
  const manifest = soundManifest(cli, options, file);
  if (access.length > 0) return explainAccess(cli, options, manifest, access);
  const phases = rulesByPhase(manifest).filter(([, rules]) => rules.length > 0);
  if (options.json === true) {
    cli.terminal.json({
      subject: manifest.subject ?? null,
      phases: Object.fromEntries(phases.map(([phase, rules]) => [phase, rules.map(ruleJson)])),
    });
    return "done";
  }
  const { terminal } = cli;
  const { subject } = manifest;
  const who = subject === undefined ? "The subject" : `${subject.type} ${subject.name}`;
  if (phases.length === 0) terminal.line(`${terminal.shown(who, "bold")} declares nothing: everything asks`);
  for (const [phase, rules] of phases) {
    terminal.line(`${terminal.shown(who, "bold")} may, ${PHASE_WORDS[phase]}:`);
    for (const rule of rules)
      terminal.line(
        `  ${terminal.paint("cyan", operationLabel(rule))}  ${terminal.shown(rule.target)}\n    ${terminal.paint("dim", terminal.shown(reachOf(rule)))}`,
      );
  }
  terminal.line(
    terminal.paint("dim", "Nothing else: what is not listed becomes a request that a person decides."),
  );
  return "done";
}

const PHASE_WORDS: Readonly<Record<Phase, string>> = {
  runtime: "when it runs",
  install: "when it is installed",
};

function ruleJson(rule: ManifestRule) {
  const { resourceType, operation, target, declared, pointer } = rule;
  return { resource_type: resourceType, operation, target, declared, pointer, reach: reachOf(rule) };
}
