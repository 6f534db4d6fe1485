/**
 * Sign-ins: one-time links that begin one, cookies that carry one. Kept in the store as hashes, so that a restart signs
 * nobody out and a thief of the store comes in nowhere.
 * INVARIANT: a link serves once, whoever races. A new sign-in has a new token, whatever the browser brought along.
 * INVARIANT: a cookie alone is worth nothing: browsers send it to every port of a host, so that any other server on this
 * machine may see it. The second half of the secret travels in a header, and a page of another origin cannot have it.
 */
import type { CallerContext, Timestamp } from "@sallyport/contract";
import type { SignInWay } from "@sallyport/contract/admin";
import type { Overview } from "@sallyport/service";
import type { Json, RecordRow } from "@sallyport/store";
import type { Accounts } from "./accounts.ts";
import type { HeldRecords } from "./held-records.ts";
import { type Person, type PersonFacts, personCaller } from "./person.ts";
import { isSameSecret, isToken, newToken, tokenId } from "./secret-token.ts";

export interface SignInTimes {
  /** A sign-in that is not used for so long is over; 8 hours unless said. */
  readonly idleMs: number;
  /** And in any case after so long; 7 days unless said. */
  readonly lifetimeMs: number;
  /** 15 minutes unless said. */
  readonly linkTtlMs: number;
}

export const DEFAULT_TIMES: SignInTimes = Object.freeze({
  idleMs: 8 * 3_600_000,
  lifetimeMs: 7 * 86_400_000,
  linkTtlMs: 15 * 60_000,
});

/** WHY not at every call: a moment's use is not worth a write. */
const TOUCH_MS = 60_000;

/** A local account as it stood: its facts are read anew at every call, and a newer epoch ends what stands on this one. */
interface AccountHold {
  readonly name: string;
  readonly epoch: number;
}

interface LinkBody {
  readonly facts: PersonFacts;
  readonly way: SignInWay;
  /** Left out in links of before. */
  readonly account?: AccountHold | null;
}

interface SignInBody extends LinkBody {
  /** Left out in what is no sign-in of a browser. */
  readonly csrf: string | undefined;
  readonly ends_ms: number;
  readonly seen_ms: number;
  readonly account: AccountHold | null;
}

export interface StartedSignIn {
  /** For the cookie. */
  readonly token: string;
  readonly person: Person;
}

export interface MadeLink {
  readonly token: string;
  readonly expiresAt: Timestamp;
}

export interface SignInBookParts {
  readonly overview: Overview;
  readonly accounts: Accounts;
  readonly held: HeldRecords;
  readonly nowMs: () => number;
  readonly times?: Partial<SignInTimes> | undefined;
}

export class SignInBook {
  readonly #overview: Overview;
  readonly #accounts: Accounts;
  readonly #nowMs: () => number;
  readonly #times: SignInTimes;
  readonly #held: HeldRecords;
  readonly #people = new WeakMap<RecordRow, Person>();

  constructor({ overview, accounts, held, nowMs, times }: SignInBookParts) {
    this.#overview = overview;
    this.#accounts = accounts;
    this.#held = held;
    this.#nowMs = nowMs;
    this.#times = { ...DEFAULT_TIMES, ...times };
  }

