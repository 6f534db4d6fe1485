/**
 * A question that a guarded process asks again and again, with what is made of its words once, and until when the last answer
 * may be taken for the next one. Answers are given by the gate (`SyncGateClient.takeHit`); nothing is decided here.
 * INVARIANT: made of texts and numbers that nobody else holds, and inherits from nothing that foreign code can reach.
 */
import { pairIndex } from "@sallyport/contract";
import type { AskWords, HostedNames } from "../protocol/message.ts";
import { extrasText } from "./memory-answer.ts";

export class KnownQuestion {
  readonly words: AskWords;
  readonly pair: number;
  /** As the private realm reads them. */
  readonly extras: string;
  /** Who asks. */
  readonly hosted: HostedNames;
  /** How many facts had arrived when it was a hit. */
  facts = -1;
  /** It is taken for a hit until then, by the monotonic clock; 0: it is not. */
  endMs = 0;

  constructor(words: AskWords) {
    this.words = words;
    this.pair = pairIndex(words.resourceType, words.operation);
    this.extras = extrasText(words);
    this.hosted = words.hosted;
  }
}
Object.setPrototypeOf(KnownQuestion.prototype, null);
Object.freeze(KnownQuestion.prototype);
