/**
 * Local accounts: a name, a password hash, roles, an organization. What a role allows is the service's to say.
 * Changes take authority and are on record; a password never is. An account that is disabled, or whose password changed,
 * ends its sign-ins with its next call.
 */
import { randomUUID } from "node:crypto";
import type { CallerContext, Timestamp } from "@sallyport/contract";
import type { Account, AccountAccess, Invite, NewAccount } from "@sallyport/contract/admin";
import type { Overview } from "@sallyport/service";
import type { Json, Page, PageRequest, RecordRow, RecordVerbs } from "@sallyport/store";
import { Problem } from "../problem.ts";
import { HeldRecords } from "./held-records.ts";
import { type PasswordHash, hashPassword, isPassword } from "./password-hash.ts";
import type { PersonFacts } from "./person.ts";

/** As it is kept. The id of the record is the name: there is one account of a name. */
interface AccountBody {
  readonly id: string;
  readonly roles: readonly string[];
  readonly organization_id: number | string | null;
  readonly disabled: boolean;
  /** `null`: was invited, and comes in by a link only. */
  readonly password: PasswordHash | null;
  readonly password_changed_ms: number | null;
  readonly last_sign_in_ms: number | null;
  /** Rises when sign-ins of before must end. */
  readonly epoch: number;
}

export interface KnownAccount {
  readonly facts: PersonFacts;
  readonly epoch: number;
  readonly disabled: boolean;
}

/** Somebody who came in by an account, at one of its epochs. */
interface OfAccount {
  readonly facts: PersonFacts;
  readonly account: { readonly name: string; readonly epoch: number } | null;
}

const ID_PREFIX = "account:";

export class Accounts {
  readonly #overview: Overview;
  readonly #nowMs: () => number;
  readonly #held: HeldRecords;

  constructor(overview: Overview, nowMs: () => number) {
    this.#overview = overview;
    this.#nowMs = nowMs;
    this.#held = new HeldRecords(overview, "account");
  }

  async list(page: PageRequest): Promise<Page<Account>> {
    const { rows, next } = await this.#overview.readRecords((records) => records.list("account", page));
    return { rows: rows.map(accountOf), next };
  }

  /** `null`: the name or the password is wrong, or the account is disabled; nobody is told which. */
  async verified(name: string, password: string): Promise<KnownAccount | null> {
    const row = await this.#find(name);
    const isRight = await isPassword(password, row === null ? null : bodyOf(row).password);
    if (row === null || !isRight || bodyOf(row).disabled) return null;
    return knownOf(row);
  }

  /** Inside the transaction of the sign-in. */
  async noteSignIn(records: RecordVerbs, name: string, nowMs: number): Promise<void> {
    const row = await records.get("account", name);
    if (row === null) return;
    await records.replace({ ...row, body: bodyJson({ ...bodyOf(row), last_sign_in_ms: nowMs }) });
  }

  /** A person as they stand now; `null` where their account is gone, disabled, or what was before it has ended. */
  factsNow({ facts, account }: OfAccount): PersonFacts | null | Promise<PersonFacts | null> {
    if (account === null) return facts;
    const row = this.#held.get(account.name);
    return row instanceof Promise ? row.then((read) => liveFacts(read, account)) : liveFacts(row, account);
  }

  /** What a token of this person hangs on; `null` where they have no local account. */
  async ofPerson(facts: PersonFacts): Promise<OfAccount["account"]> {
    const row = await this.#find(facts.name);
    if (row === null || knownOf(row).facts.id !== facts.id) return null;
    return { name: row.id, epoch: bodyOf(row).epoch };
  }

  async create(caller: CallerContext, words: NewAccount): Promise<Account> {
    return this.#make(caller, words, await hashPassword(words.password));
  }

  /** Without a password: its person comes in by a link, and sets one. */
  invite(caller: CallerContext, words: Invite): Promise<Account> {
    return this.#make(caller, words, null);
  }

