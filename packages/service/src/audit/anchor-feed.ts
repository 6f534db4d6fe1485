/**
 * What vouches for rows from outside their own chain: signed checkpoints of the node, and links of other nodes.
 * Every source is read once, in its own order, with one anchor of it in memory.
 */
import {
  type CheckpointKeys,
  type SignatureFault,
  type SignedCheckpoint,
  checkSignature,
  parseCheckpointLine,
} from "./checkpoint.ts";
import type { ChainHead } from "./event-chain.ts";

export type Feed<T> = AsyncIterable<T> | Iterable<T>;

export interface AnchorSources {
  readonly node: string;
  /** Lines of the node's own export, oldest first. */
  readonly checkpoints: Feed<string>;
  /** `all_nodes`: lines of other nodes stand between them, and are passed over. */
  readonly exportOf: "node" | "all_nodes";
  /** Those that the store itself keeps, as lines, oldest first. */
  readonly stored: Feed<string>;
  /** What other nodes say about this one; one feed per node, oldest first. */
  readonly links: readonly Feed<ChainHead>[];
  readonly keys: CheckpointKeys;
  /** Anchors up to here are about rows that retention removed. */
  readonly startSeq: number;
}

export interface AnchorFault {
  readonly reason: SignatureFault | "rewritten" | "cut" | "reordered";
  readonly line?: number;
  readonly missingTo?: number;
}

interface Source {
  readonly pull: () => Promise<Anchor | undefined>;
  next: Anchor | undefined;
}

interface Anchor {
  readonly kind: "checkpoint" | "link";
  readonly seq: number;
  readonly hash: string;
  /** Of the export; absent for a link and for what the store keeps. */
  readonly line?: number;
  readonly checkpoint?: SignedCheckpoint | undefined;
}

export class AnchorFeed {
  readonly #sources: readonly Source[];
  readonly #keys: CheckpointKeys;
  readonly #node: string;
  /** How many vouched for a row that was met. */
  checkpoints = 0;
  links = 0;
  /** Links that came too late to be compared: their row had passed. */
  linksPassed = 0;
  /** The next row that an anchor speaks of. */
  dueSeq = Number.POSITIVE_INFINITY;

  private constructor(node: string, keys: CheckpointKeys, sources: readonly Source[]) {
    this.#node = node;
    this.#keys = keys;
    this.#sources = sources;
  }

  static async open(from: AnchorSources): Promise<AnchorFeed> {
    const { checkpoints, stored, startSeq } = from;
    const isOther = ({ node }: SignedCheckpoint): boolean =>
      from.exportOf === "all_nodes" && node !== from.node;
    const isPassed = (checkpoint: SignedCheckpoint): boolean =>
      checkpoint.seq <= startSeq || isOther(checkpoint);
    const exportPull = checkpointPull(checkpoints, isPassed, (line) => ({ line }));
    const storePull = checkpointPull(stored, isPassed, () => ({}));
    const pulls = [exportPull, storePull, ...from.links.map((feed) => linkPull(feed, startSeq))];
    const sources = await Promise.all(pulls.map(async (pull) => ({ pull, next: await pull() })));
    const feed = new AnchorFeed(from.node, from.keys, sources);
    feed.#plan();
    return feed;
  }

  /** Compares a row with every anchor that is due. */
  async meet(head: ChainHead): Promise<AnchorFault | undefined> {
    for (const source of this.#sources) {
      for (; source.next !== undefined && source.next.seq <= head.seq; source.next = await source.pull()) {
        const problem = this.#compare(source.next, head);
        if (problem !== undefined) return problem;
      }
    }
    this.#plan();
    return undefined;
  }

  /** No row follows: whatever is left speaks of rows that are gone. */
  async finish(): Promise<AnchorFault | undefined> {
    const left = this.#sources.map(({ next }) => next).find((next) => next !== undefined);
    if (left === undefined) return undefined;
    const problem = this.#signatureFault(left);
    if (problem !== undefined) return problem;
    return { reason: "cut", ...lineOf(left), missingTo: await this.#lastVouched() };
  }

  /** The last of the rows that are gone which somebody vouched for. Reads what is left to its end. */
  async #lastVouched(): Promise<number> {
    let last = 0;
    for (const source of this.#sources) {
      for (; source.next !== undefined; source.next = await source.pull())
        if (source.next.seq > last && this.#signatureFault(source.next) === undefined) last = source.next.seq;
    }
    return last;
  }

  /** The hash that an anchor gives a row which is not met yet. */
  hashAt(seq: number): string | undefined {
    return this.#sources
      .map(({ next }) => next)
      .find((anchor) => anchor?.seq === seq && this.#signatureFault(anchor) === undefined)?.hash;
  }

  #compare(anchor: Anchor, head: ChainHead): AnchorFault | undefined {
    const problem = this.#signatureFault(anchor);
    if (problem !== undefined) return problem;
    if (anchor.seq < head.seq) {
      if (anchor.kind === "checkpoint") return { reason: "reordered", ...lineOf(anchor) };
      this.linksPassed++;
      return undefined;
    }
    if (anchor.hash !== head.hash) return { reason: "rewritten", ...lineOf(anchor) };
    if (anchor.kind === "link") this.links++;
    else this.checkpoints++;
    return undefined;
  }

  #signatureFault(anchor: Anchor): AnchorFault | undefined {
    const { kind, checkpoint } = anchor;
    if (kind === "link") return undefined;
    if (checkpoint === undefined || checkpoint.node !== this.#node)
      return { reason: "bad_signature", ...lineOf(anchor) };
    const reason = checkSignature(checkpoint, this.#keys);
    return reason === undefined ? undefined : { reason, ...lineOf(anchor) };
  }

  #plan(): void {
    this.dueSeq = Math.min(...this.#sources.map(({ next }) => next?.seq ?? Number.POSITIVE_INFINITY));
  }
}

function lineOf({ line }: Anchor): { readonly line?: number } {
  return line === undefined ? {} : { line };
}

function checkpointPull(
  lines: Feed<string>,
  isPassed: (checkpoint: SignedCheckpoint) => boolean,
  place: (line: number) => Pick<Anchor, "line">,
): Source["pull"] {
  const pull = puller(lines);
  let line = 0;
  return async () => {
    for (let text = await pull(); text !== undefined; text = await pull()) {
      line++;
      const checkpoint = parseCheckpointLine(text);
      const common = { kind: "checkpoint", checkpoint, ...place(line) } as const;
      // WHY: a line that cannot be read is due at once.
      if (checkpoint === undefined) return { ...common, seq: 0, hash: "" };
      if (!isPassed(checkpoint)) return { ...common, seq: checkpoint.seq, hash: checkpoint.hash };
    }
    return undefined;
  };
}

function linkPull(feed: Feed<ChainHead>, startSeq: number): Source["pull"] {
  const pull = puller(feed);
  return async () => {
    for (let link = await pull(); link !== undefined; link = await pull()) {
      if (link.seq > startSeq) return { kind: "link", seq: link.seq, hash: link.hash };
    }
    return undefined;
  };
}

/** One value after the other, `undefined` from the end on. */
export function puller<T>(feed: Feed<T>): () => Promise<T | undefined> {
  const iterator = Symbol.asyncIterator in feed ? feed[Symbol.asyncIterator]() : feed[Symbol.iterator]();
  return async () => {
    const step = await iterator.next();
    return step.done === true ? undefined : step.value;
  };
}
