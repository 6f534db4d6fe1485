// @ts-check
/**
 * Purpose: bundle the guard's preload into one CommonJS file that holds everything it needs: the realm's script and the
 * worker of the gate as text, and no import but Node's own. `node tools/build-guard.mjs` writes the file.
 */
import { createHash } from "node:crypto";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, relative } from "node:path";
import v8 from "node:v8";
import vm from "node:vm";
import { brotliCompressSync } from "node:zlib";
import { bundle as realmScript } from "./build-realm.mjs";
import { root } from "./setup.mjs";

const FIRST = join(root, "packages", "guard", "src", "begin.ts");
const SECOND = join(root, "packages", "guard", "src", "preload.ts");
const WORKER = join(root, "packages", "gate", "src", "client", "gate-worker.ts");
const ANSWERS = join(root, "packages", "gate", "src", "client", "answer-wires.ts");
const OUTPUT = join(root, "packages", "guard", "dist", "preload.cjs");

/** What the parts are called on the stack. WHY here: V8 keeps the name with what it compiled. */
const GUARD_SCRIPT = "sallyport:guard";
const REALM_SCRIPT = "sallyport:realm";
/** Around the packed parts, so that V8 takes them for a comment. */
const PARTS_BEGIN = "\n/*";
const PARTS_END = "*/\n";
/** The file beside the preload with its parts, and what V8 made of them; where that begins is a multiple of this. */
const BESIDE_SUFFIX = ".parts";
const ALIGNMENT = 8;

/**
 * @param {{ output?: string }} [places]
 * @returns {Promise<string>} the file, as it was written
 */
export async function buildGuard({ output = OUTPUT } = {}) {
  // WHY small: what is shorter is read and compiled sooner, at every start.
  const realm = asAscii(await realmScript(undefined, { minify: true }));
  const compact = { removeWhitespace: true };
  const workerCode = await bundleFile(WORKER, { ...compact, plugins: [answersApart] });
  // WHY in a function: a thread runs it as a script, whose names must not meet those that a flag makes global.
  const worker = asAscii(`(() => {${strict(workerCode)}\n})();`);
  const answersCode = await bundleFile(ANSWERS, compact);
  const answers = asAscii(`((exports) => {${strict(answersCode)}\nreturn exports;})({})`);
  const inner = await bundleFile(SECOND, { define: { GUARD_SCRIPT: JSON.stringify(GUARD_SCRIPT) } });
  const second = asAscii(strict(`((require, __filename, BEGUN) => {${inner}\n})`));
  const parts = [second, realm, worker, answers];
  const bytes = Buffer.from(parts.join(""), "latin1");
  const { data, ...beside } = besideFile(parts, bytes);
  // WHY packed: Node reads and scans all of this file at every start, and needs them where there is no file beside it.
  const packed = brotliCompressSync(bytes).toString("base64");
  const first = await bundleFile(FIRST, {
    define: {
      PART_LENGTHS: JSON.stringify(parts.map((part) => part.length)),
      PACKED_LENGTH: JSON.stringify(packed.length),
      BESIDE: JSON.stringify(beside),
      GUARD_SCRIPT: JSON.stringify(GUARD_SCRIPT),
      PARTS_END: JSON.stringify(PARTS_END),
    },
  });
  const script = `${asAscii(strict(first))}${PARTS_BEGIN}${packed}${PARTS_END}`;
  mkdirSync(dirname(output), { recursive: true });
  writeWhole(`${output}${BESIDE_SUFFIX}`, data);
  writeWhole(output, script);
  return script;
}

/** WHY: tests of several processes build at the same time; a reader must see a whole file. @param {string} file @param {string | Buffer} content */
function writeWhole(file, content) {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, content);
  renameSync(draft, file);
}

/**
 * WHY apart: the schemas of answers are three quarters of the thread's text, and nothing is answered before it has started.
 * @type {import("rolldown").Plugin}
 */
const answersApart = {
  name: "answers-apart",
  resolveId: (source) => (source.endsWith("/answer-wires.ts") ? "\0answers" : null),
  load: (id) =>
    id === "\0answers"
      ? `import vm from "node:vm";
import { brotliCompressSync } from "node:zlib";
import { workerData } from "node:worker_threads";
const text = Buffer.from(workerData.answers).toString("latin1");
export const { ANSWER_WIRES } = new vm.Script(text, { filename: "sallyport:answers" }).runInThisContext();`
      : null,
};