  async #make(
    caller: CallerContext,
    { name, roles, organizationId }: Pick<NewAccount, "name" | "roles" | "organizationId">,
    password: PasswordHash | null,
  ): Promise<Account> {
    const nowMs = this.#nowMs();
    const body: AccountBody = {
      id: randomUUID(),
      roles: [...roles],
      organization_id: organizationId,
      disabled: false,
      password,
      password_changed_ms: password === null ? null : nowMs,
      last_sign_in_ms: null,
      epoch: 1,
    };
    const record = {
      kind: "account",
      id: name,
      body: bodyJson(body),
      createdMs: nowMs,
      dueMs: null,
    } as const;
    const made = await this.#overview.act(caller, "set_account", async ({ records }) =>
      (await records.insert(record))
        ? { value: accountOf({ ...record, version: 1 }), before: null, after: shown(name, body) }
        : null,
    );
    if (made === null)
      throw new Problem({ code: "store_conflict", detail: `there is an account \`${name}\` already` });
    return made;
  }

  setPassword(caller: CallerContext, id: string, password: string): Promise<Account> {
    return this.#change(caller, id, null, async (body) => ({
      ...body,
      password: await hashPassword(password),
      password_changed_ms: this.#nowMs(),
      epoch: body.epoch + 1,
    }));
  }

  disable(
    caller: CallerContext,
    id: string,
    words: { readonly disabled: boolean; readonly reason?: string | undefined },
  ): Promise<Account> {
    return this.#change(caller, id, words.reason ?? null, async (body) => ({
      ...body,
      disabled: words.disabled,
      epoch: body.epoch + 1,
    }));
  }

  /** Holds from the next call of its person on. */
  setAccess(
    caller: CallerContext,
    id: string,
    { roles, organizationId, reason }: AccountAccess,
  ): Promise<Account> {
    return this.#change(caller, id, reason ?? null, async (body) => ({
      ...body,
      roles: [...roles],
      organization_id: organizationId,
    }));
  }

  /** Sign-ins and links of before are worth nothing any more. */
  endSignIns(caller: CallerContext, id: string, reason: string | undefined): Promise<Account> {
    return this.#change(caller, id, reason ?? null, async (body) => ({ ...body, epoch: body.epoch + 1 }));
  }

  /** As one's own: whoever calls has seen to it that it is. `null`: the account changed meanwhile. */
  async setOwnPassword(caller: CallerContext, name: string, password: string): Promise<Account | null> {
    const row = await this.#find(name);
    if (row === null) return null;
    const former = bodyOf(row);
    const body = {
      ...former,
      password: await hashPassword(password),
      password_changed_ms: this.#nowMs(),
      epoch: former.epoch + 1,
    };
    return this.#replace(caller, "set_own_password", { row, former, body, reason: null });
  }

  /** For whoever has authority, by its id: the account as it is signed in to. */
  async byId(caller: CallerContext, id: string): Promise<{ account: Account; known: KnownAccount }> {
    await this.#overview.act(caller, "set_account", async () => null);
    const row = await this.#named(id);
    if (row === null) throw new Problem({ code: "not_found", detail: "there is no such account" });
    return { account: accountOf(row), known: knownOf(row) };
  }

  /** The name of an account by its id; accounts are few. */
  async #named(id: string): Promise<RecordRow | null> {
    let after: Page<RecordRow>["next"] = null;
    for (;;) {
      const at: Page<RecordRow>["next"] = after;
      const page: Page<RecordRow> = await this.#overview.readRecords((records) =>
        records.list("account", { limit: 500, after: at }),
      );
      const found = page.rows.find((row) => bodyOf(row).id === id);
      if (found !== undefined) return found;
      if (page.next === null) return null;
      after = page.next;
    }
  }

  async #change(
    caller: CallerContext,
    id: string,
    reason: string | null,
    change: (body: AccountBody) => Promise<AccountBody>,
  ): Promise<Account> {
    // INVARIANT: authority is asked before anything is said about what exists.
    await this.#overview.act(caller, "set_account", async () => null);
    const row = await this.#named(id);
    if (row === null) throw new Problem({ code: "not_found", detail: "there is no such account" });
    const former = bodyOf(row);
    const body = await change(former);
    const changed = await this.#replace(caller, "set_account", { row, former, body, reason });
    if (changed === null)
      throw new Problem({
        code: "store_conflict",
        detail: "the account changed meanwhile: look at it again",
      });
    return changed;
  }

  #replace(
    caller: CallerContext,
    action: "set_account" | "set_own_password",
    {
      row,
      former,
      body,
      reason,
    }: {
      readonly row: RecordRow;
      readonly former: AccountBody;
      readonly body: AccountBody;
      readonly reason: string | null;
    },
  ): Promise<Account | null> {
    return this.#overview.act(caller, action, async ({ records }) => {
      const next = { ...row, body: bodyJson(body) };
      if (!(await records.replace(next))) return null;
      return {
        value: accountOf(next),
        reason,
        before: shown(row.id, former),
        after: shown(row.id, body),
        isTakenBack: true,
      };
    });
  }

  #find(name: string): Promise<RecordRow | null> {
    return this.#overview.readRecords((records) => records.get("account", name));
  }
}

const bodyOf = (row: RecordRow): AccountBody => row.body as unknown as AccountBody;
const bodyJson = (body: AccountBody): Json => body as unknown as Json;

function knownOf(row: RecordRow): KnownAccount {
  const { id, roles, organization_id: organizationId, epoch, disabled } = bodyOf(row);
  const facts = { id: `${ID_PREFIX}${id}`, name: row.id, roles, accessLevel: null, organizationId };
  return { facts, epoch, disabled };
}

/** WHY kept: the same row is asked for at every call, and an object that is the same is told by that. */
const FACTS = new WeakMap<RecordRow, KnownAccount>();

function liveFacts(row: RecordRow | null, { epoch }: { readonly epoch: number }): PersonFacts | null {
  if (row === null) return null;
  const known = FACTS.get(row) ?? knownOf(row);
  FACTS.set(row, known);
  return known.disabled || known.epoch !== epoch ? null : known.facts;
}

function accountOf(row: RecordRow): Account {
  const body = bodyOf(row);
  return Object.freeze({
    id: body.id,
    name: row.id,
    roles: body.roles,
    organizationId: body.organization_id as Account["organizationId"],
    disabled: body.disabled,
    createdAt: timestamp(row.createdMs),
    passwordChangedAt: body.password_changed_ms === null ? null : timestamp(body.password_changed_ms),
    lastSignInAt: body.last_sign_in_ms === null ? null : timestamp(body.last_sign_in_ms),
  });
}

/** For the record: nothing of the password but that it changed. */
function shown(name: string, body: AccountBody): Json {
  const { id, roles, organization_id, disabled, password_changed_ms } = body;
  return { id, name, roles: [...roles], organization_id, disabled, password_changed_ms };
}

const timestamp = (ms: number): Timestamp => new Date(ms).toISOString() as Timestamp;
