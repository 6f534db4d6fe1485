/**
 * Tokens of persons for scripts: random, told once, kept as a hash, for a while, for a part of what can be read.
 * A token stands for the person who made it as they stand now; of a local account that was disabled, or whose password
 * changed, it is worth nothing.
 * INVARIANT: a token reads. Whoever brings one decides nothing, changes nothing and makes no other token.
 */
import type { CallerContext, Timestamp } from "@sallyport/contract";
import type { MadeToken, TokenScope, TokenView, TokenWords } from "@sallyport/contract/admin";
import type { Overview } from "@sallyport/service";
import type { Json, Page, PageRequest, RecordRow } from "@sallyport/store";
import { Problem } from "../problem.ts";
import type { Accounts } from "./accounts.ts";
import type { HeldRecords } from "./held-records.ts";
import { type Person, type PersonFacts, personCaller } from "./person.ts";
import { newToken, tokenId } from "./secret-token.ts";

const PREFIX = "sallyport_";
const TOKEN = /^sallyport_[A-Za-z0-9_-]{43}$/;
/** WHY not at every call: a moment's use is not worth a write. */
const TOUCH_MS = 60_000;
const READ_LIMIT = 500;

/** Kept beside sign-ins, which it is a lesser kind of. */
interface TokenBody {
  readonly kind: "token";
  readonly name: string;
  readonly scopes: readonly TokenScope[];
  readonly facts: PersonFacts;
  readonly account: { readonly name: string; readonly epoch: number } | null;
  readonly seen_ms: number | null;
}

export interface TokenCaller {
  readonly caller: CallerContext;
  readonly scopes: readonly TokenScope[];
}

export interface PersonTokenParts {
  readonly overview: Overview;
  readonly accounts: Accounts;
  readonly held: HeldRecords;
  readonly nowMs: () => number;
  /** Of a person whom a provider vouched for: its word is not taken for longer. */
  readonly vouchedMs: number;
}

export const isPersonToken = (text: string | undefined): text is string =>
  text !== undefined && TOKEN.test(text);

export class PersonTokens {
  readonly #parts: PersonTokenParts;

  constructor(parts: PersonTokenParts) {
    this.#parts = parts;
  }

  /** `null`: no live token. */
  async byToken(text: string): Promise<TokenCaller | null> {
    const { held, accounts, nowMs } = this.#parts;
    const id = tokenId(text);
    const row = await held.get(id);
    const body = row === null ? null : tokenBody(row);
    if (row === null || body === null || row.dueMs === null || row.dueMs <= nowMs()) return null;
    const facts = await accounts.factsNow(body);
    if (facts === null) return null;
    if (nowMs() - (body.seen_ms ?? 0) >= TOUCH_MS) await this.#touch(row, body);
    return { caller: personCaller(facts), scopes: body.scopes };
  }

  async make(person: Person, { name, scopes, ttlMs }: TokenWords): Promise<MadeToken> {
    const { overview, accounts, nowMs, vouchedMs } = this.#parts;
    const { facts, way, caller } = person;
    const token = `${PREFIX}${newToken()}`;
    const createdMs = nowMs();
    const lastsMs = way === "oidc" || way === "host" ? Math.min(ttlMs, vouchedMs) : ttlMs;
    const account = await accounts.ofPerson(facts);
    const body: TokenBody = { kind: "token", name, scopes: [...scopes], facts, account, seen_ms: null };
    const record = {
      kind: "sign_in",
      id: tokenId(token),
      body: body as unknown as Json,
      createdMs,
      dueMs: createdMs + lastsMs,
    } as const;
    const view = viewOf({ ...record, version: 1 }, body);
    await overview.act(caller, "issue_token", async ({ records }) => {
      await records.insert(record);
      return { value: true, before: null, after: shown(view) };
    });
    return { token, view };
  }

  /** Those that are alive. */
  async list(page: PageRequest): Promise<Page<TokenView>> {
    const { overview, nowMs } = this.#parts;
    const found: TokenView[] = [];
    let after = page.after;
    for (;;) {
      const at = after;
      const { rows, next } = await overview.readRecords((records) =>
        records.list("sign_in", { ...page, after: at, limit: READ_LIMIT }),
      );
      for (const row of rows) {
        const body = tokenBody(row);
        if (body === null || (row.dueMs ?? 0) <= nowMs()) continue;
        // WHY only then: one more is there, so that the place behind the last is worth giving.
        if (found.length === page.limit) return { rows: found, next: placeOf(found) };
        found.push(viewOf(row, body));
      }
      if (next === null) return { rows: found, next: null };
      after = next;
    }
  }

  async revoke(caller: CallerContext, id: string, reason: string | undefined): Promise<void> {
    const gone = await this.#parts.overview.act(caller, "revoke_token", async ({ records }) => {
      const row = await records.get("sign_in", id);
      const body = row === null ? null : tokenBody(row);
      if (row === null || body === null) return null;
      await records.remove("sign_in", id);
      return { value: true, reason, before: shown(viewOf(row, body)), after: null, isTakenBack: true };
    });
    this.#parts.held.forget(id);
    if (gone === null) throw new Problem({ code: "not_found", detail: "there is no such token" });
  }

  async #touch(row: RecordRow, body: TokenBody): Promise<void> {
    const { overview, held, nowMs } = this.#parts;
    const seen = { ...body, seen_ms: nowMs() };
    // WHY whatever comes of it: somebody else touched it a moment ago, or revoked it, and that stands.
    await overview.writeRecords((records) => records.replace({ ...row, body: seen as unknown as Json }));
    held.forget(row.id);
  }
}

/** `null`: the record is a sign-in of another kind. */
function tokenBody({ body }: RecordRow): TokenBody | null {
  const read = body as unknown as TokenBody;
  return read.kind === "token" ? read : null;
}

function viewOf({ id, createdMs, dueMs }: RecordRow, body: TokenBody): TokenView {
  const { name, scopes, facts, seen_ms: seenMs } = body;
  return Object.freeze({
    id,
    name,
    scopes: [...scopes],
    userId: facts.id as TokenView["userId"],
    userName: facts.name,
    createdAt: timestamp(createdMs),
    expiresAt: timestamp(dueMs ?? 0),
    lastUsedAt: seenMs === null ? null : timestamp(seenMs),
  });
}

/** For the record. WHY without the hash: what is on record is shown to more people than may revoke. */
const shown = ({ name, scopes, userId, expiresAt }: TokenView): Json => ({
  name,
  scopes: [...scopes],
  user_id: userId,
  expires_at: expiresAt,
});

const placeOf = (found: readonly TokenView[]): Page<TokenView>["next"] => {
  const last = found.at(-1);
  return last === undefined ? null : { timeMs: Date.parse(last.createdAt), id: last.id };
};

const timestamp = (ms: number): Timestamp => new Date(ms).toISOString() as Timestamp;
