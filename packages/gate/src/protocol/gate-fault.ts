/**
 * Why one side of the gate refused the other. A fault ends the connection: after one there is nothing to agree on.
 */
export const GATE_FAULTS = Object.freeze({
  malformed_frame: "a frame is not UTF-8 text of one JSON object",
  oversized_frame: "a frame is longer than this side takes",
  slow_frame: "a frame was begun and not ended in time",
  unknown_message: "a message is of no known kind, or has other fields than its kind",
  out_of_sequence: "a message was replayed, left out or reordered",
  out_of_state: "a message came at a moment that has no place for it",
  duplicate_id: "a question has the number of one that was asked before",
  wrong_version: "the two sides speak different versions of the gate: install one version",
  slow_reader: "the other side does not read what it asked for",
  refused_facts: "the facts were refused by the policy",
  unsendable: "a message is longer than the other side takes",
  no_hello: "no hello came in time",
  closed: "the other side closed the gate",
} as const);

export type GateFaultCode = keyof typeof GATE_FAULTS;

export class GateFault extends Error {
  readonly code: GateFaultCode;

  constructor(code: GateFaultCode, detail = "") {
    super(detail === "" ? GATE_FAULTS[code] : `${GATE_FAULTS[code]}: ${detail}`);
    this.name = "GateFault";
    this.code = code;
  }
}
