/**
 * Notifications that are to be delivered. What was asked for on this node becomes a row of the outbox together with the
 * place in the log that was read, so that nothing is told twice or forgotten across a crash; rows are tried again with
 * growing pauses and set aside in the end. At least once: a receiver tells repeats by the id.
 */
import { createHash } from "node:crypto";
import { type RequestRecord, eventWire } from "@sallyport/contract";
import type { AccessService, FollowCursor, Followed } from "@sallyport/service";
import type { EventRow, Json, RecordRow } from "@sallyport/store";
import { NOBODY } from "../sign-in/person.ts";
import { type Notice, type WebhookOptions, deliver, noticeBody } from "./webhook.ts";

export interface OutboxOptions {
  readonly service: AccessService;
  readonly webhooks: readonly WebhookOptions[];
  readonly origin: () => string;
  readonly nowMs: () => number;
  readonly closing: AbortSignal;
  readonly onFault: (error: unknown) => void;
  /** The first pause; doubles with every try. 5 seconds unless said. */
  readonly backoffMs?: number | undefined;
  readonly pollMs?: number | undefined;
}

export interface DeliveryBody {
  readonly webhook: string;
  /** What it tells of. Left out by older versions. */
  readonly request_id?: string | undefined;
  readonly body: string;
  readonly attempts: number;
  readonly last_error: string | null;
}

const ATTEMPTS_MAX = 12;
const BACKOFF_MAX_MS = 3_600_000;
const LEASE_MS = 30_000;
const CLAIM_LIMIT = 20;
const RETRY_MS = 1000;
const GIVEN_UP = "it was tried too often: the webhook takes no notifications";

export class Outbox {
  readonly #options: OutboxOptions;
  #wake: () => void = () => undefined;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Works until the server closes. INVARIANT: whatever is asked for once this has resolved is told. */
  async start(): Promise<void> {
    const { webhooks, onFault } = this.#options;
    if (webhooks.length === 0) return;
    let first = await this.#following().catch((error: unknown): undefined => onFault(error) as undefined);
    void this.#forever(async () => {
      const followed = first ?? (await this.#following());
      first = undefined;
      await this.#readLog(followed);
    });
    void this.#forever(() => this.#send());
  }

  async #forever(work: () => Promise<void>): Promise<void> {
    const { closing, onFault } = this.#options;
    while (!closing.aborted) {
      try {
        await work();
      } catch (error) {
        if (!closing.aborted) onFault(error);
        await this.#pause(RETRY_MS);
      }
    }
  }

  /** New requests of this node. WHY only this node: every node tells of its own, and each once. */
  async #following(): Promise<AsyncGenerator<Followed>> {
    const { service, closing } = this.#options;
    const { overview } = service;
    const { nodeId } = overview;
    const place = await overview.readRecords((records) => records.get("delivery", placeId(nodeId)));
    const after = place === null ? "now" : (place.body as unknown as FollowCursor);
    const filter = { node: nodeId, type: "permission.requested" };
    return overview.follow({ after, filter, signal: closing });
  }

  async #readLog(following: AsyncGenerator<Followed>): Promise<void> {
    for await (const followed of following) {
      if (followed.kind !== "event") continue;
      await this.#keep(followed.event, followed.cursor);
      this.#wake();
    }
  }

  async #keep(event: EventRow, cursor: FollowCursor): Promise<void> {
    const { service, webhooks, origin, nowMs } = this.#options;
    const notice = noticeOf(event);
    const createdMs = nowMs();
    await service.overview.writeRecords(async (records) => {
      const id = placeId(event.node);
      const place = {
        kind: "delivery",
        id,
        body: cursor as unknown as Json,
        createdMs,
        dueMs: null,
      } as const;
      if (!(await records.insert(place))) {
        const known = await records.get("delivery", id);
        if (known !== null) await records.replace({ ...known, body: place.body });
      }
      if (notice === null) return;
      for (const webhook of webhooks) {
        const body = noticeBody(webhook, notice, origin());
        await records.insert({
          kind: "delivery",
          id: deliveryId(webhook, event),
          body: {
            webhook: webhook.id,
            request_id: notice.request.id,
            body,
            attempts: 0,
            last_error: null,
          },
          createdMs,
          dueMs: createdMs,
        });
      }
    });
  }

  async #send(): Promise<void> {
    const { service, nowMs, pollMs = 5000 } = this.#options;
    const claim = { nowMs: nowMs(), untilMs: nowMs() + LEASE_MS, limit: CLAIM_LIMIT };
    const due = await service.overview.writeRecords((records) => records.claimDue("delivery", claim));
    await Promise.all(due.map((row) => this.#tryOne(row)));
    if (due.length < CLAIM_LIMIT) await this.#pause(pollMs);
  }

  async #tryOne(row: RecordRow): Promise<void> {
    const { service, webhooks, nowMs, backoffMs = 5000 } = this.#options;
    const delivery = row.body as unknown as DeliveryBody;
    const webhook = webhooks.find(({ id }) => id === delivery.webhook);
    const fault =
      webhook === undefined
        ? "the webhook is not configured any more"
        : await deliver(webhook, row.id, delivery.body, nowMs());
    if (fault === null) {
      await service.overview.writeRecords((records) => records.remove("delivery", row.id));
      return;
    }
    const attempts = delivery.attempts + 1;
    const body = { ...delivery, attempts, last_error: fault };
    if (attempts >= ATTEMPTS_MAX) {
      await this.#giveUp({ ...row, body, dueMs: null }, delivery.webhook);
      return;
    }
    const pauseMs = Math.min(BACKOFF_MAX_MS, backoffMs * 2 ** (attempts - 1));
    await service.overview.writeRecords((records) =>
      records.replace({ ...row, body, dueMs: nowMs() + pauseMs }),
    );
  }

  /** On record with the row, so that whoever watches, on any node, hears of it. */
  async #giveUp(row: RecordRow, webhook: string): Promise<void> {
    const after = { webhook, attempts: ATTEMPTS_MAX };
    await this.#options.service.overview.act(NOBODY, "give_up_delivery", async ({ records }) =>
      (await records.replace(row)) ? { value: row.id, reason: GIVEN_UP, before: { webhook }, after } : null,
    );
  }

  #pause(ms: number): Promise<void> {
    const { closing } = this.#options;
    if (closing.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        closing.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, ms).unref();
      this.#wake = done;
      closing.addEventListener("abort", done, { once: true });
    });
  }
}

/** `null` for what this version does not understand. */
function noticeOf({ body, timeMs }: EventRow): Notice | null {
  const event = eventWire.parse(JSON.parse(body));
  if (!event.ok || event.value.type !== "permission.requested") return null;
  const request: RequestRecord = event.value.data.request;
  return { id: event.value.id, request, createdMs: timeMs };
}

/** WHY hashed: an id has one form, and the fields stay apart in what is hashed. */
const idOf = (...fields: readonly (string | number)[]): string =>
  createHash("sha256").update(JSON.stringify(fields)).digest("hex");
const placeId = (node: string): string => idOf("place", node);
const deliveryId = (webhook: WebhookOptions, { node, seq }: EventRow): string =>
  idOf("delivery", webhook.id, node, seq);
