/**
 * Built-in modules that hand out more than a rule can describe: refused unless a manifest lists them, never approvable.
 */

/** The names as manifests list them, each with the module names it stands for. */
export const SENSITIVE_IMPORTS = {
  child_process: ["child_process"],
  worker_threads: ["worker_threads"],
  vm: ["vm"],
  module: ["module"],
  inspector: ["inspector", "inspector/promises"],
  wasi: ["wasi"],
  ffi: ["ffi"],
  sqlite: ["sqlite"],
  cluster: ["cluster"],
  native_addons: [],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type SensitiveImport = keyof typeof SENSITIVE_IMPORTS;
export const SENSITIVE_IMPORT_NAMES = Object.freeze(
  Object.keys(SENSITIVE_IMPORTS),
) as readonly SensitiveImport[];

const BY_SPELLING: ReadonlyMap<string, SensitiveImport> = new Map(
  SENSITIVE_IMPORT_NAMES.flatMap((name) => {
    const modules: readonly string[] = SENSITIVE_IMPORTS[name];
    return [name, ...modules, ...modules.map((module) => `node:${module}`)].map(
      (spelling) => [spelling, name] as const,
    );
  }),
);

/** Every spelling that a manifest may use. */
export const SENSITIVE_IMPORT_SPELLINGS: readonly string[] = Object.freeze([...BY_SPELLING.keys()]);

/** The name of a sensitive import, `node:` prefix and sub-paths folded; `undefined` for every other module. */
export function sensitiveImportOf(spelling: string): SensitiveImport | undefined {
  return BY_SPELLING.get(spelling);
}
