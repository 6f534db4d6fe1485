/**
 * The environment of a confined program: a few names are inherited, the host may add its own, and what would change
 * what an approved program does is never handed on. Pure.
 */
const INHERITED: readonly string[] = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LANGUAGE",
  "TZ",
  "TERM",
  "COLORTERM",
  "NO_COLOR",
  "FORCE_COLOR",
  "COLUMNS",
  "LINES",
  "TMPDIR",
];

const INHERITED_PREFIXES: readonly string[] = ["LC_"];

/** Loads code, or is read as code, by the programs that everybody has. */
const SCRUBBED: readonly string[] = [
  "NODE_OPTIONS",
  "NODE_CHANNEL_FD",
  "NODE_CHANNEL_SERIALIZATION_MODE",
  "NODE_REPL_EXTERNAL_MODULE",
  "BASH_ENV",
  "ENV",
  "SHELLOPTS",
  "BASHOPTS",
  "PS4",
  "PROMPT_COMMAND",
  "GCONV_PATH",
  "GETCONF_DIR",
  "HOSTALIASES",
  "LOCALDOMAIN",
  "LOCPATH",
  "MALLOC_TRACE",
  "NIS_PATH",
  "NLSPATH",
  "RESOLV_HOST_CONF",
  "RES_OPTIONS",
  "PERL5OPT",
  "PERL5LIB",
  "PERLLIB",
  "PYTHONSTARTUP",
  "PYTHONPATH",
  "PYTHONHOME",
  "PYTHONINSPECT",
  "RUBYOPT",
  "RUBYLIB",
  "JAVA_TOOL_OPTIONS",
  "_JAVA_OPTIONS",
  "JDK_JAVA_OPTIONS",
  "GIT_SSH_COMMAND",
  "GIT_EXTERNAL_DIFF",
  "GIT_CONFIG",
  "GIT_CONFIG_COUNT",
  "GIT_CONFIG_PARAMETERS",
  "GIT_CONFIG_GLOBAL",
  "GIT_CONFIG_SYSTEM",
  "SSH_AUTH_SOCK",
  "DBUS_SESSION_BUS_ADDRESS",
  "DOCKER_HOST",
];

const SCRUBBED_PREFIXES: readonly string[] = ["LD_", "DYLD_", "BASH_FUNC_", "GIT_CONFIG_KEY_", "SALLYPORT_"];

type Variables = Readonly<Record<string, string | undefined>>;

/** `given`: what the host adds by name. `ours`: what Sallyport's own guard inside has to know. */
export function confinedEnvironment(
  own: Variables,
  given: Variables,
  ours: Variables = {},
): Readonly<Record<string, string>> {
  const inherited = Object.entries(own).filter(([name]) => isListed(name, INHERITED, INHERITED_PREFIXES));
  const added = Object.entries(given).filter(([name]) => !isListed(name, SCRUBBED, SCRUBBED_PREFIXES));
  const variables: Record<string, string> = Object.create(null);
  for (const [name, value] of [...inherited, ...added, ...Object.entries(ours)]) {
    if (value !== undefined && name !== "" && !name.includes("=")) variables[name] = value;
  }
  return Object.freeze(variables);
}

function isListed(name: string, names: readonly string[], prefixes: readonly string[]): boolean {
  return names.includes(name) || prefixes.some((prefix) => name.startsWith(prefix));
}
