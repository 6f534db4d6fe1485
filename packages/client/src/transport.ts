/**
 * One call over HTTP. Never throws for what the network or the server does: an answer, a problem of the server, or
 * `unreachable`. Sends the credential to the configured origin only; a redirect is a fault.
 */
import { type ErrorCode, type WaitSignal, errorBodyWire } from "@sallyport/contract";
import { readAnswer } from "./event-stream.ts";
import { isAborted, pause } from "./pause.ts";

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface Outgoing {
  readonly path: string;
  readonly body: string;
  /** Made anew for every attempt: a proof serves once. */
  readonly headers: (body: string) => Promise<Readonly<Record<string, string>>>;
  /** May be made again where it is unknown whether it arrived. */
  readonly idempotent: boolean;
  /** How long nothing may be heard. */
  readonly silenceMs: number;
  readonly signal?: WaitSignal | undefined;
}

export type Incoming =
  | { readonly kind: "answer"; readonly json: unknown }
  | { readonly kind: "problem"; readonly code: ErrorCode; readonly status: number; readonly detail: string }
  | { readonly kind: "unreachable" }
  | { readonly kind: "aborted" };

export interface TransportOptions {
  readonly origin: string;
  readonly fetch: Fetch;
  readonly attempts: number;
  readonly retryMs: number;
}

const TEXT_MAX = 1_048_576;

export class Transport {
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  async call(outgoing: Outgoing): Promise<Incoming> {
    const { attempts, retryMs } = this.#options;
    const { signal } = outgoing;
    for (let attempt = 1; ; attempt++) {
      const { incoming, isUnsent } = await this.#attempt(outgoing);
      const isOver = attempt >= attempts || !(outgoing.idempotent || isUnsent);
      if (!isWorthRetrying(incoming) || isOver) return incoming;
      await pause(retryMs * attempt, signal);
      if (isAborted(signal)) return { kind: "aborted" };
    }
  }

  async #attempt({ path, body, headers, silenceMs, signal }: Outgoing): Promise<Attempt> {
    if (isAborted(signal)) return attempt({ kind: "aborted" });
    const stop = new AbortController();
    const cancel = (): void => stop.abort();
    signal?.addEventListener("abort", cancel, { once: true });
    let timer = setTimeout(cancel, silenceMs);
    const alive = (): void => {
      clearTimeout(timer);
      timer = setTimeout(cancel, silenceMs);
    };
    try {
      const response = await this.#options.fetch(`${this.#options.origin}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", accept: ACCEPT, ...(await headers(body)) },
        body,
        redirect: "error",
        signal: stop.signal,
      });
      alive();
      return attempt(await incomingOf(response, alive));
    } catch (error) {
      if (isAborted(signal)) return attempt({ kind: "aborted" });
      return { incoming: { kind: "unreachable" }, isUnsent: isRefused(error) };
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
    }
  }
}

interface Attempt {
  readonly incoming: Incoming;
  /** Certainly never arrived. */
  readonly isUnsent: boolean;
}

const attempt = (incoming: Incoming): Attempt => ({ incoming, isUnsent: false });

const ACCEPT = "application/json, text/event-stream, application/problem+json";

async function incomingOf(response: Response, alive: () => void): Promise<Incoming> {
  const [type = ""] = (response.headers.get("content-type") ?? "").split(";");
  if (response.ok && type === "text/event-stream" && response.body !== null) {
    const data = await readAnswer(response.body as ReadableStream<Uint8Array>, alive);
    return data === undefined
      ? { kind: "unreachable" }
      : { kind: "answer", json: JSON.parse(data) as unknown };
  }
  const text = await textOf(response, alive);
  if (response.ok && type === "application/json")
    return { kind: "answer", json: JSON.parse(text) as unknown };
  if (type !== "application/problem+json") return { kind: "unreachable" };
  const problem = errorBodyWire.parse(JSON.parse(text));
  if (!problem.ok) return { kind: "unreachable" };
  const { code, status, detail } = problem.value;
  return { kind: "problem", code, status, detail };
}

async function textOf(response: Response, alive: () => void): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    alive();
    text += decoder.decode(chunk, { stream: true });
    if (text.length > TEXT_MAX) throw new Error("the answer is too large");
  }
  return text + decoder.decode();
}

function isWorthRetrying(incoming: Incoming): boolean {
  return incoming.kind === "unreachable" || (incoming.kind === "problem" && incoming.status === 503);
}

/** Node says why a connection could not be made; elsewhere nothing is known, and nothing is assumed. */
function isRefused(error: unknown): boolean {
  const cause = (error as { readonly cause?: { readonly code?: unknown } } | null)?.cause;
  return cause?.code === "ECONNREFUSED" || cause?.code === "ENOTFOUND";
}
