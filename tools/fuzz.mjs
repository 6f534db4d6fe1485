// @ts-check
/** Purpose: `npm run fuzz -- --cases N`: production against the reference on random input. */
import { build } from "./build.mjs";
import { run } from "./setup.mjs";

process.exitCode =
  (await build()) || (await run(process.execPath, ["tests/fuzz/run.mjs", ...process.argv.slice(2)]));
