// @ts-check
/**
 * Purpose: `npm run soak [-- --pairs N --control-pairs N --races N --record]`: the proofs that are too long for `npm test`.
 * `--record` leaves a dated table in docs/results.
 */
import { parseArgs } from "node:util";
import { build } from "./build.mjs";

const { values } = parseArgs({
  options: {
    pairs: { type: "string", default: "100000" },
    "control-pairs": { type: "string", default: "1000" },
    races: { type: "string", default: "10000" },
    record: { type: "boolean", default: false },
  },
});

/** @param {"pairs" | "control-pairs" | "races"} name */
function wholeNumber(name) {
  const number = Number(values[name]);
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw new Error(`--${name} must be a whole number above zero, not \`${values[name]}\``);
}

const options = {
  pairs: wholeNumber("pairs"),
  controlPairs: wholeNumber("control-pairs"),
  races: wholeNumber("races"),
  isRecorded: values.record,
};
const code = await build();
if (code === 0) await (await import("../bench/service/soak/run.mjs")).soak(options);
else process.exitCode = code;
