/**
 * The log as it grows, on every node. A place in it is one number per chain: chains have no gaps and one writer each, so
 * that no event is missed or told twice, whatever the clocks of the nodes say. Reads pages when its reader asks for more
 * and holds one page at most, however slow that reader is.
 */
import type { EventFilter, EventRow } from "@sallyport/store";
import type { NodeParts } from "./node-parts.ts";

/** The last row of a chain that was told. */
export interface ChainPosition {
  readonly node: string;
  readonly seq: number;
}

/** Give it back to go on behind it. Chains that it does not name are told from their beginning. */
export type FollowCursor = readonly ChainPosition[];

export type Followed =
  | { readonly kind: "event"; readonly event: EventRow; readonly cursor: FollowCursor }
  /** Rows that were removed by retention before they could be told. */
  | {
      readonly kind: "removed";
      readonly node: string;
      readonly fromSeq: number;
      readonly toSeq: number;
      readonly cursor: FollowCursor;
    };

export interface FollowWords {
  /** `now` unless said. */
  readonly after?: FollowCursor | "start" | "now" | undefined;
  readonly filter?: EventFilter | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How often other nodes are looked at; 500 unless said. This node's own events are told at once. */
  readonly pollMs?: number | undefined;
  readonly pageRows?: number | undefined;
}

const POLL_MS = 500;
const PAGE_ROWS = 200;

/** INVARIANT: `now` is when this resolves: what is written after that is told, whenever the first one is asked for. */
export async function followEvents(parts: NodeParts, words: FollowWords): Promise<AsyncGenerator<Followed>> {
  return followFrom(parts, words, await startingPlaces(parts, words.after ?? "now"));
}

async function* followFrom(
  parts: NodeParts,
  words: FollowWords,
  places: Map<string, number>,
): AsyncGenerator<Followed> {
  const { store, audit } = parts;
  const ended = AbortSignal.any([audit.ended, ...(words.signal === undefined ? [] : [words.signal])]);
  const limit = words.pageRows ?? PAGE_ROWS;
  const growth = new Growth(parts, ended, words.pollMs ?? POLL_MS);
  try {
    while (!ended.aborted) {
      growth.arm();
      const heads = await store.read((tx) => tx.events.heads());
      let isQuiet = true;
      for (const { node, seq: to } of heads) {
        const told = places.get(node) ?? 0;
        if (to <= told) continue;
        isQuiet = false;
        const rows = await store.read((tx) => tx.events.range(node, { from: told + 1, to, limit }));
        for (const event of rows) {
          if (ended.aborted) return;
          const expected = (places.get(node) ?? 0) + 1;
          places.set(node, event.seq);
          const cursor = cursorOf(places);
          if (event.seq > expected)
            yield { kind: "removed", node, fromSeq: expected, toSeq: event.seq - 1, cursor };
          if (isWanted(event, words.filter)) yield { kind: "event", event, cursor };
        }
      }
      if (isQuiet) await growth.wait();
    }
  } finally {
    growth.end();
  }
}

async function startingPlaces(
  { store }: NodeParts,
  after: FollowCursor | "start" | "now",
): Promise<Map<string, number>> {
  if (typeof after !== "string") return new Map(after.map(({ node, seq }) => [node, seq]));
  return store.read(async (tx) => {
    const places = new Map<string, number>();
    for (const { node, seq } of await tx.events.heads()) {
      const first = after === "start" ? await tx.events.firstOf(node) : null;
      places.set(node, first === null ? seq : first.seq - 1);
    }
    return places;
  });
}

function cursorOf(places: ReadonlyMap<string, number>): FollowCursor {
  return Object.freeze([...places].map(([node, seq]) => Object.freeze({ node, seq })));
}

/** Sleeps until this node wrote something, the others are due to be looked at, or nobody follows any more. */
class Growth {
  readonly #pollMs: number;
  readonly #ended: AbortSignal;
  readonly #unlisten: () => void;
  #hasGrown = false;
  #wake: () => void = () => undefined;

  constructor({ audit }: NodeParts, ended: AbortSignal, pollMs: number) {
    this.#pollMs = pollMs;
    this.#ended = ended;
    this.#unlisten = audit.onAppend(this.#grown);
    ended.addEventListener("abort", this.#grown);
  }

  /** What is written from now on ends the next wait. */
  arm(): void {
    this.#hasGrown = false;
  }

  wait(): Promise<void> {
    if (this.#hasGrown || this.#ended.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(this.#grown, this.#pollMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  end(): void {
    this.#unlisten();
    this.#ended.removeEventListener("abort", this.#grown);
  }

  readonly #grown = (): void => {
    this.#hasGrown = true;
    this.#wake();
  };
}

const FIELDS = [
  "node",
  "type",
  "subjectType",
  "subjectName",
  "resourceType",
  "operation",
  "target",
  "organizationId",
  "userId",
  "sessionKey",
  "taskId",
  "requestId",
  "decision",
  "decisionSource",
  "code",
] as const satisfies readonly (keyof EventFilter & keyof EventRow)[];

/** The same question that a search asks the store. */
function isWanted(event: EventRow, filter: EventFilter = {}): boolean {
  const { fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY } = filter;
  if (event.timeMs < fromMs || event.timeMs >= toMs) return false;
  return FIELDS.every((field) => filter[field] === undefined || filter[field] === event[field]);
}
