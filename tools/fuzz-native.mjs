// @ts-check
/**
 * Purpose: `npm run fuzz:native [-- --seconds N --only TARGET]`: the launcher's parsers, path handling and reading of
 * calls under the address and undefined-behaviour sanitizers, N seconds for each target. Led by coverage with libFuzzer (clang)
 * or AFL++, the first that is there; without either the targets mutate their own seeds, and it says what to install. Long by nature; a short
 * run of the same targets is part of the tests.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { build } from "./build.mjs";
import { root } from "./setup.mjs";

const NATIVE = join(root, "packages", "sandbox", "native");
const SANDBOX = join(root, "packages", "sandbox", "dist");
/** @type {Readonly<Record<string, readonly string[]>>} */
const TARGETS = Object.freeze({
  "fuzz-parsers": ["fuzz-parsers.c", "launch-description.c", "path-text.c"],
  "fuzz-places": ["fuzz-places.c", "place.c", "path-text.c"],
  "fuzz-calls": ["fuzz-calls.c", "trapped-call.c", "parts.c", "path-text.c"],
});
const SANITIZED = ["-std=gnu11", "-g", "-O1", "-fno-sanitize-recover=all"];
/** Two folders, `renameat2` with texts in the program's memory, and an exchange. */
const EXCHANGE = Buffer.from([8, 5, 8, 5, 2, 2, 6, 0, 0, 2, 6, 0, 0, 5, 0, 13, 3, 97, 0]);
const ROUNDS_A_SECOND = 2000;
const INPUT_BYTES_MAX = 65_536;
const ENGINES = Object.freeze([
  { name: "libFuzzer", compiler: /^clang(?:-\d+)?$/, flags: ["-fsanitize=fuzzer,address,undefined"] },
  {
    name: "AFL++",
    compiler: /^afl-clang-fast$/,
    flags: ["-fsanitize=address,undefined", "-fsanitize=fuzzer"],
  },
  { name: "own mutations", compiler: /^cc$/, flags: ["-fsanitize=address,undefined", "-DSELF_DRIVEN"] },
]);
const ADVICE =
  "neither clang (libFuzzer) nor afl++ is here: install `clang` with its runtime (Debian: `apt-get install clang libclang-rt-dev`) or `afl++`, and fuzzing is led by coverage; now the targets mutate their own seeds";

/** @param {RegExp} wanted @returns {string | undefined} */
function programLike(wanted) {
  for (const folder of (process.env["PATH"] ?? "").split(":")) {
    if (folder === "" || !existsSync(folder)) continue;
    const found = readdirSync(folder).find((name) => wanted.test(name));
    if (found !== undefined) return join(folder, found);
  }
  return undefined;
}

const { values } = parseArgs({
  options: { seconds: { type: "string", default: "60" }, only: { type: "string" } },
});
const seconds = Number(values.seconds);
const wanted = Object.entries(TARGETS).filter(([name]) => values.only === undefined || name === values.only);
if (!(seconds >= 1)) throw new Error(`\`${values.seconds}\` is no number of seconds: write \`--seconds 60\``);
if (wanted.length === 0) {
  throw new Error(`there is no target \`${values.only}\`: name one of ${Object.keys(TARGETS).join(", ")}`);
}
const code = await build();
if (code !== 0) process.exit(code);
const folder = mkdtempSync(join(tmpdir(), "sp-fuzz-native-"));
const place = join(folder, "place");
mkdirSync(place);
/** What a target is told where it mutates its own seeds. @type {Readonly<Record<string, (seeds: string) => string[]>>} */
const OWN_SEEDS = Object.freeze({
  "fuzz-parsers": (seeds) => [join(seeds, "launch")],
  "fuzz-places": () => [place],
});
const env = { ...process.env, ASAN_OPTIONS: "detect_leaks=0", SALLYPORT_FUZZ_FOLDER: place };

/** What the host really sends, and what programs really ask for. @param {string} name */
async function seedFolder(name) {
  const seeds = join(folder, `${name}-seeds`);
  mkdirSync(seeds);
  writeFileSync(join(seeds, "walk"), "\0a/up/l/../o");
  if (name === "fuzz-calls") writeFileSync(join(seeds, "exchange"), EXCHANGE);
  if (name !== "fuzz-parsers") return seeds;
  for (const answer of ["allow 12", "deny 7", "narrow"])
    writeFileSync(join(seeds, answer.replace(" ", "-")), JSON.stringify(answer));
  writeFileSync(join(seeds, "launch"), await launchSeed());
  return seeds;
}

async function launchSeed() {
  const { launchBytes } = await import(join(SANDBOX, "launch-description.js"));
  const grant = { path: "/data", reach: "tree", operations: ["read", "delete"], landlocked: ["read"] };
  const confinement = {
    grants: [grant, { ...grant, path: "/data/file", reach: "exact", landlocked: [] }],
    rights: [{ path: "/data", rights: 12n }],
    handledRights: 15n,
    scopes: 1n,
    writable: ["/data"],
    masks: ["/secret"],
  };
  return launchBytes({
    program: "/bin/sh",
    args: ["sh", "-c", "true"],
    environment: { PATH: "/bin" },
    cwd: "/tmp",
    confinement,
    filter: Buffer.alloc(16, 6),
    limits: { openFilesMax: 10 },
    wallMs: 1000,
    capture: {
      catchPort: 15_001,
      words: [{ protocol: 12, bytes: Buffer.alloc(16) }],
      covers: [{ source: "/a", path: "/b" }],
    },
    ownsTerminal: false,
  });
}

/** The first engine that this target can be built for. @param {string} program @param {readonly string[]} sources */
function built(program, sources) {
  const files = sources.map((source) => join(NATIVE, source));
  for (const { name, compiler, flags } of ENGINES) {
    const found = programLike(compiler);
    if (found === undefined) continue;
    try {
      execFileSync(found, [...SANITIZED, ...flags, "-o", program, ...files]);
      return name;
    } catch {
      console.log(`\`${found}\` cannot build for ${name}: is its runtime installed?`);
    }
  }
  throw new Error("no compiler here builds the targets: install clang, afl++ or gcc");
}

/** @param {string} engine @param {string} program @param {string} seeds @returns {readonly [string, readonly string[]]} */
function command(engine, program, seeds) {
  switch (engine) {
    case "libFuzzer":
      return [
        program,
        [`-max_total_time=${seconds}`, `-max_len=${INPUT_BYTES_MAX}`, "-print_final_stats=1", seeds],
      ];
    case "AFL++":
      return ["afl-fuzz", ["-V", String(seconds), "-i", seeds, "-o", `${seeds}-found`, "--", program]];
    default:
      return [program, [String(seconds * ROUNDS_A_SECOND), ...(OWN_SEEDS[basename(program)]?.(seeds) ?? [])]];
  }
}

try {
  for (const [name, sources] of wanted) {
    const program = join(folder, name);
    const engine = built(program, sources);
    if (engine === "own mutations") console.log(ADVICE);
    console.log(`${name} with ${engine}, ${seconds} s`);
    const [file, args] = command(engine, program, await seedFolder(name));
    execFileSync(file, [...args], { stdio: "inherit", env, cwd: folder });
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
