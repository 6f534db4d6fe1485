/**
 * Declared filesystem targets: relative to the subject's root, behind a variable of the host, or absolute; expanded
 * to the absolute form that patterns are made of. Lexical only; a target never leaves the folder that it starts from.
 */
import { canonicalFilesystemPath } from "../target/filesystem.ts";
import { quoted } from "../wire/json-pointer.ts";
import { MANIFEST_VARIABLES, type ManifestEnvironment, type ManifestVariable } from "./manifest.ts";

export interface DeclaredPath {
  readonly ok: true;
  /** Absolute; ends in a slash where the folder and all below it is meant. */
  readonly target: string;
  /** The folder that the target starts from is itself the target. */
  readonly isBase: boolean;
}

export interface PathFault {
  readonly ok: false;
  readonly message: string;
  readonly instead: string;
}

interface Base {
  readonly ok: true;
  readonly folder: string;
  readonly rest: string;
  /** For messages: what the folder is called in the manifest. */
  readonly spelling: string;
}

const KNOWN = MANIFEST_VARIABLES.map((variable) => `\${${variable}}`).join(", ");

export function expandPath(declared: string, environment: ManifestEnvironment): DeclaredPath | PathFault {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(declared)) {
    return bad(
      "a URL is no filesystem target",
      'use `"resource_type": "network"`, or write the path without its scheme',
    );
  }
  const base = baseOf(declared, environment);
  if (!base.ok) return base;
  const stray = base.rest.indexOf("${");
  if (stray >= 0) {
    return bad(
      `a variable stands in the middle of ${quoted(declared)}`,
      `begin the target with one of ${KNOWN}`,
    );
  }
  const climb = climbFault(base, declared);
  if (climb !== undefined) return climb;
  const path = canonicalFilesystemPath(`${base.folder}/${base.rest}`);
  if (path === undefined) {
    return bad(
      "the target is no path: it holds NUL or a lone surrogate, or is too long",
      "write a path that a file can have",
    );
  }
  const isTree = base.rest.endsWith("/") || (base.rest === "" && declared.endsWith("/"));
  const isBase = base.rest.split("/").every((segment) => segment === "" || segment === ".");
  return { ok: true, target: isTree && path !== "/" ? `${path}/` : path, isBase };
}

function baseOf(declared: string, environment: ManifestEnvironment): Base | PathFault {
  if (declared.startsWith("/")) return { ok: true, folder: "", rest: declared.slice(1), spelling: "/" };
  if (!declared.startsWith("${")) {
    return folderBase(environment.root, declared, { spelling: "the subject's root folder" });
  }
  const end = declared.indexOf("}");
  const variable = end < 0 ? declared.slice(2) : declared.slice(2, end);
  if (end < 0 || !isVariable(variable)) {
    return bad(
      `unknown variable ${quoted(end < 0 ? declared : declared.slice(0, end + 1))}`,
      `use one of ${KNOWN}, or an absolute path`,
    );
  }
  const spelling = `\${${variable}}`;
  const rest = declared.slice(end + 1);
  if (rest !== "" && !rest.startsWith("/")) {
    return bad(`text follows ${spelling} without a slash`, `write \`${spelling}/…\``);
  }
  const folder = environment.variables[variable];
  if (folder === undefined) {
    return bad(
      `the host does not define \`${spelling}\``,
      "use an absolute path, or have the host define the variable",
    );
  }
  return folderBase(folder, rest.slice(1), { spelling });
}

function folderBase(
  folder: string,
  rest: string,
  { spelling }: { readonly spelling: string },
): Base | PathFault {
  const path = canonicalFilesystemPath(folder);
  if (path === undefined) {
    return bad(
      `the host defines ${spelling} as something that is no absolute path`,
      "have the host give an absolute path without `..`",
    );
  }
  return { ok: true, folder: path === "/" ? "" : path, rest, spelling };
}

/** WHY: `a/../b` may lead anywhere if `a` is a link, so no `..` is followed; what was meant is proposed. */
function climbFault(base: Base, declared: string): PathFault | undefined {
  const kept: string[] = [];
  let climbs = false;
  let leaves = false;
  for (const segment of base.rest.split("/")) {
    if (segment !== "..") {
      if (segment !== "." && segment !== "") kept.push(segment);
      continue;
    }
    climbs = true;
    if (kept.pop() === undefined) leaves = true;
  }
  if (!climbs) return undefined;
  if (leaves && base.spelling !== "/") {
    return bad(
      `${quoted(declared)} leaves ${base.spelling}`,
      `write an absolute path, or one that begins with one of ${KNOWN}`,
    );
  }
  const prefix = declared.startsWith("${") ? `${base.spelling}/` : declared.startsWith("/") ? "/" : "";
  const suffix = kept.length > 0 && base.rest.endsWith("/") ? "/" : "";
  return bad("`..` could lead through a link", `write ${quoted(`${prefix}${kept.join("/")}${suffix}`)}`);
}

function isVariable(name: string): name is ManifestVariable {
  return (MANIFEST_VARIABLES as readonly string[]).includes(name);
}

function bad(message: string, instead: string): PathFault {
  return { ok: false, message, instead };
}
