// @ts-check
/**
 * Purpose: `npm start`: from a fresh clone to the first approval. Sets up, builds, and starts service and console on the
 * embedded store in `.sallyport`, with a guided example that waits for a decision. `npm start -- --port 8080` and every
 * other option of `sallyport up` go on to it.
 */
import { build } from "./build.mjs";
import { heading } from "./paint.mjs";
import { run } from "./setup.mjs";

/** @returns {Promise<number>} exit code */
async function buildConsole() {
  heading("build the console");
  const code = await run("npm", ["run", "build", "--silent", "--workspace", "@sallyport/console"], {
    stdout: 2,
  });
  if (code !== 0)
    console.error(
      "the console could not be built: see what was printed above, correct it and run `npm start` again",
    );
  return code;
}

/** @param {readonly string[]} args @returns {Promise<number>} exit code */
function up(args) {
  // WHY: ctrl-c reaches everything that this terminal started. What is up ends by itself, and this waits for it.
  process.on("SIGINT", () => undefined);
  const command = ["packages/sallyport/dist/cli/main.js", "up", "--data", ".sallyport", "--example"];
  return run(process.execPath, [...command, ...args]);
}

process.exitCode = (await build()) || (await buildConsole()) || (await up(process.argv.slice(2)));
