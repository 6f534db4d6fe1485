/**
 * What persons with authority may see: requests, approvals, denials, rules, jobs, events. Keyset pages, so that rows
 * that arrive meanwhile never shift what is shown. Targets are masked where they are shown.
 */
import type { Approval, Denial, RequestRecord } from "@sallyport/contract";
import type {
  ApprovalFilter,
  EventCursor,
  EventFilter,
  EventRow,
  IdentityFilter,
  JobFilter,
  JobRow,
  Page,
  PageRequest,
  RequestFilter,
  RuleRow,
  StoreReader,
} from "@sallyport/store";
import { maskTarget } from "./audit/event-masking.ts";
import { readAs, readCounted, readRecorded, shownFilter } from "./authorized-read.ts";
import type { CallerContext } from "./caller-context.ts";
import { accessOfTuple } from "./coverage.ts";
import type { NodeParts } from "./node-parts.ts";
import { approvalRecord, denialRecord } from "./policy-rows.ts";
import { requestRecord } from "./request-record.ts";
import { shownJob } from "./shown-job.ts";
import { suggestWidenings } from "./widening/suggest-widening.ts";
import type { Suggestion } from "./widening/suggestion.ts";

const FIRST_PAGE: PageRequest = { limit: 50 };

export class Listing {
  readonly #parts: NodeParts;

  constructor(parts: NodeParts) {
    this.#parts = parts;
  }

  requests(
    caller: CallerContext,
    filter: RequestFilter = {},
    page: PageRequest = FIRST_PAGE,
  ): Promise<Page<RequestRecord>> {
    return readCounted(this.#parts, caller, async (tx) => {
      const { rows, next } = await tx.requests.list(filter, page);
      const records: RequestRecord[] = [];
      for (const row of rows)
        records.push(requestRecord(row, await tx.continuations.listOf(row.id), this.#parts));
      return { rows: records, next };
    });
  }

  /** `null` where there is none. */
  request(caller: CallerContext, id: string): Promise<RequestRecord | null> {
    return readCounted(this.#parts, caller, async (tx) => {
      const row = await tx.requests.get(id);
      return row === null ? null : requestRecord(row, await tx.continuations.listOf(id), this.#parts);
    });
  }

  /** What an approver may choose instead of the exact target, from narrow to wide. Empty where there is none. */
  widenings(caller: CallerContext, id: string): Promise<readonly Suggestion[]> {
    return this.#read(caller, async (tx) => {
      const row = await tx.requests.get(id);
      const access = row === null ? null : accessOfTuple(row, this.#parts);
      if (access === null || !access.ok) return [];
      const { resourceType } = access.value;
      const { parseUrl, maskingKey } = this.#parts;
      return suggestWidenings(access.value, {
        parseUrl,
        show: (text) => maskTarget(resourceType, text, maskingKey),
      });
    });
  }

  approvals(
    caller: CallerContext,
    filter: ApprovalFilter = {},
    page: PageRequest = FIRST_PAGE,
  ): Promise<Page<Approval>> {
    return this.#read(caller, async (tx) => {
      const { rows, next } = await tx.approvals.list(filter, page);
      return { rows: rows.map(approvalRecord), next };
    });
  }

  denials(
    caller: CallerContext,
    filter: IdentityFilter = {},
    page: PageRequest = FIRST_PAGE,
  ): Promise<Page<Denial>> {
    return this.#read(caller, async (tx) => {
      const { rows, next } = await tx.denials.list(filter, page);
      return { rows: rows.map(denialRecord), next };
    });
  }

  rules(caller: CallerContext): Promise<readonly RuleRow[]> {
    return this.#read(caller, (tx) => tx.rules.list());
  }

  jobs(caller: CallerContext, filter: JobFilter = {}, page: PageRequest = FIRST_PAGE): Promise<Page<JobRow>> {
    return this.#read(caller, async (tx) => {
      const { rows, next } = await tx.jobs.list(filter, page);
      return { rows: rows.map((row) => shownJob(this.#parts, row)), next };
    });
  }

  /** Everything that was recorded on this node before the call is in reach of it. */
  events(
    caller: CallerContext,
    filter: EventFilter = {},
    page: PageRequest<EventCursor> = { limit: 50 },
  ): Promise<Page<EventRow, EventCursor>> {
    const shown = shownFilter(this.#parts, filter);
    return readRecorded(this.#parts, caller, (tx) => tx.events.search(shown, page));
  }

  #read<T>(caller: CallerContext, work: (tx: StoreReader) => Promise<T>): Promise<T> {
    return readAs(this.#parts, caller, work);
  }
}
