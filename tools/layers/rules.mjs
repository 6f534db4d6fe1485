// @ts-check
/** Purpose: the layer rules. Pure: imports and manifests in, violations out. */
import { posix } from "node:path";
import {
  BUNDLED,
  ENGINES,
  MAY_IMPORT,
  ONLY_FROM_NPM,
  PURE,
  TEST_FILE,
  TEST_TOOLS,
  packageName,
} from "./layer-table.mjs";

/**
 * @typedef {import("./cruise.mjs").Import} Import
 * @typedef {import("./cruise.mjs").Module} Module
 * @typedef {import("./workspace.mjs").Package} Package
 * @typedef {{ rule: string, where: string, message: string }} Violation
 */

/** @type {Readonly<Record<string, readonly string[]>>} */
const rows = MAY_IMPORT;
/** @type {Readonly<Record<string, readonly string[]>>} */
const npmNames = ONLY_FROM_NPM;

/** @param {string} file */
const folderOf = (file) => /^packages\/([^/]+)\//.exec(file)?.[1];

/** @param {string} specifier `@scope/name/path` or `name/path` */
const npmName = (specifier) => specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");

/** @param {string} folder @param {string} other */
const mayImport = (folder, other) => folder === other || (rows[folder]?.includes(other) ?? false);

/** @param {readonly Module[]} modules @param {readonly string[]} files @returns {Violation[]} */
export function judgeCoverage(modules, files) {
  const seen = new Set(modules.map(({ source }) => source));
  const missed = files.filter((file) => !seen.has(file));
  if (files.length === 0) {
    return [{ rule: "not-checked", where: "packages", message: "found no source file to check" }];
  }
  return missed.map((where) => ({
    rule: "not-checked",
    where,
    message: `was not checked (${files.length - missed.length} of ${files.length} source files were): dependency-cruiser needs TypeScript 6`,
  }));
}

/** @param {readonly Package[]} packages @returns {Violation[]} */
export function judgeManifests(packages) {
  const folders = new Map(packages.map(({ name, folder }) => [name, folder]));
  return packages.flatMap(({ folder, name, declaredForTests }) => {
    const where = `packages/${folder}/package.json`;
    if (!Object.hasOwn(rows, folder)) {
      return [
        { rule: "unknown-package", where, message: `\`${folder}\` has no row in the layer table: add one` },
      ];
    }
    if (name !== packageName(folder)) {
      return [
        { rule: "package-name", where, message: `is named \`${name}\`, expected \`${packageName(folder)}\`` },
      ];
    }
    return [...declaredForTests].flatMap((dependency) => {
      const other = folders.get(dependency);
      const legal = other === undefined ? isNpmNameLegal(folder, dependency) : mayImport(folder, other);
      return legal
        ? []
        : [{ rule: "declared-outside-row", where, message: `may not depend on \`${dependency}\`` }];
    });
  });
}

/** @param {string} folder @param {string} name */
const isNpmNameLegal = (folder, name) =>
  !Object.hasOwn(npmNames, folder) || (npmNames[folder]?.includes(name) ?? false);

/** @param {readonly Module[]} modules @param {readonly Package[]} packages @returns {Violation[]} */
export function judgeImports(modules, packages) {
  const byFolder = new Map(packages.map((entry) => [entry.folder, entry]));
  return modules.flatMap(({ source, dependencies }) => {
    const own = byFolder.get(folderOf(source) ?? "");
    if (own === undefined || !source.startsWith(`packages/${own.folder}/src/`)) return [];
    return dependencies.flatMap((found) => {
      const fault = judgeImport(source, found, own, byFolder) ?? judgeCycle(source, found);
      return fault ? [{ rule: fault[0], where: source, message: fault[1] }] : [];
    });
  });
}

/**
 * @param {string} source @param {Import} found @param {Package} own @param {ReadonlyMap<string, Package>} byFolder
 * @returns {[rule: string, message: string] | undefined}
 */
