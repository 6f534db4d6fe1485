/** What can be wrong with a chain, in words that say what to do next. */

export const CHAIN_FAULTS = {
  malformed: "is not a row at all",
  body_changed: "has another body, time or node than its hash covers",
  hash_changed: "has another hash than its content and the row after it say",
  link_changed: "names another row before it than its hash covers",
  sequence_changed: "has another number than its hash covers",
  sequence_gap: "is missing, though the row behind the gap continues from the row before it",
  reordered: "stands later in the log",
  inserted: "is a row that does not belong there",
  deleted: "is missing",
  rewritten: "was hashed anew after it had been vouched for",
  cut: "is missing with everything behind it, though it was vouched for",
  bad_signature: "has a checkpoint that nobody signed like this",
  unknown_key: "has a checkpoint of a key that is not known here",
} as const;

export type ChainFaultReason = keyof typeof CHAIN_FAULTS;

export interface ChainFault {
  readonly ok: false;
  readonly node: string;
  readonly reason: ChainFaultReason;
  /** The place in the chain of the first row that is known to be bad. */
  readonly seq: number;
  /**
   * The last row that is vouched for. Where a chain was hashed anew nothing between here and `seq` can be told from
   * good rows: one of them is the first that was changed.
   */
  readonly vouchedSeq: number;
  /** Line of the checkpoint export, from 1, where a checkpoint is at fault. */
  readonly line: number | undefined;
  /** The last row that is missing and was vouched for, where the end of a chain is. There may have been more. */
  readonly missingTo: number | undefined;
  readonly message: string;
}

export interface FaultPlace {
  readonly node: string;
  readonly seq: number;
  readonly vouchedSeq: number;
  readonly line?: number;
  readonly missingTo?: number;
}

export function chainFault(reason: ChainFaultReason, place: FaultPlace): ChainFault {
  const { node, seq, vouchedSeq, line, missingTo } = place;
  const where = line === undefined ? "" : ` (line ${line} of the export)`;
  const advice =
    reason === "unknown_key"
      ? "give the public key of that time"
      : `trust rows up to ${vouchedSeq}, and compare the rest with a backup`;
  return Object.freeze({
    ok: false,
    node,
    reason,
    seq,
    vouchedSeq,
    line,
    missingTo,
    message: `${said(reason, place)}${where}: ${advice}`,
  });
}

function said(reason: ChainFaultReason, { node, seq, missingTo = seq }: FaultPlace): string {
  if (missingTo <= seq) return `row ${seq} of node \`${node}\` ${CHAIN_FAULTS[reason]}`;
  return `rows ${seq} to ${missingTo} of node \`${node}\` are missing with everything behind them, though they were vouched for`;
}
