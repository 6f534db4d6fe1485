// @ts-check
/** Purpose: what the layer check knows about the packages of a tree: files, manifests, front doors. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, posix } from "node:path";

/**
 * @typedef {object} Package
 * @property {string} folder its folder under packages/
 * @property {string} name
 * @property {ReadonlySet<string>} declared names it may import once installed
 * @property {ReadonlySet<string>} declaredForTests also devDependencies
 * @property {ReadonlySet<string>} frontDoors files that its exports lead to, relative to the tree
 */

const SOURCE = /\.(?:[cm]?ts|tsx|[cm]?js|jsx)$/;

/** @param {string} tree @returns {Package[]} */
export function readPackages(tree) {
  return readdirSync(join(tree, "packages"))
    .filter((folder) => existsSync(join(tree, "packages", folder, "package.json")))
    .toSorted()
    .map((folder) => readPackage(tree, folder));
}

/** @param {string} tree @param {string} folder @returns {Package} */
function readPackage(tree, folder) {
  const manifest = JSON.parse(readFileSync(join(tree, "packages", folder, "package.json"), "utf8"));
  const declared = new Set(
    [manifest.dependencies, manifest.peerDependencies, manifest.optionalDependencies].flatMap((names) =>
      Object.keys(names ?? {}),
    ),
  );
  return {
    folder,
    name: manifest.name,
    declared,
    declaredForTests: new Set([...declared, ...Object.keys(manifest.devDependencies ?? {})]),
    frontDoors: new Set(targets(manifest.exports).map((target) => posix.join("packages", folder, target))),
  };
}

/** @param {unknown} exports @returns {string[]} */
function targets(exports) {
  if (typeof exports === "string") return [exports];
  return exports && typeof exports === "object" ? Object.values(exports).flatMap(targets) : [];
}

/** Every source file, counted without the tool that is being checked. @param {string} tree @returns {string[]} */
export function sourceFiles(tree) {
  return readPackages(tree).flatMap(({ folder }) => {
    const source = posix.join("packages", folder, "src");
    if (!existsSync(join(tree, source))) return [];
    return readdirSync(join(tree, source), { recursive: true, encoding: "utf8" })
      .map((file) => posix.join(source, file.replaceAll("\\", "/")))
      .filter((file) => SOURCE.test(file));
  });
}
