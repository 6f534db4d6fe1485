/**
 * The audit log as a chain: a row is one event as canonical JSON, bound by its hash to its node, its place and the
 * row before. Rows of a node form one chain; links to the heads of other nodes are part of the event's own text.
 * Trusts the caller for the head. A chain alone does not stop somebody who hashes it anew: checkpoints do.
 */
import { hash } from "node:crypto";
import { type AccessEvent, eventWire } from "@sallyport/contract";
import { FieldWriter } from "../framing/field-writer.ts";
import { canonical } from "./canonical-json.ts";

/** Changes with anything that enters the hash. */
export const CHAIN_FORMAT = 1;
const DOMAIN = "sallyport.audit.row";

/** Stands where the first row has no row before it. */
export const GENESIS_HASH = "0".repeat(64);

/** A CloudEvents 1.0 envelope in wire form. */
export type EventEnvelope = ReturnType<typeof eventWire.format>;

/** The newest row of a chain. */
export interface ChainHead {
  readonly node: string;
  /** 0: the chain has no row yet. */
  readonly seq: number;
  readonly hash: string;
}

export interface EventRow {
  readonly node: string;
  /** From 1, without gaps. */
  readonly seq: number;
  readonly time: string;
  readonly previousHash: string;
  /** Canonical JSON of the envelope. */
  readonly body: string;
  /** Lower-case hex. */
  readonly hash: string;
}

export function genesisOf(node: string): ChainHead {
  return Object.freeze({ node, seq: 0, hash: GENESIS_HASH });
}

export function headOf({ node, seq, hash: rowHash }: ChainHead): ChainHead {
  return Object.freeze({ node, seq, hash: rowHash });
}

/** The row that follows a head. `links`: heads of other nodes that this row vouches for. */
export function nextRow(head: ChainHead, event: EventEnvelope, links: readonly ChainHead[] = []): EventRow {
  const row = {
    node: head.node,
    seq: head.seq + 1,
    time: event.time,
    previousHash: head.hash,
    body: bodyOf(event, links),
    hash: "",
  };
  row.hash = hashRow(row);
  return Object.freeze(row);
}

const writer = new FieldWriter();

export function hashRow({ node, seq, time, previousHash, body }: Omit<EventRow, "hash">): string {
  writer.begin(DOMAIN);
  writer.integer(CHAIN_FORMAT);
  writer.text(node);
  writer.integer(seq);
  writer.text(time);
  writer.text(previousHash);
  writer.text(body);
  return hash("sha256", writer.bytes(), "hex");
}

export type EventOfRow =
  | { readonly ok: true; readonly event: AccessEvent; readonly links: readonly ChainHead[] }
  | { readonly ok: false; readonly message: string };

/** Reads a row's body again. Says nothing about the chain: verify that first. */
export function eventOfRow(row: Pick<EventRow, "body">): EventOfRow {
  const envelope = parsedObject(row.body);
  if (envelope === undefined)
    return { ok: false, message: "the body is not a JSON object: verify the chain" };
  const { crosslinks, ...event } = envelope;
  const links = linksOfText(crosslinks);
  const read = eventWire.parse(event);
  if (!read.ok || links === undefined) {
    const pointer = read.ok ? "/crosslinks" : (read.faults[0]?.pointer ?? "");
    return { ok: false, message: `the body is no event at \`${pointer}\`: verify the chain` };
  }
  return { ok: true, event: read.value, links };
}

/** What the rows of another node say about this one, in their order. For `verifyChain`. */
export async function* linksTo(
  node: string,
  rows: AsyncIterable<EventRow> | Iterable<EventRow>,
): AsyncGenerator<ChainHead> {
  for await (const { body } of rows) {
    // WHY: canonical JSON sorts its keys, so that most rows are told by their first bytes.
    if (!body.startsWith(LINKED_BODY)) continue;
    const links = linksOfText(parsedObject(body)?.["crosslinks"]) ?? [];
    for (const link of links) if (link.node === node) yield link;
  }
}

const LINKED_BODY = '{"crosslinks":';

/**
 * WHY text inside JSON: an extension attribute of CloudEvents has no structured values, and the row's body shall
 * stay an envelope that any consumer can take.
 */
function bodyOf(event: EventEnvelope, links: readonly ChainHead[]): string {
  if (links.length === 0) return canonical(event);
  const crosslinks = canonical(links.map(({ node, seq, hash: linked }) => ({ node, seq, hash: linked })));
  return canonical({ ...event, crosslinks });
}

function linksOfText(text: unknown): readonly ChainHead[] | undefined {
  if (text === undefined) return [];
  const links = typeof text === "string" ? parsed(text) : undefined;
  return Array.isArray(links) && links.every(isHead) ? links : undefined;
}

export function isHead(value: unknown): value is ChainHead {
  if (typeof value !== "object" || value === null) return false;
  const { node, seq, hash: linked } = value as Partial<Record<keyof ChainHead, unknown>>;
  return typeof node === "string" && Number.isSafeInteger(seq) && (seq as number) >= 0 && isHash(linked);
}

export function isHash(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
}

function parsedObject(text: string): Record<string, unknown> | undefined {
  const value = parsed(text);
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as Record<string, unknown>) : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
