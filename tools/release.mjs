// @ts-check
/**
 * Purpose: `npm run release [-- --out FOLDER]`: the packages as they are published, packed by npm into FOLDER (`release` unless
 * said), with the native programs prebuilt, so that whoever installs them needs no compiler. x64 always; arm64 where a compiler
 * for it is there, else it says so. Packs from a copy: the clone holds no binary, before or after. Publishes nothing.
 * `--built`: takes what was built before as it is.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { buildConsole } from "./build-console.mjs";
import { build } from "./build.mjs";
import { heading } from "./paint.mjs";
import { capture, root } from "./setup.mjs";

const SANDBOX = join(root, "packages", "sandbox", "dist");
/** Where the sources of each program are. */
const PROGRAMS = Object.freeze([
  { name: "launcher", from: "sandbox/native" },
  { name: "terminal-relay", from: "sandbox/native/terminal" },
  { name: "peer-uid", from: "server/native/peer" },
]);
/** The first that is there, and that builds for the architecture, is used. @type {Readonly<Record<string, readonly string[]>>} */
const COMPILERS = Object.freeze({
  x64: ["x86_64-linux-gnu-gcc", "cc"],
  arm64: ["aarch64-linux-gnu-gcc", "cc"],
});
/** What `e_machine` of an ELF file says. @type {Readonly<Record<string, number>>} */
const MACHINES = Object.freeze({ x64: 62, arm64: 183 });
/** What is built, and no part of a package. */
const LEFT_OUT =
  /\.tsbuildinfo$|\/dist\/(?:test-programs|testing)(?:\/|$)|\/native\/fuzz-|\/prebuilt(?:\/|$)/;

/** @param {string} staged @returns {string[]} the folders of the copies */
function stagePackages(staged) {
  const names = readdirSync(join(root, "packages")).filter((name) =>
    existsSync(join(root, "packages", name, "package.json")),
  );
  return names.map((name) => {
    const [from, to] = [join(root, "packages", name), join(staged, name)];
    const { files } = JSON.parse(readFileSync(join(from, "package.json"), "utf8"));
    mkdirSync(to);
    for (const file of ["package.json", ...files]) {
      if (!existsSync(join(from, file)))
        throw new Error(`\`packages/${name}/${file}\` is not there: build it first`);
      cpSync(join(from, file), join(to, file), {
        recursive: true,
        filter: (path) => !LEFT_OUT.test(`/${relative(from, path)}`),
      });
    }
    return to;
  });
}

/**
 * @param {{ name: string, from: string, arch: string }} wanted @param {string} staged
 * @returns {Promise<string | undefined>} what was built by what; `undefined` where no compiler makes it
 */
async function prebuild({ name, from, arch }, staged) {
  const { nativeBuild, compile } = await import(join(SANDBOX, "native-build.js"));
  const { makePrebuiltFolder, recordPrebuilt } = await import(join(SANDBOX, "prebuilt-program.js"));
  const planned = nativeBuild(name, join(staged, from), arch);
  const program = makePrebuiltFolder(planned);
  for (const compiler of COMPILERS[arch] ?? []) {
    try {
      await compile(planned, compiler, program);
    } catch {
      continue;
    }
    if (machineOf(program) === MACHINES[arch]) {
      return `${arch} ${name} with ${compiler}: sha256 ${recordPrebuilt(planned)}`;
    }
  }
  rmSync(program, { force: true });
  return undefined;
}

/** @param {string} program */
const machineOf = (program) => readFileSync(program).readUInt16LE(18);

/** @param {string} staged @returns {Promise<boolean>} whether the programs of a release are there */
async function prebuildAll(staged) {
  const made = new Map();
  for (const arch of Object.keys(MACHINES)) {
    const words = [];
    for (const program of PROGRAMS) words.push(await prebuild({ ...program, arch }, staged));
    // INVARIANT: all of an architecture or none, so that a launcher never comes without its relay.
    const isWhole = words.every((word) => word !== undefined);
    if (isWhole) for (const word of words) console.log(word);
    else {
      for (const { from } of PROGRAMS)
        rmSync(join(staged, from, "prebuilt", `linux-${arch}`), { recursive: true, force: true });
      console.log(
        `nothing prebuilt for ${arch}: install one of ${COMPILERS[arch]?.join(", ")} with its static library; there a launcher is built on first use`,
      );
    }
    made.set(arch, isWhole);
  }
  return made.get("x64") === true;
}

/** @param {{ out: string, isBuilt: boolean }} terms @returns {Promise<number>} exit code */
async function release({ out, isBuilt }) {
  if (!isBuilt) {
    const code = await build();
    if (code !== 0) return code;
  }
  await buildConsole();
  const staged = mkdtempSync(join(tmpdir(), "sallyport-release-"));
  try {
    const folders = stagePackages(staged);
    heading("prebuild");
    if (!(await prebuildAll(staged))) return 1;
    heading("pack");
    mkdirSync(out, { recursive: true });
    // WHY by name: whatever else is in that folder is somebody's.
    for (const name of readdirSync(out)) if (/^sallyport-.*\.tgz$/.test(name)) rmSync(join(out, name));
    const args = [
      "pack",
      "--ignore-scripts",
      "--pack-destination",
      out,
      ...folders.map((folder) => `./${basename(folder)}`),
    ];
    const { code, output } = await capture("npm", args, { cwd: staged });
    if (code !== 0) console.error(output);
    else for (const name of readdirSync(out)) console.log(join(out, name));
    return code;
  } finally {
    rmSync(staged, { recursive: true, force: true });
  }
}

const { values } = parseArgs({
  options: {
    out: { type: "string", default: join(root, "release") },
    built: { type: "boolean", default: false },
  },
});
process.exitCode = await release({ out: resolve(values.out), isBuilt: values.built });
