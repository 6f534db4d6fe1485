/**
 * The clock of leases: milliseconds on the machine's monotonic clock, the same in every thread of a process.
 */
import process from "node:process";

const { hrtime } = process;

export function monotonicMs(): number {
  const time = hrtime();
  return time[0] * 1000 + time[1] / 1e6;
}
