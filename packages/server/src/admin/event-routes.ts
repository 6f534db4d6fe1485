/** The audit log: search, follow, export, verify, counts over time; and the stream that says that something changed. */
import type { Timestamp } from "@sallyport/contract";
import {
  type AdminQuery,
  doneWire,
  eventPageWire,
  eventStatsWire,
  followedWire,
  liveChangeWire,
  reasonWire,
  verifyViewWire,
} from "@sallyport/contract/admin";
import type { AccessService, FollowCursor, Followed } from "@sallyport/service";
import type { EventFilter, EventRow } from "@sallyport/store";
import { ANSWER_HEADERS, malformed } from "../problem.ts";
import { type AdminCall, type AdminRoutes, cursorText, filterOf, pageAnswer, pageOf } from "./admin-call.ts";
import type { LiveHub } from "./live-hub.ts";
import { timestampOr } from "./policy-routes.ts";
import { type Followers, eventStream } from "./sse.ts";

export interface EventRouteParts {
  readonly service: AccessService;
  readonly followers: Followers;
  readonly hub: LiveHub;
  readonly closing: AbortSignal;
  /** Whether the call would still be answered. */
  readonly isWelcome: (call: AdminCall) => Promise<boolean>;
}

const FOLLOW_CURSOR_MAX = 16_384;
const HOUR_MS = 3_600_000;

export function eventRoutes(parts: EventRouteParts): AdminRoutes {
  const { service, hub } = parts;
  const { overview } = service;
  return [
    {
      method: "GET",
      path: "/events",
      summary: "Search the audit log",
      scope: "events",
      query: "events",
      answer: eventPageWire,
      handle: async ({ caller, query }) => {
        const { rows, next } = await service.list.events(caller, filterOf(query), pageOf(query));
        return pageAnswer({ rows: rows.map(eventView), next });
      },
    },
    {
      method: "GET",
      path: "/events/follow",
      summary: "Follow the audit log",
      scope: "events",
      query: "follow",
      answer: followedWire,
      stream: "events",
      handle: async (call) => {
        const after = followPlace(call.query);
        const filter = eventFilter(call.query);
        // INVARIANT: authority is asked before the stream begins.
        await overview.authorize(call.caller);
        return stream(parts, call, (signal) => followed(service, call, { after, filter, signal }));
      },
    },
    {
      method: "GET",
      path: "/live",
      summary: "Says that something changed, never what",
      scope: "events",
      answer: liveChangeWire,
      stream: "events",
      handle: async (call) => {
        await overview.authorize(call.caller);
        return stream(parts, call, (signal) => hub.follow(signal));
      },
    },
    ...logRoutes(service),
  ];
}

function logRoutes({ trail, overview }: AccessService): AdminRoutes {
  return [
    {
      method: "GET",
      path: "/events/export",
      summary: "The whole log as JSON lines that can be verified alone",
      scope: "events",
      answer: doneWire,
      stream: "lines",
      handle: async ({ caller }) => linesResponse(await trail.export(caller)),
    },
    {
      method: "POST",
      path: "/events/verify",
      summary: "Verify every chain of the log",
      body: reasonWire,
      answer: verifyViewWire,
      handle: async ({ caller }) => {
        const report = await trail.verify(caller);
        if (!report.ok)
          return { ok: false, message: report.message, node: report.node, seq: report.seq, rows: null };
        const rows = report.chains.reduce((sum, chain) => sum + chain.rows, 0);
        const message = `${counted(rows, "row")} of ${counted(report.chains.length, "chain")} hold`;
        return { ok: true, message, node: null, seq: null, rows };
      },
    },
    {
      method: "GET",
      path: "/events/stats",
      summary: "Decisions over time",
      scope: "events",
      query: "stats",
      answer: eventStatsWire,
      handle: async ({ caller, query }) => {
        const { bucketMs: given, ...filter } = query;
        const bucketMs = typeof given === "number" ? given : HOUR_MS;
        const counts = await overview.eventStats(caller, filter, bucketMs);
        const buckets = counts.map(({ fromMs, decision, count }) => ({
          from: timestampOr(fromMs),
          decision,
          count,
        }));
        return { bucketMs, buckets };
      },
    },
  ];
}

function stream(
  { followers, closing, isWelcome }: EventRouteParts,
  call: AdminCall,
  source: (signal: AbortSignal) => AsyncIterable<string>,
): Response {
  const left = followers.enter(call.caller.user?.id ?? "");
  const signals = [call.gone(), closing];
  return eventStream(source, {
    beatMs: followers.beatMs,
    signals,
    isWelcome: () => isWelcome(call),
    left,
  });
}

async function* followed(
  { trail }: AccessService,
  { caller }: AdminCall,
  words: {
    readonly after: FollowCursor | "start" | "now";
    readonly filter: EventFilter;
    readonly signal: AbortSignal;
  },
): AsyncGenerator<string> {
  for await (const one of await trail.follow(caller, words)) yield followedText(one);
}

function followedText(one: Followed): string {
  const cursor = cursorText(one.cursor);
  const view =
    one.kind === "event"
      ? { kind: one.kind, event: eventView(one.event), cursor }
      : { kind: one.kind, node: one.node, fromSeq: one.fromSeq, toSeq: one.toSeq, cursor };
  return JSON.stringify(followedWire.format(view as never));
}

function followPlace({ after }: AdminQuery): FollowCursor | "start" | "now" {
  if (after === undefined || after === "now") return "now";
  if (after === "start") return "start";
  const place = typeof after === "string" && after.length <= FOLLOW_CURSOR_MAX ? placeIn(after) : undefined;
  if (place === undefined) throw malformed("`after` is not a place that this server gave");
  return place;
}

function placeIn(text: string): FollowCursor | undefined {
  try {
    const place: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    if (!Array.isArray(place)) return undefined;
    const chains = place as readonly { readonly node?: unknown; readonly seq?: unknown }[];
    const isPlace = chains.every(
      (chain) => typeof chain?.node === "string" && Number.isSafeInteger(chain.seq),
    );
    return isPlace ? (chains as FollowCursor) : undefined;
  } catch {
    return undefined;
  }
}

const eventFilter = ({ after: _after, ...filter }: AdminQuery): EventFilter => filter;

export function eventView(row: EventRow): object {
  const { timeMs, prevHash: _previous, hash, ...columns } = row;
  return { ...columns, time: timestampOr(timeMs) as Timestamp, hash: Buffer.from(hash).toString("hex") };
}

/** Waits where the reader is slow. */
function linesResponse(lines: AsyncGenerator<string>): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { done, value } = await lines.next();
      if (done === true) controller.close();
      else controller.enqueue(encoder.encode(`${value}\n`));
    },
    cancel: async () => {
      await lines.return(undefined);
    },
  });
  return new Response(body, {
    headers: {
      ...ANSWER_HEADERS,
      "content-type": "application/jsonl",
      "content-disposition": 'attachment; filename="sallyport-events.jsonl"',
    },
  });
}

const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? "" : "s"}`;
