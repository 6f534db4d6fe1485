// @ts-check
/** Purpose: many independent rounds at the same time, with what was done, how fast, and how long it will take. */
import { dim, duration } from "../../../tools/paint.mjs";
import { grouped } from "../../harness/output.mjs";

const SHOWN_EVERY_MS = 5000;

/**
 * Runs `rounds` rounds on `lanes` lanes; each lane takes the next round when its own is over.
 * @param {{ title: string, rounds: number, lanes: number }} options @param {(round: number) => Promise<void>} work
 * @returns {Promise<number>} milliseconds
 */
export async function inLanes({ title, rounds, lanes }, work) {
  const started = performance.now();
  let next = 0;
  let done = 0;
  const show = () => {
    const spentMs = performance.now() - started;
    const perSecond = (done / spentMs) * 1000;
    const left = done === 0 ? "" : `, ${duration(((rounds - done) / perSecond) * 1000)} left`;
    const line = `${title}: ${grouped(done)} of ${grouped(rounds)}, ${perSecond.toFixed(0)}/s${left}`;
    console.error(dim(`${duration(spentMs).padStart(14)}  ${line}`));
  };
  const timer = setInterval(show, SHOWN_EVERY_MS);
  const lane = async () => {
    while (next < rounds) {
      await work(next++);
      done += 1;
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(lanes, rounds) }, lane));
  } finally {
    clearInterval(timer);
    show();
  }
  return performance.now() - started;
}