function judgeImport(source, found, own, byFolder) {
  const { module: specifier, resolved } = found;
  const isTest = TEST_FILE.test(source);
  if (found.coreModule) {
    if (isTest || !PURE.includes(own.folder)) return undefined;
    return [
      "node-built-in",
      `\`${own.folder}\` is pure and may not import the Node built-in \`${specifier}\``,
    ];
  }
  const targetFolder = /(?:^|\/)node_modules\//.test(resolved) ? undefined : folderOf(resolved);
  if (
    /^\.{0,2}\//.test(specifier) &&
    (found.couldNotResolve ? leaves(source, specifier) : targetFolder !== own.folder)
  ) {
    return ["relative-import", `imports \`${specifier}\` by path: packages import each other by name`];
  }
  const other = targetFolder === undefined ? undefined : byFolder.get(targetFolder);
  if (other && other !== own) return judgePackageImport(specifier, resolved, own, other, isTest);
  if (found.couldNotResolve) return judgeUnresolved(specifier, byFolder);
  return other ? undefined : judgeNpmImport(specifier, own, isTest);
}

/** @param {string} source @param {string} specifier */
const leaves = (source, specifier) =>
  folderOf(posix.join(posix.dirname(source), specifier)) !== folderOf(source);

/**
 * @param {string} specifier @param {string} resolved @param {Package} own @param {Package} other @param {boolean} isTest
 * @returns {[rule: string, message: string] | undefined}
 */
function judgePackageImport(specifier, resolved, own, other, isTest) {
  if (!mayImport(own.folder, other.folder)) {
    return ["forbidden-import", `\`${own.folder}\` may not import \`${other.folder}\` (\`${specifier}\`)`];
  }
  if (!isTest && own.folder === ENGINES.hiddenFrom && ENGINES.files.test(resolved)) {
    return [
      "engine-import",
      `\`${own.folder}\` sees the port of the store, not an engine (\`${specifier}\`)`,
    ];
  }
  if (!other.frontDoors.has(resolved)) {
    return ["deep-import", `\`${specifier}\` goes past the exports of \`${other.name}\``];
  }
  return isDeclared(other.name, own, isTest) ? undefined : undeclared(other.name, own);
}

/**
 * @param {string} specifier @param {ReadonlyMap<string, Package>} byFolder
 * @returns {[rule: string, message: string]}
 */
function judgeUnresolved(specifier, byFolder) {
  const name = npmName(specifier);
  const isOurs = [...byFolder.values()].some((entry) => entry.name === name);
  return isOurs && specifier !== name
    ? ["deep-import", `\`${specifier}\` goes past the exports of \`${name}\``]
    : ["unresolvable", `\`${specifier}\` leads nowhere: install it, or correct the path`];
}

/**
 * @param {string} specifier @param {Package} own @param {boolean} isTest
 * @returns {[rule: string, message: string] | undefined}
 */
function judgeNpmImport(specifier, own, isTest) {
  const name = npmName(specifier);
  if (isTest && TEST_TOOLS.includes(name)) return undefined;
  if (!isNpmNameLegal(own.folder, name)) {
    return ["forbidden-npm", `\`${own.folder}\` may not use \`${name}\` from npm`];
  }
  return isDeclared(name, own, isTest) ? undefined : undeclared(name, own);
}

/** @param {string} name @param {Package} own @param {boolean} isTest */
const isDeclared = (name, own, isTest) =>
  (isTest || BUNDLED.includes(own.folder) ? own.declaredForTests : own.declared).has(name);

/** @param {string} name @param {Package} own @returns {[rule: string, message: string]} */
const undeclared = (name, own) => [
  "undeclared-dependency",
  `imports \`${name}\`, which packages/${own.folder}/package.json does not declare`,
];

/** @param {string} source @param {Import} found @returns {[rule: string, message: string] | undefined} */
function judgeCycle(source, { cycle }) {
  if (cycle === undefined || cycle.length === 0) return undefined;
  const names = cycle.map(({ name }) => name);
  // WHY: each member of a cycle sees the same cycle; the first by name reports it.
  if (names.some((name) => name < source)) return undefined;
  return ["cycle", `is part of a cycle: ${[source, ...names].join(" → ")}`];
}
