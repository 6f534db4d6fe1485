/** A manifest on disk, read as the registry would read it. Trusts the file for nothing. */
import { randomInt } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, resolve } from "node:path";
import {
  MANIFEST_KINDS,
  type Manifest,
  type ManifestFault,
  type ManifestKind,
  type ManifestResult,
  type ManifestRule,
  type Phase,
  PHASES,
  loadManifest,
  whatwgUrl,
} from "@sallyport/contract";
import { Option, type Command } from "commander";
import { CliFault } from "../cli-fault.ts";
import type { CommandLine, CommonOptions } from "../command-line.ts";
import { printable } from "../printable.ts";

export interface ManifestOptions extends CommonOptions {
  readonly kind: ManifestKind;
  readonly root?: string | undefined;
}

export interface ManifestFile {
  readonly path: string;
  readonly result: ManifestResult;
}

export function manifestOptions(command: Command): Command {
  return command
    .argument("[file]", "the manifest", "manifest.json")
    .addOption(
      new Option("--kind <kind>", "what it is the manifest of")
        .choices([...MANIFEST_KINDS])
        .default("module"),
    )
    .option("--root <folder>", "the subject's folder (that of the file unless said)");
}

export function readManifestFile(cli: CommandLine, options: ManifestOptions, file: string): ManifestFile {
  const path = resolve(cli.cwd, file);
  const root = resolve(cli.cwd, options.root ?? dirname(path));
  const result = loadManifest(options.kind, textOf(path), {
    root,
    variables: { workspace: cli.cwd, tmp: tmpdir(), home: homedir() },
    parseUrl: whatwgUrl,
    folderKind,
  });
  return { path, result };
}

/** The manifest, or the end of the command with every fault printed. */
export function soundManifest(cli: CommandLine, options: ManifestOptions, file: string): Manifest {
  const { path, result } = readManifestFile(cli, options, file);
  if (result.ok) return result.manifest;
  for (const fault of result.faults) cli.terminal.note(faultLine(cli, fault));
  throw new CliFault({
    exit: "invalid",
    code: "invalid_manifest",
    message: `\`${path}\` has ${counted(result.faults.length, "fault")}`,
    next: `correct them and try \`sallyport manifest lint ${file}\``,
  });
}

export function faultLine({ terminal }: CommandLine, fault: ManifestFault): string {
  const pointer = fault.pointer === "" ? "/" : fault.pointer;
  return `${terminal.paint("red", "fault")}    ${printable(pointer)}  ${printable(fault.message)}\n         ${printable(fault.instead)}`;
}

export function rulesByPhase(manifest: Manifest): readonly (readonly [Phase, readonly ManifestRule[]])[] {
  return PHASES.map((phase) => [phase, manifest.phases[phase].access] as const);
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    throw new CliFault({
      exit: "not_found",
      message: `\`${path}\` cannot be read`,
      next: "`sallyport manifest init` writes one to begin with",
    });
  }
}

function folderKind(path: string): "directory" | "file" | "missing" {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return "missing";
  return found.isDirectory() ? "directory" : "file";
}

const SEED_END = 2 ** 32;
/** For an engine that is asked and thrown away. */
export const newSeed = () => [randomInt(SEED_END), randomInt(SEED_END)] as const;