/**
 * WHY: for `import fs from "node:fs"` the bundler copies the module, name by name, at every start, so that it has a `default`. What
 * stands for that is the module itself. @type {import("rolldown").Plugin}
 */
const modulesAsTheyAre = {
  name: "modules-as-they-are",
  renderChunk: (code) => {
    const copies = [...code.matchAll(/^(\w+) = __toESM\(\1, 1\);$/gm)];
    return copies.reduce(
      (text, [line, name]) =>
        text.replace(line, "").replaceAll(new RegExp(`\\b${name}\\.default\\b`, "g"), `${name}`),
      code,
    );
  },
};

/**
 * The parts as they are, and what the V8 of this Node makes of the first two, every function of it. Other Nodes compile them at
 * every start. The mark is of these parts, and of what was made of them on this Node.
 * @param {readonly string[]} parts @param {Buffer} bytes all of them
 */
function besideFile(parts, bytes) {
  const compiledFor = `${process.version}-${process.arch}`;
  const mark = createHash("sha256")
    .update(JSON.stringify([compiledFor, GUARD_SCRIPT, REALM_SCRIPT, ...parts]))
    .digest("hex");
  const [second = "", realm = ""] = parts;
  const made = compiled([second, GUARD_SCRIPT], [realm, REALM_SCRIPT]);
  const from = aligned(mark.length + bytes.length);
  const realmFrom = aligned(from + made.second.length);
  const data = Buffer.alloc(realmFrom + made.realm.length);
  data.write(mark, 0, "latin1");
  bytes.copy(data, mark.length);
  made.second.copy(data, from);
  made.realm.copy(data, realmFrom);
  return {
    data,
    suffix: BESIDE_SUFFIX,
    mark,
    compiledFor,
    second: [from, from + made.second.length],
    realm: [realmFrom, data.length],
  };
}

/** @param {number} at */
const aligned = (at) => Math.ceil(at / ALIGNMENT) * ALIGNMENT;

/** @param {readonly [string, string]} second with its name @param {readonly [string, string]} realm */
function compiled(second, realm) {
  // WHY set back before the data is taken: V8 takes it only where its flags are the same.
  v8.setFlagsFromString("--no-lazy");
  const scripts = [second, realm].map(([script, filename]) => new vm.Script(script, { filename }));
  v8.setFlagsFromString("--lazy");
  const [ofSecond = Buffer.alloc(0), ofRealm = Buffer.alloc(0)] = scripts.map((script) =>
    script.createCachedData(),
  );
  return { second: ofSecond, realm: ofRealm };
}

/**
 * INVARIANT: strict, so that nobody is given a function of the guard, or its arguments, by way of the stack. The bundler
 * leaves the word out.
 * @param {string} code
 */
const strict = (code) => `"use strict";${code}`;

/** WHY: one character that is not ASCII makes V8 keep, and scan, the whole file in twice the space. @param {string} code */
function asAscii(code) {
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/**
 * @typedef {object} Bundling
 * @property {Record<string, string>} [define]
 * @property {import("rolldown").Plugin[]} [plugins]
 * @property {boolean} [removeWhitespace] WHY not of the guard: Node shows the line that an error was thrown in, and one line
 *   would be all of it
 */

/** @param {string} entry @param {Bundling} [how] */
async function bundleFile(entry, { define = {}, plugins = [], removeWhitespace = false } = {}) {
  const { rolldown } = await import("rolldown");
  const build = await rolldown({
    input: entry,
    cwd: root,
    platform: "node",
    resolve: { conditionNames: ["source", "import", "node", "default"] },
    transform: { target: "es2023", define },
    tsconfig: false,
    plugins: [modulesAsTheyAre, ...plugins],
  });
  try {
    const { output } = await build.generate({
      format: "cjs",
      comments: false,
      minify: {
        mangle: { keepNames: { class: true, function: false } },
        compress: { keepNames: { class: true, function: false } },
        codegen: { removeWhitespace },
      },
      codeSplitting: false,
    });
    const [chunk, ...more] = output;
    const foreign = chunk.imports.find((name) => !isBuiltin(name));
    if (more.length > 0 || foreign !== undefined)
      throw new Error(`the preload must be one file: it imports \`${foreign ?? more[0]?.fileName}\``);
    return chunk.code;
  } finally {
    await build.close();
  }
}

if (import.meta.filename === process.argv[1]) {
  const script = await buildGuard();
  console.log(`${relative(root, OUTPUT)}  ${script.length} characters`);
}
