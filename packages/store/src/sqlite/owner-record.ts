/**
 * Who owns a store, in a small file beside it. The record informs; the lock that SQLite itself holds decides, and
 * that one dies with its process. So a record of a dead owner means nothing and is simply written over.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import type { StoreOwner } from "../errors.ts";

const recordPath = (storePath: string): string => `${storePath}.owner`;

/** Only the owner may call this. */
export function writeOwner(storePath: string, version: string): void {
  const owner: StoreOwner = { pid: process.pid, host: hostname(), version, sinceMs: Date.now() };
  const { sinceMs, ...rest } = owner;
  const draft = `${recordPath(storePath)}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify({ ...rest, since_ms: sinceMs })}\n`, { mode: 0o600 });
  renameSync(draft, recordPath(storePath));
}

/** `null` where nobody has said so, or where the record cannot be read. */
export function readOwner(storePath: string): StoreOwner | null {
  try {
    const record = JSON.parse(readFileSync(recordPath(storePath), "utf8")) as Record<string, unknown>;
    const { pid, host, version, since_ms: sinceMs } = record;
    if (typeof pid !== "number" || typeof sinceMs !== "number") return null;
    if (typeof host !== "string" || typeof version !== "string") return null;
    return { pid, host, version, sinceMs };
  } catch {
    return null;
  }
}

export function removeOwner(storePath: string): void {
  rmSync(recordPath(storePath), { force: true });
}
