// @ts-check
/**
 * Purpose: `npm run fuzz:native [-- --seconds N]`: the launcher's parsers and path handling under the address and
 * undefined-behaviour sanitizers. With libFuzzer where clang is there, with AFL++ where that is, else by the targets' own
 * mutations. Long by nature; a short run of the same targets is part of the tests.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "./setup.mjs";

const NATIVE = join(root, "packages", "sandbox", "native");
const TARGETS = Object.freeze({
  "fuzz-parsers": ["fuzz-parsers.c", "launch-description.c", "path-text.c"],
  "fuzz-places": ["fuzz-places.c", "place.c", "path-text.c"],
});
const SANITIZED = ["-std=gnu11", "-g", "-O1", "-fno-sanitize-recover=all"];
const ROUNDS_A_SECOND = 2000;
const ENGINES = Object.freeze([
  { name: "libFuzzer", compiler: "clang", flags: ["-fsanitize=fuzzer,address,undefined"] },
  { name: "AFL++", compiler: "afl-clang-fast", flags: ["-fsanitize=address,undefined", "-fsanitize=fuzzer"] },
  { name: "own mutations", compiler: "cc", flags: ["-fsanitize=address,undefined", "-DSELF_DRIVEN"] },
]);

/** @param {string} program */
const isThere = (program) =>
  (process.env["PATH"] ?? "").split(":").some((folder) => folder !== "" && existsSync(join(folder, program)));

const { values } = parseArgs({ options: { seconds: { type: "string", default: "60" } } });
const seconds = Number(values.seconds);
const engine = ENGINES.find(({ compiler }) => isThere(compiler));
if (engine === undefined) throw new Error("there is no C compiler: install clang, afl++ or gcc");
const found = engine;
const folder = mkdtempSync(join(tmpdir(), "sp-fuzz-native-"));
const place = join(folder, "place");
mkdirSync(place);
const env = { ...process.env, ASAN_OPTIONS: "detect_leaks=0", SALLYPORT_FUZZ_FOLDER: place };

/** @param {string} program @param {string} name @returns {readonly [string, readonly string[]]} */
function command(program, name) {
  const seeds = join(folder, `${name}-seeds`);
  mkdirSync(seeds, { recursive: true });
  writeFileSync(join(seeds, "walk"), "\0a/up/l/../o");
  switch (found.name) {
    case "libFuzzer":
      return [program, [`-max_total_time=${seconds}`, seeds]];
    case "AFL++":
      return [
        "afl-fuzz",
        ["-V", String(seconds), "-i", seeds, "-o", join(folder, `${name}-found`), "--", program],
      ];
    default:
      return [program, [String(seconds * ROUNDS_A_SECOND), ...(name === "fuzz-places" ? [place] : [])]];
  }
}

try {
  for (const [name, sources] of Object.entries(TARGETS)) {
    const program = join(folder, name);
    const files = sources.map((source) => join(NATIVE, source));
    execFileSync(found.compiler, [...SANITIZED, ...found.flags, "-o", program, ...files]);
    console.log(`${name} with ${found.name}`);
    const [file, args] = command(program, name);
    execFileSync(file, [...args], { stdio: "inherit", env });
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
