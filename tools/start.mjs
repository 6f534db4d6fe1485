// @ts-check
/** Purpose: `npm start`: from a fresh clone to the first decision. */
import { build } from "./build.mjs";
import { run } from "./setup.mjs";

process.exitCode =
  (await build()) ||
  (await run(process.execPath, ["examples/first-decision/run.mjs", ...process.argv.slice(2)]));
