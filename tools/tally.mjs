// @ts-check
/**
 * Purpose: the closing `N passed, N failed` line of a command.
 * A caller that closes for several commands (.ci/run) names a file in SALLYPORT_TALLY and adds up itself.
 */
import { appendFileSync } from "node:fs";

/** @typedef {{ passed: number, failed: number }} Tally */

/** @param {readonly Tally[]} tallies @returns {Tally} */
export const sum = (tallies) => ({
  passed: tallies.reduce((total, { passed }) => total + passed, 0),
  failed: tallies.reduce((total, { failed }) => total + failed, 0),
});

/** Prints the closing line and sets the exit code. @param {Tally} tally */
export function close({ passed, failed }) {
  const file = process.env["SALLYPORT_TALLY"];
  if (file) appendFileSync(file, `${passed} ${failed}\n`);
  else console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}
