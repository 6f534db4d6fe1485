// @ts-check
/**
 * Purpose: one stage of a benchmark in a process of its own, so that no stage's memory or compiler weighs on another.
 * A benchmark has a `stage.mjs` that hands its table of stages to `serveStage`; the result comes back as one message.
 */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/**
 * Starts a stage. `child` takes messages where the stage listens for them.
 * @param {string} file address of the benchmark's `stage.mjs` @param {string} name @param {object} options
 * @param {readonly string[]} [nodeFlags]
 */
export function startStage(file, name, options, nodeFlags = []) {
  // WHY stdout to stderr: some engines print when they are loaded, and stdout may hold the JSON document.
  const child = fork(fileURLToPath(file), [name, JSON.stringify(options)], {
    execArgv: [...nodeFlags],
    stdio: ["ignore", 2, 2, "ipc"],
  });
  /** @type {unknown} */
  let result;
  /** @type {Promise<unknown>} */
  const finished = new Promise((resolve, reject) => {
    child.on("message", (message) => (result = message));
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (code === 0 && result !== undefined) resolve(result);
      else reject(new Error(`stage \`${name}\` failed (${signal ?? `exit code ${code}`}): see above`));
    });
  });
  return { child, finished };
}

/**
 * Where `stage.mjs` is the program that runs: does what its arguments say.
 * @param {string} file `import.meta.url` of it
 * @param {Readonly<Record<string, () => Promise<{ run(options: never): unknown }>>>} stages
 */
export async function serveStage(file, stages) {
  if (process.argv[1] !== fileURLToPath(file)) return;
  const [name = "", options = "{}"] = process.argv.slice(2);
  const load = Object.hasOwn(stages, name) ? stages[name] : undefined;
  if (load === undefined) throw new Error(`there is no stage \`${name}\``);
  const stage = await load();
  process.send?.(await stage.run(/** @type {never} */ (JSON.parse(options))));
  process.disconnect();
}
