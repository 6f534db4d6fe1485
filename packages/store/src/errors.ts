/**
 * What can go wrong with a store, in words that say what to do next.
 * Driver errors stop here: their text is kept in `detail` for logs of the host, never in the message.
 */

/** Whether the transaction that failed took effect. `unknown`: the connection ended while it was committed. */
export type Applied = "no" | "unknown";

export class StoreUnavailableError extends Error {
  override readonly name = "StoreUnavailableError";
  readonly code = "unavailable";
  readonly applied: Applied;
  /** The driver's own code, such as `SQLITE_FULL` or `57P01`; never its text. */
  readonly driverCode: string | null;

  constructor(
    message: string,
    facts: { readonly applied?: Applied; readonly driverCode?: string | null } = {},
  ) {
    super(message);
    this.applied = facts.applied ?? "no";
    this.driverCode = facts.driverCode ?? null;
  }
}

/** Who holds a SQLite store. */
export interface StoreOwner {
  readonly pid: number;
  readonly host: string;
  readonly version: string;
  readonly sinceMs: number;
}

export class StoreOwnedError extends Error {
  override readonly name = "StoreOwnedError";
  readonly code = "store_owned";
  /** `null` where the owner has not said who it is. */
  readonly owner: StoreOwner | null;

  constructor(path: string, owner: StoreOwner | null) {
    const who =
      owner === null
        ? "another process"
        : `process ${owner.pid} on \`${owner.host}\` (version ${owner.version}, since ${new Date(owner.sinceMs).toISOString()})`;
    super(
      `the store \`${path}\` is owned by ${who}: speak to that process, or stop it and open the store again`,
    );
    this.owner = owner;
  }
}

/** A row with this key exists, or a row that it refers to does not. */
export class StoreConflictError extends Error {
  override readonly name = "StoreConflictError";
  readonly code = "store_conflict";
}

/** A value that no engine could give back exactly. */
export class StoreValueError extends Error {
  override readonly name = "StoreValueError";
  readonly code = "store_value";
}

/** A call in the wrong place: nested, after the end, a page that is too long. */
export class StoreUsageError extends Error {
  override readonly name = "StoreUsageError";
  readonly code = "store_usage";
}

/** The store was written by another version of Sallyport. */
export class StoreSchemaError extends Error {
  override readonly name = "StoreSchemaError";
  readonly code = "store_schema";
  readonly found: number;
  readonly supported: number;

  constructor(found: number, supported: number) {
    super(
      `the store has schema ${found} and this version knows ${supported}: run the newer Sallyport, or restore a backup that was made before the upgrade`,
    );
    this.found = found;
    this.supported = supported;
  }
}