  /** For the host's own code, and for whoever has been asked for authority. */
  async makeLink(
    facts: PersonFacts,
    way: SignInWay = "link",
    ttlMs = this.#times.linkTtlMs,
    account: AccountHold | null = null,
  ): Promise<MadeLink> {
    const token = newToken();
    const nowMs = this.#nowMs();
    const body: LinkBody = { facts, way, account };
    await this.#overview.writeRecords(async (records) => {
      await records.removeDue("sign_in_link", nowMs);
      await records.insert({
        kind: "sign_in_link",
        id: tokenId(token),
        body: body as unknown as Json,
        createdMs: nowMs,
        dueMs: nowMs + ttlMs,
      });
    });
    return { token, expiresAt: new Date(nowMs + ttlMs).toISOString() as Timestamp };
  }

  /** `null`: the link was used, has run out, or never was one; nobody is told which. */
  async byLink(token: string): Promise<StartedSignIn | null> {
    if (!isToken(token)) return null;
    const row = await this.#overview.writeRecords((records) =>
      records.remove("sign_in_link", tokenId(token)),
    );
    if (row === null || row.dueMs === null || row.dueMs <= this.#nowMs()) return null;
    const { facts, way, account = null } = row.body as unknown as LinkBody;
    const now = await this.#accounts.factsNow({ facts, account });
    return now === null ? null : this.#start(now, way, account);
  }

  /** `null`: wrong, disabled, or nobody of that name. */
  async byPassword(name: string, password: string): Promise<StartedSignIn | null> {
    const account = await this.#accounts.verified(name, password);
    if (account === null) return null;
    return this.#start(account.facts, "password", { name, epoch: account.epoch });
  }

  /** `null`: no live sign-in, or not with its second half. */
  async byToken(token: string, csrf: string): Promise<Person | null> {
    if (!isToken(token) || !isToken(csrf)) return null;
    const id = tokenId(token);
    const held = this.#held.get(id);
    let row = held instanceof Promise ? await held : held;
    const nowMs = this.#nowMs();
    // WHY: another node may have seen the person since, and then it goes on.
    if (row !== null && !(held instanceof Promise) && isOver(row, nowMs)) row = await this.#held.read(id);
    if (row === null || isOver(row, nowMs)) return null;
    const body = row.body as unknown as SignInBody;
    if (body.csrf === undefined || !isSameSecret(csrf, body.csrf)) return null;
    const now = this.#accounts.factsNow(body);
    const facts = now instanceof Promise ? await now : now;
    if (facts === null) return null;
    if (nowMs - body.seen_ms >= TOUCH_MS) await this.#touch(row, body, nowMs);
    const known = this.#people.get(row);
    if (known?.facts === facts) return known;
    const person = personOf(facts, body, id);
    this.#people.set(row, person);
    return person;
  }

  /** Acknowledged once no node goes by it any more. */
  async end(person: Person): Promise<void> {
    const { signInId } = person;
    if (signInId === null) return;
    await this.#overview.takeBackRecords((records) => records.remove("sign_in", signInId));
    this.#held.forget(signInId);
  }

  async #start(facts: PersonFacts, way: SignInWay, account: SignInBody["account"]): Promise<StartedSignIn> {
    const token = newToken();
    const nowMs = this.#nowMs();
    const { idleMs, lifetimeMs } = this.#times;
    // WHY shorter: what the provider said about a person is asked again when it may have changed.
    const endsMs = nowMs + (way === "oidc" ? Math.min(idleMs, lifetimeMs) : lifetimeMs);
    const body: SignInBody = { facts, way, csrf: newToken(), ends_ms: endsMs, seen_ms: nowMs, account };
    const id = tokenId(token);
    const caller: CallerContext = personCaller(facts);
    await this.#overview.act(caller, "sign_in", async ({ records }) => {
      await records.removeDue("sign_in", nowMs);
      await records.insert({
        kind: "sign_in",
        id,
        body: body as unknown as Json,
        createdMs: nowMs,
        dueMs: Math.min(nowMs + idleMs, endsMs),
      });
      if (account !== null) await this.#accounts.noteSignIn(records, account.name, nowMs);
      const after = { way, name: facts.name, organization_id: facts.organizationId, ends_ms: endsMs };
      return { value: true, before: null, after };
    });
    return { token, person: personOf(facts, body, id) };
  }

  async #touch(row: RecordRow, body: SignInBody, nowMs: number): Promise<void> {
    const dueMs = Math.min(nowMs + this.#times.idleMs, body.ends_ms);
    const seen = { ...body, seen_ms: nowMs };
    // WHY whatever comes of it: somebody else touched it a moment ago, or ended it, and that stands.
    await this.#overview.writeRecords((records) =>
      records.replace({ ...row, body: seen as unknown as Json, dueMs }),
    );
    this.#held.forget(row.id);
  }
}

const isOver = ({ dueMs }: RecordRow, nowMs: number): boolean => dueMs === null || dueMs <= nowMs;

function personOf(facts: PersonFacts, { way, csrf, ends_ms, account }: SignInBody, signInId: string): Person {
  const caller = personCaller(facts);
  const own = account === null ? {} : { account: account.name };
  return { facts, way, caller, expiresAtMs: ends_ms, csrfToken: csrf ?? null, signInId, ...own };
}
