// @ts-check
/** Purpose: file calls of the same program bare, guarded, confined and guarded, under `--permission`, and in Deno, in turns. */
import { obtainDeno } from "../deno.mjs";
import { driven, openWorld } from "../world.mjs";

/** @typedef {Readonly<Record<string, number>>} PerCall nanoseconds, by the name of the call */
/** @typedef {{ bare: PerCall, guarded: PerCall, confined: PerCall, permission: PerCall, deno: PerCall | null }} PerWay */
/** @typedef {PerWay & { denoAbsent: string | null }} Calls */

const CALLS = ["readFileSync", "statSync", "existsSync", "openSync", "accessSync", "readFile", "stat"];

/** @param {{ rounds: number, times: number }} options @returns {Promise<Calls>} */
export async function run({ rounds, times }) {
  const world = await openWorld();
  const deno = await obtainDeno();
  const file = "file-calls.mjs";
  const programs = Object.entries({
    bare: driven(world.bare(file)),
    guarded: driven(world.guarded(file)),
    confined: driven(world.guarded(file, { confined: true })),
    permission: driven(world.permission(file)),
    ...("absent" in deno ? {} : { deno: driven(world.deno(deno.command, file)) }),
  });
  /** @type {Record<string, Record<string, number>>} */
  const best = Object.fromEntries(programs.map(([name]) => [name, {}]));
  try {
    for (let round = -1; round < rounds; round++) {
      for (const call of CALLS) {
        for (const [name, program] of programs) {
          const ns = Number(await program.ask({ call, file: world.file, times }));
          // WHY: the first round is the compiler's.
          if (round >= 0) keep(best, name, call, ns);
        }
      }
    }
  } finally {
    for (const [, program] of programs) await program.end();
    await world.close();
  }
  const { bare = {}, guarded = {}, confined = {}, permission = {} } = best;
  const denoAbsent = "absent" in deno ? deno.absent : null;
  return { bare, guarded, confined, permission, deno: best["deno"] ?? null, denoAbsent };
}

/** @param {Record<string, Record<string, number>>} best @param {string} name @param {string} call @param {number} ns */
function keep(best, name, call, ns) {
  const figures = best[name] ?? {};
  figures[call] = Math.min(figures[call] ?? Number.POSITIVE_INFINITY, ns);
}
