/**
 * What the host hands in to register a subject, read once into what the registry works with.
 * Trusts the host; takes own properties only, and no folder that is not absolute and real.
 */
import {
  type Parsed,
  type Subject,
  type SubjectType,
  canonicalFilesystemPath,
  fault,
  ok,
  parseSubject,
  quoted,
} from "@sallyport/contract";
import { realPath } from "@sallyport/gate";
import { copyTexts, ownField } from "./host-input.ts";

export interface ModuleRegistration {
  /** Left out: the manifest names it. */
  readonly name?: string | undefined;
  /** Absolute folder of the module. */
  readonly root: string;
  /** The text of `manifest.json`, or what it was parsed to. */
  readonly manifest: unknown;
}

export interface ExtractorRegistration extends ModuleRegistration {
  /** Absolute folders that its install phase may fill and use. */
  readonly installFolders?: readonly string[] | undefined;
}

export interface EngineRegistration extends ExtractorRegistration {
  /** The engine's configuration as it is now; changes are told by `updateConfig`. */
  readonly config?: unknown;
}

export interface AssetRegistration {
  /** Left out: the definition names it. Always `<module>.<asset>`. */
  readonly name?: string | undefined;
  /** The name of a registered module. */
  readonly module: string;
  readonly definition: unknown;
}

export interface McpRegistration {
  readonly server: string;
  /** The configured URL. */
  readonly url: string;
}

export interface LocalRegistration {
  /** The folder that relative targets start from. */
  readonly root: string;
  readonly manifest: unknown;
}

/** The name that the host gives, else the one that the manifest gives itself; where both speak they agree. */
export function subjectOf(type: SubjectType, given: unknown, declared: Subject | undefined): Parsed<Subject> {
  if (given === undefined) {
    return declared === undefined
      ? fault(
          "invalid_subject",
          "name",
          "nobody names the subject: give a name, or write `name` in the manifest",
        )
      : ok(declared);
  }
  const parsed = parseSubject(type, given);
  if (!parsed.ok || declared === undefined || declared.name === parsed.value.name) return parsed;
  return fault(
    "invalid_manifest",
    "name",
    `the manifest calls itself ${quoted(declared.name)} and the host calls it ${quoted(parsed.value.name)}: use one name`,
  );
}

/** The real path of a folder of the host, links followed now and never again. */
export function realFolder(folder: unknown): Parsed<string> {
  const path = typeof folder === "string" ? canonicalFilesystemPath(folder) : undefined;
  const real = path === undefined ? undefined : realPath(path, "follow");
  if (real !== undefined && real !== "/") return ok(real);
  return fault(
    "invalid_target",
    "root",
    "a subject's folder must be an absolute path below `/` without `..`: give the folder that holds its files",
  );
}

export function realFolders(registration: ExtractorRegistration): Parsed<readonly string[]> {
  const given = ownField(registration, "installFolders");
  const texts = given === undefined ? [] : copyTexts(given);
  const folders: string[] = [];
  for (const text of texts ?? [undefined]) {
    const folder = realFolder(text);
    if (!folder.ok) return fault("invalid_target", "install_folders", folder.message);
    folders.push(folder.value);
  }
  return ok(Object.freeze(folders));
}
