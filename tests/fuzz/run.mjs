// @ts-check
/**
 * Purpose: the engine against the reference model on any number of random cases, on every core, with progress.
 *
 *     npm run fuzz -- --cases 5000000 [--seed 7] [--json]
 *     npm run fuzz -- --replay SEED      prints one case and both answers
 *
 * Exits with 1 where they disagree; each disagreement is printed with the seed that replays it.
 */
import { mkdirSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { rolldown } from "rolldown";
import { bold, cross, dim, duration, tick } from "../../tools/paint.mjs";
import { root } from "../../tools/setup.mjs";

const { values } = parseArgs({
  options: {
    cases: { type: "string", default: "200000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    replay: { type: "string" },
    json: { type: "boolean", default: false },
  },
});

let lastShown = 0;
const bundle = await bundleModel();
if (values.replay === undefined) await fuzz(wholeNumber("cases"), wholeNumber("seed"));
else await replay(Number(values.replay));

/** @param {"cases" | "seed"} name */
function wholeNumber(name) {
  const number = Number(values[name]);
  if (Number.isInteger(number) && number >= 0) return number;
  console.error(`--${name} must be a whole number, not \`${values[name]}\``);
  process.exit(2);
}

/** WHY: the model is test code, which no package ships, so it is bundled from source here. */
async function bundleModel() {
  const folder = join(root, "node_modules", ".cache", "sallyport");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `fuzz-${process.pid}.mjs`);
  const build = await rolldown({
    input: join(root, "packages/policy/src/testing/compare-with-reference.ts"),
    platform: "node",
    resolve: { conditionNames: ["source", "import", "default"] },
    logLevel: "silent",
  });
  await build.write({ file, format: "esm" });
  await build.close();
  process.on("exit", () => rmSync(file, { force: true }));
  return pathToFileURL(file).href;
}

/** @param {number} cases @param {number} seed */
async function fuzz(cases, seed) {
  const started = performance.now();
  const workers = Math.max(1, Math.min(availableParallelism(), Math.ceil(cases / 1000)));
  const done = Array.from({ length: workers }, () => 0);
  const share = Math.ceil(cases / workers);
  const results = await Promise.all(
    done.map((_, index) => {
      const mine = Math.max(0, Math.min(share, cases - index * share));
      return compareInWorker({ cases: mine, first: seed * 1_000_003 + index * share }, (count) => {
        done[index] = count;
        showProgress(done, cases, started);
      });
    }),
  );
  if (process.stderr.isTTY) process.stderr.write("\r\u001b[K");
  const compared = results.reduce((sum, result) => sum + result.cases, 0);
  const disagreements = results.flatMap((result) => result.disagreements);
  report({ cases: compared, seed, ms: Math.round(performance.now() - started), disagreements });
}

/**
 * @typedef {{ cases: number, disagreements: { seed: number, mode: string, how: string, engine: object, reference: object }[] }} Comparison
 * @param {{ cases: number, first: number }} options @param {(done: number) => void} onProgress
 * @returns {Promise<Comparison>}
 */
function compareInWorker(options, onProgress) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("compare-worker.mjs", import.meta.url), {
      workerData: { bundle, options },
    });
    worker.on("message", (message) => (message.result ? resolve(message.result) : onProgress(message.done)));
    worker.on("error", reject);
    worker.on("exit", (code) => code !== 0 && reject(new Error(`a worker ended with ${code}`)));
  });
}

/** A moving line on a terminal, else a line every tenth. @param {number[]} done @param {number} cases @param {number} started */
function showProgress(done, cases, started) {
  const count = done.reduce((sum, one) => sum + one, 0);
  const line = `${count.toLocaleString("en")} of ${cases.toLocaleString("en")} cases, ${duration(performance.now() - started)}`;
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${dim(line)}`);
  else if (count - lastShown >= cases / 10) {
    lastShown = count;
    console.error(line);
  }
}

/** @param {Comparison & { seed: number, ms: number }} result */
function report(result) {
  if (values.json) console.log(JSON.stringify(result));
  else {
    const count = result.disagreements.length;
    const mark = count === 0 ? tick : cross;
    const cases = result.cases.toLocaleString("en");
    console.log(
      `${mark} ${bold(`${cases} cases, ${count} disagreements`)} ${dim(`seed ${result.seed}, ${duration(result.ms)}`)}`,
    );
    for (const { seed, mode, how, engine, reference } of result.disagreements) {
      console.log(
        `  ${mode}, ${how}: engine ${JSON.stringify(engine)}, reference ${JSON.stringify(reference)}`,
      );
      console.log(dim(`    npm run fuzz -- --replay=${seed}`));
    }
  }
  process.exitCode = result.disagreements.length === 0 ? 0 : 1;
}

/** @param {number} seed */
async function replay(seed) {
  const { compareCase, describeCase } = await import(bundle);
  console.log(JSON.stringify({ ...describeCase(seed), disagreements: compareCase(seed) }, null, 2));
}
