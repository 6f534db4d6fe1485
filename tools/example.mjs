// @ts-check
/** Purpose: `npm run example`: the first decision in a terminal, without a service. */
import { build } from "./build.mjs";
import { run } from "./setup.mjs";

process.exitCode =
  (await build()) ||
  (await run(process.execPath, ["examples/first-decision/run.mjs", ...process.argv.slice(2)]));
