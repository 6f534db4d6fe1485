/**
 * The access-policy service of another machine, with the same face as the one in this process. Blocked is a value, and
 * so is a server that cannot be reached: `unavailable`, which never allows. Trusts the server it was given, by https or
 * on this machine; the caller it is handed only narrows what its credential may do.
 */
import {
  type AccessPolicy,
  type Ask,
  type ByAccess,
  type ByRequest,
  type CallerContext,
  type Decision,
  type ExternalAccessCheck,
  type JobLending,
  type LendAnswer,
  type OfferedAction,
  PermissionError,
  type PermissionState,
  type RequireAsk,
  type SessionApprovalWords,
  type Wait,
  type WaitAnswer,
  externalAccessCheckWire,
} from "@sallyport/contract";
import {
  decisionWire,
  issuedCredentialWire,
  stateAnswerWire,
  waitAnswerWire,
} from "@sallyport/contract/remote";
import { CallSession } from "./call-session.ts";
import { type Credential, type RuntimeCredential, isFor, runtimeCredential } from "./credential.ts";
import {
  type JobClient,
  type JobOutcome,
  isHeldIn,
  lendAnswerOf,
  lendWords,
  settleWords,
} from "./lent-jobs.ts";
import { pause } from "./pause.ts";
import { checkWords, decisionWords, requireWords, stateWords, waitWords } from "./remote-words.ts";
import { checkedOrigin } from "./server-origin.ts";
import { type Fetch, type Incoming, Transport } from "./transport.ts";
import { UNREACHABLE, unavailableCheck, unavailableDecision } from "./unavailable-check.ts";

export interface ClientOptions {
  /** Https, or http on this machine. */
  readonly origin: string;
  readonly credential: Credential;
  readonly fetch?: Fetch | undefined;
  /** How long the server may be silent before it counts as gone; 45 seconds unless said. */
  readonly silenceMs?: number | undefined;
  /** Of calls that can be made again; 3 unless said. */
  readonly attempts?: number | undefined;
  readonly retryMs?: number | undefined;
  readonly nowMs?: (() => number) | undefined;
}

export interface Client extends AccessPolicy, JobClient {
  /** The credential in use: renewed ones take the place of the first. */
  readonly credential: Credential;
  /** Renews the credential. `false`: it could not be, and the one in use stays until it runs out. */
  renew(): Promise<boolean>;
  /** Gives the credential back: nothing can be asked with it from then on. */
  revoke(): Promise<boolean>;
}

type DecisionKind = "approve_for_session" | "approve_permanently" | "deny";

const OTHER_SESSION =
  "the credential is for another user, organization or session: take one for this session";

export function createClient(options: ClientOptions): Client {
  return new HttpClient(options);
}

