// @ts-check
/**
 * Purpose: what a gate is and how it is judged, for every benchmark. A gate compares figures of one run; `--quick`
 * gives the gates that rest on time twice the room, since it runs where other work runs.
 */

/**
 * @typedef {"at least" | "at most"} Bound
 * @typedef {{ name: string, bound: Bound, gate: number, goal: string, unit: string, value: number | null, ok: boolean | null }} Outcome
 */

/**
 * @template Findings
 * @typedef {object} Gate
 * @property {string} name
 * @property {Bound} bound
 * @property {number} gate
 * @property {string} goal
 * @property {string} unit
 * @property {boolean} [isExact] does not rest on time, so it gets no slack
 * @property {(findings: Findings) => number | undefined} value `undefined` where it was not measured
 */

const QUICK_SLACK = 2;

/**
 * @template Findings
 * @param {readonly Gate<Findings>[]} gates @param {Findings} findings @param {boolean} isQuick @returns {Outcome[]}
 */
export function judge(gates, findings, isQuick) {
  return gates.map(({ name, bound, gate, goal, unit, isExact = false, value: valueOf }) => {
    const slack = isQuick && !isExact ? QUICK_SLACK : 1;
    const due = bound === "at least" ? gate / slack : gate * slack;
    const value = valueOf(findings);
    // INVARIANT: a value that is no number passes no gate.
    const ok = value === undefined ? null : bound === "at least" ? value >= due : value <= due;
    return { name, bound, gate: due, goal, unit, value: value ?? null, ok };
  });
}

/**
 * The better of several runs, gate by gate: a machine that does other work as well makes figures worse, never better.
 * @param {readonly (readonly Outcome[])[]} runs @returns {Outcome[]}
 */
export function best([first = [], ...others]) {
  return first.map((outcome, index) => {
    const candidates = [outcome, ...others.map((run) => /** @type {Outcome} */ (run[index]))];
    const measured = candidates.filter(({ value }) => value !== null && !Number.isNaN(value));
    const sign = outcome.bound === "at least" ? -1 : 1;
    return measured.toSorted((a, b) => sign * (Number(a.value) - Number(b.value)))[0] ?? outcome;
  });
}

/** @param {readonly Outcome[]} outcomes */
export const allHold = (outcomes) => outcomes.every(({ ok }) => ok !== false);
