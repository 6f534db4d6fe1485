// @ts-check
/**
 * Purpose: the house rules that no other tool knows: file length, file names, left-over marks, machine traces.
 * `node tools/tidy.mjs [TREE]`; exit 1 where a rule is broken.
 */
import { existsSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { capture, root } from "./setup.mjs";

/** @typedef {{ rule: string, where: string, message: string }} Untidiness */

const LINES_MAX = 300;
const TEST_LINES_MAX = 500;
const BANNED_NAMES = new Set(["utils", "types", "common", "manager", "helpers"]);
const CODE = /\.(?:[cm]?ts|tsx|[cm]?js|jsx|c|h)$/;
const TEST = /\.test(?:-d)?\.tsx?$|^tests\/|^packages\/[^/]+\/src\/testing\//;
const TEXT =
  /\.(?:[cm]?ts|tsx|[cm]?js|jsx|c|h|json|jsonc|md|txt|ya?ml|toml|html|css|svg|sh)$|(?:^|\/)(?:\.npmrc|run|LICENSE)$/;
const KEBAB_CASE = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)*$/;
const FIXTURES = /^(?:tools|tests)\/(?:.*\/)?fixtures\//;

/** WHY: words are written in halves, so that this file passes its own rules. @param {...string} halves */
const words = (...halves) => halves.map((word) => word.replace("·", "")).join("|");

const MARKS = new RegExp(`\\b(?:${words("TO·DO", "FIX·ME", "X·XX")})\\b`);
const NOT_RUN = new RegExp(`\\.(?:${words("only", "skip", "todo", "skipIf", "runIf")})[.(]`);
const MACHINE_PATH = new RegExp(
  `(?<![\\w.@})*-])/(?:${words("ho·me/\\w", "ro·ot/", "wo·rk/", "Us·ers/\\w")})`,
);
const REGISTRY = new RegExp(words("registry\\.npm·js", "npm·mirror", "arti·factory", "code·artifact"), "i");
const DOWNLOAD = new RegExp(`"${words("resol·ved")}":\\s*"(?:https?|git)`);

/** @param {string} file @param {string} text @returns {Untidiness[]} */
export function inspectFile(file, text) {
  /** @type {Untidiness[]} */
  const found = [];
  /** @param {string} rule @param {string} message @param {number} [line] */
  const report = (rule, message, line) =>
    found.push({ rule, where: line ? `${file}:${line}` : file, message });
  if (CODE.test(file)) inspectCode(file, text, report);
  const isTest = TEST.test(file);
  for (const [index, line] of text.split("\n").entries()) {
    const at = index + 1;
    if (MARKS.test(line))
      report("left-over", "holds a note to do something later: do it, or open an issue", at);
    if (isTest && NOT_RUN.test(line))
      report("test-not-run", "a test passes or fails, it is never skipped", at);
    if (MACHINE_PATH.test(line)) report("machine-path", "holds a path of one machine", at);
    if (REGISTRY.test(line)) report("registry", "holds the name of a package registry", at);
    if (DOWNLOAD.test(line))
      report("download-address", "holds a download address: keep `omit-lockfile-registry-resolved`", at);
  }
  return found;
}

/** @param {string} file @param {string} text @param {(rule: string, message: string) => void} report */
function inspectCode(file, text, report) {
  const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
  const max = TEST.test(file) ? TEST_LINES_MAX : LINES_MAX;
  if (lines > max) report("long-file", `has ${lines} lines, at most ${max}: split it by subject`);
  const name = basename(file);
  if (!KEBAB_CASE.test(name)) report("file-name", "is not in kebab-case");
  if (BANNED_NAMES.has(name.split(".")[0] ?? ""))
    report("file-name", "is named after nothing: name it after its subject");
  const isEmptyPackage = text.trim() === "export {};";
  if (/^packages\/[^/]+\/src\/index\.ts$/.test(file) && !isEmptyPackage && !/^\s*\/\*\*/.test(text)) {
    report(
      "module-header",
      "does not begin with a module header: purpose, what it trusts, what it must never do",
    );
  }
}

/** Files that git knows or would take. @param {string} tree */
async function listFiles(tree) {
  const { code, stdout } = await capture(
    "git",
    ["ls-files", "-z", "--cached", "--others", "--exclude-standard"],
    { cwd: tree },
  );
  if (code !== 0) throw new Error(`\`${tree}\` is not a git work tree: tidy asks git which files count`);
  return [...new Set(stdout.split("\0"))].filter((file) => file !== "" && existsSync(join(tree, file)));
}

/**
 * The pages themselves are compared with the codes by a test; this only notices that there are none.
 * @param {string} tree @returns {Untidiness[]}
 */
function inspectErrorPages(tree) {
  const codes = "packages/contract/src/errors.ts";
  if (!existsSync(join(tree, codes)) || existsSync(join(tree, "docs", "errors"))) return [];
  return [
    { rule: "error-pages", where: codes, message: "has codes without pages: write docs/errors/CODE.md" },
  ];
}

/** @param {string} tree @returns {Promise<{ files: number, found: Untidiness[] }>} */
export async function inspectTree(tree) {
  const files = (await listFiles(tree)).filter((file) => TEXT.test(file) && !FIXTURES.test(file));
  if (files.length === 0) throw new Error(`found no file to inspect in \`${tree}\``);
  const found = files.flatMap((file) => inspectFile(file, readFileSync(join(tree, file), "utf8")));
  return { files: files.length, found: [...found, ...inspectErrorPages(tree)] };
}

if (import.meta.filename === process.argv[1]) {
  const { files, found } = await inspectTree(resolve(process.argv[2] ?? root));
  for (const { rule, where, message } of found) console.log(`${where}  ${message}  [${rule}]`);
  console.log(`${files} files, ${found.length} findings`);
  process.exitCode = found.length === 0 ? 0 : 1;
}
