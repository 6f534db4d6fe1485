// @ts-check
/**
 * Purpose: one stage of the bench in a process of its own, so that no engine's memory weighs on another stage.
 * Run by `runStage`: `node stage.mjs NAME OPTIONS`; the result goes to the parent as one message.
 */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

const STAGES = Object.freeze({
  compare: () => import("./stages/compare.mjs"),
  growth: () => import("./stages/growth.mjs"),
  memory: () => import("./stages/memory.mjs"),
  change: () => import("./stages/change.mjs"),
  permission: () => import("./stages/permission.mjs"),
});

/**
 * Runs a stage and waits for its result.
 * @template T
 * @param {keyof typeof STAGES} name @param {object} options @param {string[]} [nodeFlags]
 * @returns {Promise<T>}
 */
export function runStage(name, options, nodeFlags = []) {
  return new Promise((resolve, reject) => {
    // WHY stdout to stderr: some engines print when they are loaded, and stdout may hold the JSON document.
    const child = fork(fileURLToPath(import.meta.url), [name, JSON.stringify(options)], {
      execArgv: nodeFlags,
      stdio: ["ignore", 2, 2, "ipc"],
    });
    /** @type {{ value: T } | undefined} */
    let result;
    child.on("message", (value) => (result = { value: /** @type {T} */ (value) }));
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (code === 0 && result !== undefined) resolve(result.value);
      else reject(new Error(`stage \`${name}\` failed (${signal ?? `exit code ${code}`}): see above`));
    });
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [name, options] = process.argv.slice(2);
  const { run } = await STAGES[/** @type {keyof typeof STAGES} */ (name)]();
  const result = await run(JSON.parse(options ?? "{}"));
  process.send?.(result);
  process.disconnect();
}
