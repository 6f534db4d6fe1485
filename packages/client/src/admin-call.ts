/**
 * One call of the administration API over HTTP, in a browser or in Node. The answer is parsed by its wire type before
 * anybody sees it; everything else is an `AdminCallError` with a code of the project.
 * Sends cookies to the configured origin only; follows no redirect.
 */
import { type ErrorCode, type PointedFault, type Wire, errorBodyWire } from "@sallyport/contract";
import { type AdminQuery, formatAdminQuery } from "@sallyport/contract/admin";
import type { Fetch } from "./transport.ts";

/** The server said no, or said nothing that can be understood. */
export class AdminCallError extends Error {
  override readonly name = "AdminCallError";
  readonly code: ErrorCode;
  /** 0 where the server was not reached. */
  readonly status: number;
  readonly faults: readonly PointedFault[];

  constructor(code: ErrorCode, status: number, detail: string, faults: readonly PointedFault[] = []) {
    super(detail);
    this.code = code;
    this.status = status;
    this.faults = faults;
  }
}

export interface AdminCallOptions {
  /** Empty: that of the page. */
  readonly origin: string;
  readonly fetch?: Fetch | undefined;
  /** For the header `X-CSRF-Token`; what the session said unless given. */
  readonly csrf?: (() => string | null) | undefined;
}

export interface AdminCall {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly query?: readonly (readonly [string, string])[] | undefined;
  /** In wire form. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

type AnyWire = Wire<never>;
type ValueOf<W> = W extends { readonly parse: (value: unknown) => infer Result }
  ? Extract<Result, { readonly ok: true }> extends { readonly value: infer Value }
    ? Value
    : never
  : never;

const UNREACHABLE = "the server cannot be reached: try again when it is back";
const NOT_UNDERSTOOD = "the answer of the server is not understood: use the same version on both sides";

export class AdminCaller {
  readonly #options: AdminCallOptions;
  readonly #fetch: Fetch;
  #csrfToken: string | null;

  constructor(options: AdminCallOptions) {
    this.#options = options;
    this.#fetch = options.fetch ?? ((url, init) => fetch(url, init));
    this.#csrfToken = pageStorage()?.getItem(CSRF_KEY) ?? null;
  }

  /** What the session said last. WHY kept by the page: the server tells it at sign-in only. */
  remember(csrfToken: string | null): void {
    this.#csrfToken = csrfToken;
    if (csrfToken === null) pageStorage()?.removeItem(CSRF_KEY);
    else pageStorage()?.setItem(CSRF_KEY, csrfToken);
  }

  async call<W extends Pick<AnyWire, "parse"> | { readonly parse: (value: unknown) => unknown }>(
    wire: W,
    call: AdminCall,
  ): Promise<ValueOf<W>> {
    const response = await this.open(call, "application/json, application/problem+json");
    const parsed = wire.parse(await jsonOf(response)) as
      | { readonly ok: true; readonly value: ValueOf<W> }
      | { readonly ok: false; readonly faults: readonly PointedFault[] };
    if (parsed.ok) return parsed.value;
    throw new AdminCallError("unavailable", response.status, NOT_UNDERSTOOD, parsed.faults);
  }

  /** A call that reads. */
  list<W extends { readonly parse: (value: unknown) => unknown }>(wire: W, path: string, query: object) {
    return this.call(wire, { method: "GET", path, query: formatAdminQuery(query as AdminQuery) });
  }

  /** A call that changes something. */
  post<W extends { readonly parse: (value: unknown) => unknown }>(wire: W, path: string, body: unknown = {}) {
    return this.call(wire, { method: "POST", path, body });
  }

  /** The answer of a call that the server let through; its body is not read yet. */
  async open({ method, path, query = [], body, signal }: AdminCall, accept: string): Promise<Response> {
    const search = new URLSearchParams(
      query.map(([name, value]): [string, string] => [name, value]),
    ).toString();
    const csrf = this.#options.csrf?.() ?? this.#csrfToken;
    const headers: Record<string, string> = { accept };
    if (method === "POST") headers["content-type"] = "application/json";
    if (csrf !== null) headers["x-csrf-token"] = csrf;
    let response: Response;
    try {
      response = await this.#fetch(`${this.#options.origin}/v1${path}${search === "" ? "" : `?${search}`}`, {
        method,
        headers,
        redirect: "error",
        credentials: "same-origin",
        ...(method === "POST" ? { body: JSON.stringify(body ?? {}) } : {}),
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (error) {
      if (signal?.aborted === true) throw error;
      throw new AdminCallError("unavailable", 0, UNREACHABLE);
    }
    if (response.ok) return response;
    throw await problemOf(response);
  }
}

const CSRF_KEY = "sallyport.csrf";

interface PageStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** Of a page of a browser, where it may keep something; nothing anywhere else. */
function pageStorage(): PageStorage | undefined {
  const page = globalThis as { readonly document?: unknown; readonly localStorage?: PageStorage };
  try {
    return page.document === undefined ? undefined : page.localStorage;
  } catch {
    return undefined;
  }
}

async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    throw new AdminCallError("unavailable", response.status, NOT_UNDERSTOOD);
  }
}

async function problemOf(response: Response): Promise<AdminCallError> {
  const { status } = response;
  const json = await response.json().catch(() => undefined);
  const problem = errorBodyWire.parse(json);
  if (!problem.ok) return new AdminCallError("unavailable", status, NOT_UNDERSTOOD);
  const { code, detail, faults } = problem.value;
  return new AdminCallError(code, status, detail, faults);
}
