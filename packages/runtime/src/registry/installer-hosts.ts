/**
 * Where the host's package installers fetch from: the configuration files and the environment of pip, uv and npm, and
 * the setting `installer_hosts`. Only the host's own files are read, never one in a subject's folder: a subject must not
 * name its own installer. Gives origins without credentials; what is no URL is left out.
 */
import { readFileSync } from "node:fs";
import { ownField } from "./host-input.ts";
import { type ConfigLine, iniLines, tomlLines } from "./installer-config.ts";

export interface InstallerSettings {
  /** The environment of the host. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The setting `installer_hosts`: hosts or origins. */
  readonly installerHosts?: readonly string[] | undefined;
  /** `undefined` where there is no such file. */
  readonly readText?: ((path: string) => string | undefined) | undefined;
}

type Environment = InstallerSettings["environment"];
type ReadText = (path: string) => string | undefined;

const PIP_KEYS: ReadonlySet<string> = new Set(["index-url", "extra-index-url", "find-links"]);
const UV_KEYS: ReadonlySet<string> = new Set([...PIP_KEYS, "index", "url", "default-index"]);
const PIP_VARIABLES = ["PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"] as const;
const UV_VARIABLES = [
  "UV_INDEX_URL",
  "UV_DEFAULT_INDEX",
  "UV_INDEX",
  "UV_EXTRA_INDEX_URL",
  "UV_FIND_LINKS",
] as const;

/** What the setting names, and the origins of all that is configured, each once. */
export function readInstallerHosts(settings: InstallerSettings): readonly string[] {
  const { environment } = settings;
  const readText = ownField(settings, "readText") ?? readFile;
  const installerHosts = ownField(settings, "installerHosts") ?? [];
  const configured = [
    ...pipUrls(environment, readText),
    ...uvUrls(environment, readText),
    ...npmUrls(environment, readText),
  ].flatMap((url) => originOf(url) ?? []);
  return Object.freeze([...new Set([...installerHosts, ...configured])]);
}

function pipUrls(environment: Environment, readText: ReadText): readonly string[] {
  const file = valueOf(environment, "PIP_CONFIG_FILE");
  const virtual = valueOf(environment, "VIRTUAL_ENV");
  const files = [
    "/etc/pip.conf",
    ...configHomes(environment).map((folder) => `${folder}/pip/pip.conf`),
    ...homes(environment).map((folder) => `${folder}/.pip/pip.conf`),
    ...(virtual === undefined ? [] : [`${virtual}/pip.conf`]),
    ...(file === undefined ? [] : [file]),
  ];
  // WHY: so pip is told to read no file at all.
  const read = file === "/dev/null" ? [] : files;
  return [
    ...linesOf(read, readText, iniLines)
      .filter(({ key }) => PIP_KEYS.has(key.replaceAll("_", "-")))
      .flatMap(({ values }) => values),
    ...PIP_VARIABLES.flatMap((name) => words(valueOf(environment, name))),
  ];
}

function uvUrls(environment: Environment, readText: ReadText): readonly string[] {
  const file = valueOf(environment, "UV_CONFIG_FILE");
  const files =
    file === undefined
      ? ["/etc/uv/uv.toml", ...configHomes(environment).map((folder) => `${folder}/uv/uv.toml`)]
      : [file];
  const read = valueOf(environment, "UV_NO_CONFIG") === undefined ? files : [];
  return [
    ...linesOf(read, readText, tomlLines)
      .filter(({ section, key }) => UV_KEYS.has(key) && (key !== "url" || section === "index"))
      .flatMap(({ values }) => values),
    // WHY: an index may stand there with a name before it, as in `name=https://…`.
    ...UV_VARIABLES.flatMap((name) => words(valueOf(environment, name))).map((word) =>
      word.replace(/^[\w.-]+=(?=https?:)/i, ""),
    ),
  ];
}

function npmUrls(environment: Environment, readText: ReadText): readonly string[] {
  const settings = new Map(
    Object.keys(environment)
      .filter((name) => /^npm_config_/i.test(name))
      .map((name) => [name.slice("npm_config_".length).toLowerCase(), valueOf(environment, name)]),
  );
  const prefix = settings.get("prefix") ?? valueOf(environment, "PREFIX");
  const files = [
    settings.get("globalconfig") ?? (prefix === undefined ? "/etc/npmrc" : `${prefix}/etc/npmrc`),
    ...[settings.get("userconfig")].flatMap(
      (file) => file ?? homes(environment).map((home) => `${home}/.npmrc`),
    ),
  ];
  return [
    ...linesOf(files, readText, iniLines)
      .filter(({ key }) => isRegistryKey(key))
      .flatMap(({ values }) => values),
    ...[...settings].flatMap(([key, value]) => (isRegistryKey(key) ? words(value) : [])),
  ].map((value) => expand(value, environment));
}

function isRegistryKey(key: string): boolean {
  return key === "registry" || /^@[^:/]+:registry$/.test(key);
}

/** npm puts variables of the environment in the place of `${NAME}`. */
function expand(value: string, environment: Environment): string {
  return value.replace(/\$\{([^}?]+)\??\}/g, (whole, name: string) => valueOf(environment, name) ?? whole);
}

function originOf(value: string): string | undefined {
  if (!/^https?:\/\//i.test(value)) return undefined;
  try {
    return new URL(value).origin;
  } catch {
    return undefined;
  }
}

function homes(environment: Environment): readonly string[] {
  const home = valueOf(environment, "HOME");
  return home === undefined ? [] : [home];
}

function configHomes(environment: Environment): readonly string[] {
  const home = valueOf(environment, "XDG_CONFIG_HOME");
  return home === undefined ? homes(environment).map((folder) => `${folder}/.config`) : [home];
}

function linesOf(
  files: readonly string[],
  readText: ReadText,
  read: (text: string) => readonly ConfigLine[],
): readonly ConfigLine[] {
  return files.flatMap((file) => read(readText(file) ?? ""));
}

function valueOf(environment: Environment, name: string): string | undefined {
  const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
  return value === "" ? undefined : value;
}

function words(text: string | undefined): readonly string[] {
  return text?.split(/\s+/).filter((word) => word !== "") ?? [];
}

function readFile(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
