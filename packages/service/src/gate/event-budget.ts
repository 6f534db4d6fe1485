/** How many events children of one subject may report; what is more is counted by its child and dropped. */
import type { Subject } from "@sallyport/contract";
import { TokenBuckets } from "../limits/token-bucket.ts";
import type { NodeClock } from "../node-clock.ts";

const EVENTS_BURST = 2000;
const EVENTS_PER_SECOND = 500;
const SUBJECTS_MAX = 10_000;

export function eventBudget(clock: NodeClock): (subject: Subject) => boolean {
  const rate = new TokenBuckets({
    burst: EVENTS_BURST,
    perSecond: EVENTS_PER_SECOND,
    subjectsMax: SUBJECTS_MAX,
    nowMs: () => clock.monotonicMs(),
  });
  return (subject) => rate.take(subject);
}
