/**
 * Pages of the administration API: rows and an opaque cursor. A cursor is the server's own text; whoever gets one gives
 * it back as it came.
 */
import { z } from "zod";

export const ADMIN_PAGE_LIMIT_MAX = 500;
export const ADMIN_PAGE_LIMIT = 50;
/** Three ids of a host and a moment fit. */
export const CURSOR_LENGTH_MAX = 4096;

const cursorSchema = z.string().min(1).max(CURSOR_LENGTH_MAX);

/** `next` is null on the last page. */
export function pageSchema<Row extends z.ZodType>(row: Row) {
  return z.strictObject({
    rows: z.array(row).max(10_000),
    next: cursorSchema.nullable(),
  });
}

/** What a list is asked with. */
export interface AdminPageRequest {
  /** 1 to 500; 50 unless said. */
  readonly limit?: number | undefined;
  /** `next` of the page before. */
  readonly after?: string | undefined;
  /** `newest` unless said. */
  readonly order?: "newest" | "oldest" | undefined;
}

export interface AdminPage<Row> {
  readonly rows: readonly Row[];
  /** `null` on the last page. */
  readonly next: string | null;
}
