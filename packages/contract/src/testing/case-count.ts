/**
 * How many cases a random test runs: all of them, or a hundredth beside a mutant, where every mutant pays for them.
 */
export function caseCount(all: number): number {
  return process.env["STRYKER_MUTATOR_WORKER"] === undefined ? all : Math.ceil(all / 100);
}
