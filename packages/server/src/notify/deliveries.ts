/**
 * The outbox as a person sees it: what waits, what was given up, and another chance for the latter. Shows neither the URL
 * of a webhook nor what was to be said: both may hold what is not for everybody who may look.
 */
import type { CallerContext, Timestamp } from "@sallyport/contract";
import type { AdminDeliveryFilter, DeliveryView } from "@sallyport/contract/admin";
import type { Overview } from "@sallyport/service";
import type { Json, Page, PageRequest, RecordRow } from "@sallyport/store";
import { Problem } from "../problem.ts";
import type { DeliveryBody } from "./outbox.ts";

export interface DeliveriesParts {
  readonly overview: Overview;
  /** Of the webhooks that the host has now. */
  readonly webhookIds: ReadonlySet<string>;
  readonly nowMs: () => number;
}

const READ_LIMIT = 500;

export class Deliveries {
  readonly #parts: DeliveriesParts;

  constructor(parts: DeliveriesParts) {
    this.#parts = parts;
  }

  async list(
    caller: CallerContext,
    { state }: AdminDeliveryFilter,
    page: PageRequest,
  ): Promise<Page<DeliveryView>> {
    const { overview } = this.#parts;
    await overview.authorize(caller);
    const found: DeliveryView[] = [];
    let after = page.after;
    for (;;) {
      const at = after;
      const { rows, next } = await overview.readRecords((records) =>
        records.list("delivery", { ...page, after: at, limit: READ_LIMIT }),
      );
      for (const row of rows) {
        const view = this.#view(row);
        if (view === null || (state !== undefined && view.state !== state)) continue;
        // WHY only then: one more is there, so that the place behind the last is worth giving.
        if (found.length === page.limit) return { rows: found, next: placeOf(found) };
        found.push(view);
      }
      if (next === null) return { rows: found, next: null };
      after = next;
    }
  }

  /** From the first try on, at once. What still waits is left as it is. */
  async retry(caller: CallerContext, id: string, reason: string | undefined): Promise<DeliveryView> {
    const { overview, nowMs } = this.#parts;
    const view = await overview.act(caller, "retry_delivery", async ({ records }) => {
      const row = await records.get("delivery", id);
      const body = row === null ? null : deliveryBody(row);
      if (row === null || body === null || row.dueMs !== null) return null;
      const again = { ...row, body: { ...body, attempts: 0 } as unknown as Json, dueMs: nowMs() };
      if (!(await records.replace(again))) return null;
      const before = { webhook: body.webhook, attempts: body.attempts, last_error: body.last_error };
      return { value: this.#view(again), reason, before, after: { webhook: body.webhook, attempts: 0 } };
    });
    if (view === null)
      throw new Problem({
        code: "not_found",
        detail: "no notification of that id was given up: it was delivered, is tried again, or never was",
      });
    return view;
  }

  /** `null`: the row is the outbox's own place in the log. */
  #view(row: RecordRow): DeliveryView | null {
    const body = deliveryBody(row);
    if (body === null) return null;
    return Object.freeze({
      id: row.id,
      webhook: body.webhook,
      configured: this.#parts.webhookIds.has(body.webhook),
      requestId: (body.request_id ?? null) as DeliveryView["requestId"],
      state: row.dueMs === null ? "given_up" : "waiting",
      attempts: body.attempts,
      lastError: body.last_error,
      createdAt: timestamp(row.createdMs),
      nextAt: row.dueMs === null ? null : timestamp(row.dueMs),
    });
  }
}

function deliveryBody({ body }: RecordRow): DeliveryBody | null {
  return Array.isArray(body) ? null : (body as unknown as DeliveryBody);
}

const placeOf = (found: readonly DeliveryView[]): Page<DeliveryView>["next"] => {
  const last = found.at(-1);
  return last === undefined ? null : { timeMs: Date.parse(last.createdAt), id: last.id };
};

const timestamp = (ms: number): Timestamp => new Date(ms).toISOString() as Timestamp;