class HttpClient implements Client {
  readonly #options: ClientOptions;
  readonly #origin: string;
  readonly #transport: Transport;
  readonly #nowMs: () => number;
  readonly #session: CallSession;
  #credential: Credential;
  #renewing: Promise<boolean> | undefined;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#origin = checkedOrigin(options.origin);
    this.#credential = options.credential;
    this.#nowMs = options.nowMs ?? Date.now;
    this.#session = new CallSession(this.#nowMs, (words) => this.#openSession(words));
    this.#transport = new Transport({
      origin: this.#origin,
      fetch: options.fetch ?? ((url, init) => fetch(url, init)),
      attempts: options.attempts ?? 3,
      retryMs: options.retryMs ?? 200,
    });
  }

  get credential(): Credential {
    return this.#credential;
  }

  check(caller: CallerContext, ask: Ask): Promise<ExternalAccessCheck> {
    const idempotent = ask.registerRequest === false && !ask.enforced;
    return this.#ask("/v1/runtime/check", caller, ask, () => checkWords(caller, ask), { idempotent });
  }

  require(caller: CallerContext, ask: RequireAsk): Promise<ExternalAccessCheck> {
    return this.#ask("/v1/runtime/require", caller, ask, () => requireWords(caller, ask), {
      idempotent: false,
    });
  }

  async wait(caller: CallerContext, requestId: string, wait: Wait): Promise<WaitAnswer> {
    if (!this.#fits(caller)) return { outcome: "not_found" };
    const { signal } = wait;
    const endsAtMs = this.#nowMs() + wait.timeoutMs;
    for (;;) {
      const leftMs = Math.max(0, endsAtMs - this.#nowMs());
      const words = waitWords(caller, requestId, leftMs);
      const incoming = await this.#call("/v1/runtime/wait", words, { idempotent: true, signal });
      if (incoming.kind === "aborted") return { outcome: "cancelled" };
      const answer = incoming.kind === "answer" ? waitAnswerWire.parse(incoming.json) : undefined;
      if (answer?.ok === true) return answer.value;
      if (incoming.kind === "problem" && incoming.status !== 503) return { outcome: "not_found" };
      // WHY: a wait may be taken up again; what was decided meanwhile is told at once.
      if (this.#nowMs() >= endsAtMs) return { outcome: "timed_out" };
      await pause(this.#options.retryMs ?? 200, signal);
    }
  }

  async state(caller: CallerContext): Promise<PermissionState | undefined> {
    if (!this.#fits(caller)) return undefined;
    const incoming = await this.#call("/v1/runtime/state", stateWords(caller), { idempotent: true });
    const answer = incoming.kind === "answer" ? stateAnswerWire.parse(incoming.json) : undefined;
    return answer?.ok === true ? (answer.value.state ?? undefined) : undefined;
  }

  // WHY: who decides is the person of the credential; the caller of this process has no say in it.
  approveForSession(_: CallerContext, by: ByRequest | ByAccess, words: SessionApprovalWords = {}) {
    return this.#decide("approve_for_session", by, words);
  }

  approvePermanently(_: CallerContext, by: ByRequest | ByAccess, words: SessionApprovalWords = {}) {
    return this.#decide("approve_permanently", by, words);
  }

  deny(_: CallerContext, by: ByRequest | ByAccess, words: SessionApprovalWords = {}) {
    return this.#decide("deny", by, words);
  }

  async lendJobs(offered: readonly OfferedAction[], limit: number): Promise<LendAnswer | undefined> {
    const words = lendWords(offered, limit);
    return lendAnswerOf(await this.#call("/v1/runtime/jobs/lend", words, { idempotent: limit === 0 }));
  }

  async settleJob(lending: JobLending, outcome: JobOutcome): Promise<boolean | undefined> {
    const words = settleWords(lending, outcome);
    return isHeldIn(await this.#call("/v1/runtime/jobs/settle", words, { idempotent: true }));
  }

  renew(): Promise<boolean> {
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async revoke(): Promise<boolean> {
    const incoming = await this.#call("/v1/runtime/credential/revoke", {}, { idempotent: false });
    return incoming.kind === "answer";
  }

  async #renew(): Promise<boolean> {
    const held = this.#credential;
    if (held.kind !== "runtime") return false;
    const incoming = await this.#send("/v1/runtime/credential/renew", {}, { idempotent: true });
    const issued = incoming.kind === "answer" ? issuedCredentialWire.parse(incoming.json) : undefined;
    if (issued?.ok !== true) return false;
    this.#credential = runtimeCredential(issued.value, held.key);
    return true;
  }

  async #ask(
    path: string,
    caller: CallerContext,
    ask: Ask,
    words: () => object,
    how: { readonly idempotent: boolean },
  ): Promise<ExternalAccessCheck> {
    if (!this.#fits(caller)) return unavailableCheck(caller, ask, OTHER_SESSION);
    const incoming = await this.#call(path, words(), { ...how, signal: ask.wait?.signal });
    switch (incoming.kind) {
      case "answer": {
        const check = externalAccessCheckWire.parse(incoming.json);
        return check.ok ? check.value : unavailableCheck(caller, ask, UNREACHABLE);
      }
      case "problem":
        return unavailableCheck(caller, ask, incoming.detail);
      case "aborted":
        return unavailableCheck(caller, ask, "the caller stopped waiting");
      case "unreachable":
        return unavailableCheck(caller, ask, UNREACHABLE);
    }
  }

  /** Throws `PermissionError` where the server says so, as the service in this process does. */
  async #decide(
    kind: DecisionKind,
    by: ByRequest | ByAccess,
    words: SessionApprovalWords,
  ): Promise<Decision> {
    const path = `/v1/decisions/${kind}`;
    const incoming = await this.#call(path, decisionWords(by, words), { idempotent: true });
    switch (incoming.kind) {
      case "answer": {
        const decision = decisionWire.parse(incoming.json);
        return decision.ok ? decision.value : unavailableDecision(UNREACHABLE);
      }
      case "problem":
        if (incoming.code === "permission_error")
          throw new PermissionError(kind === "deny" ? "deny external access" : "approve external access");
        return unavailableDecision(incoming.detail);
      case "aborted":
      case "unreachable":
        return unavailableDecision(UNREACHABLE);
    }
  }

  /** A credential that is about to run out is renewed first; where that fails the call says why. */
  async #call(path: string, words: object, how: CallHow): Promise<Incoming> {
    const held = this.#credential;
    if (held.kind === "runtime" && this.#isDue(held)) await this.renew();
    return this.#send(path, words, { ...how, isInSession: this.#session.isWorthwhile() });
  }

  async #send(path: string, words: object, how: CallHow): Promise<Incoming> {
    const sent = await this.#sendOnce(path, words, how);
    if (!how.isInSession || sent.kind !== "problem" || sent.status !== 401) return sent;
    // WHY once more: a server that does not know the session did nothing with the call.
    this.#session.forget();
    return this.#sendOnce(path, words, { ...how, isInSession: false });
  }

  #sendOnce(path: string, words: object, { idempotent, isInSession, signal }: CallHow): Promise<Incoming> {
    return this.#transport.call({
      path,
      body: JSON.stringify(words),
      headers: (body) => this.#headers(path, body, isInSession),
      idempotent,
      silenceMs: this.#options.silenceMs ?? 45_000,
      signal,
    });
  }

  async #openSession(words: object): Promise<unknown> {
    const incoming = await this.#send("/v1/runtime/session", words, { idempotent: true });
    return incoming.kind === "answer" ? incoming.json : undefined;
  }

  async #headers(path: string, body: string, isInSession = false): Promise<Readonly<Record<string, string>>> {
    const held = this.#credential;
    if (held.kind === "person") return held.headers();
    const { token } = held.issued;
    const url = `${this.#origin}${path}`;
    const marked = isInSession ? await this.#session.authorization(held, url, body) : undefined;
    if (marked !== undefined) return { authorization: marked };
    const dpop = await held.key.prove({ method: "POST", url, body, token, nowMs: this.#nowMs() });
    return { authorization: `DPoP ${token}`, dpop };
  }

  #isDue({ issued }: RuntimeCredential): boolean {
    const nowMs = this.#nowMs();
    return nowMs >= issued.expiresAtMs - RENEW_BEFORE_MS && nowMs < issued.expiresAtMs;
  }

  #fits(caller: CallerContext): boolean {
    return this.#credential.kind === "runtime" && isFor(this.#credential, caller);
  }
}

const RENEW_BEFORE_MS = 60_000;

interface CallHow {
  readonly idempotent: boolean;
  /** May go by the session; left out: is signed by itself. */
  readonly isInSession?: boolean;
  readonly signal?: Wait["signal"];
}
