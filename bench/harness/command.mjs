// @ts-check
/**
 * Purpose: the command line of a benchmark that is made of stages: `[--json] [--quick] [--stage NAME]`. Measures every
 * stage, judges the gates, tries again where one fails, and shows what was found.
 */
import { parseArgs } from "node:util";
import { allHold, best } from "./gates.mjs";
import { documentHead, progress } from "./output.mjs";

/** @typedef {import("./gates.mjs").Outcome} Outcome */

const RUNS_MAX = 3;

/**
 * @template {object} Findings
 * @param {object} bench
 * @param {string} bench.name
 * @param {Readonly<Record<keyof Findings, object>>} bench.full what each stage is given
 * @param {Readonly<Record<keyof Findings, object>>} bench.quick
 * @param {(name: never, options: object) => Promise<unknown>} bench.runStage
 * @param {(findings: Findings, isQuick: boolean) => readonly Outcome[]} bench.judgeGates
 * @param {(findings: Findings, gates: readonly Outcome[]) => void} bench.showFindings
 */
export async function runBench({ name, full, quick, runStage, judgeGates, showFindings }) {
  const { values: flags } = parseArgs({
    options: {
      json: { type: "boolean", default: false },
      quick: { type: "boolean", default: false },
      stage: { type: "string" },
    },
  });
  const effort = /** @type {Readonly<Record<string, object>>} */ (flags.quick ? quick : full);

  /** @param {string} stage */
  const measure = (stage) => {
    progress(stage);
    return runStage(/** @type {never} */ (stage), effort[stage] ?? {});
  };
  const measureAll = async () => {
    /** @type {Record<string, unknown>} */
    const findings = {};
    for (const stage of Object.keys(effort)) findings[stage] = await measure(stage);
    return /** @type {Findings} */ (findings);
  };

  if (flags.stage !== undefined) {
    if (!Object.hasOwn(effort, flags.stage)) {
      const known = Object.keys(effort).join(", ");
      throw new Error(`there is no stage \`${flags.stage}\`: name one of ${known}`);
    }
    console.log(JSON.stringify(await measure(flags.stage), undefined, 2));
    return;
  }
  let findings = await measureAll();
  const runs = [judgeGates(findings, flags.quick)];
  // WHY again: most figures are times, and one disturbed run must not pass for slow code.
  while (!allHold(best(runs)) && runs.length < RUNS_MAX) {
    progress("a gate fails: once more");
    findings = await measureAll();
    runs.push(judgeGates(findings, flags.quick));
  }
  const gates = best(runs);
  const ok = allHold(gates);
  const head = documentHead(name, { ok, quick: flags.quick });
  if (flags.json) console.log(JSON.stringify({ ...head, gates, ...findings }, undefined, 2));
  else showFindings(findings, gates);
  process.exitCode = ok ? 0 : 1;
}
