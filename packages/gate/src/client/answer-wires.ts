/**
 * How the answers of the service are read. A file of its own, since its schemas are loaded with the first answer and not
 * when a process starts.
 */
import { externalAccessCheckWire } from "@sallyport/contract";
import { callerFactsWire, stateAnswerWire, waitAnswerWire } from "@sallyport/contract/remote";

export const ANSWER_WIRES = Object.freeze({
  check: externalAccessCheckWire,
  facts: callerFactsWire,
  state: stateAnswerWire,
  request: waitAnswerWire,
});
