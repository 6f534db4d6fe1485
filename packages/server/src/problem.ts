/**
 * Failed calls as problem details (RFC 9457) with the project's codes. Must never carry the text of a driver, a stack
 * or a secret: a fault that nobody expected is `unavailable` and nothing more.
 */
import {
  ERROR_CODES,
  type ErrorBody,
  type ErrorCode,
  type PointedFault,
  errorBodyWire,
} from "@sallyport/contract";

export interface ProblemWords {
  readonly code: ErrorCode;
  /** Where it is not the one of the code. */
  readonly status?: number | undefined;
  /** What is wrong and what to do next. */
  readonly detail: string;
  readonly faults?: readonly PointedFault[] | undefined;
}

/** Ends a call. Thrown inside the server only; `problemResponse` is what travels. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly words: ProblemWords;

  constructor(words: ProblemWords) {
    super(words.detail);
    this.words = words;
  }
}

export function malformed(detail: string, status = 400): Problem {
  return new Problem({ code: "invalid_request", status, detail });
}

export function refusedCredential(detail: string): Problem {
  return new Problem({ code: "invalid_credential", detail });
}

export const UNAVAILABLE: ProblemWords = Object.freeze({
  code: "unavailable",
  detail: "the server cannot answer now: try again later",
});

/** What everything that a browser may get carries: nothing is guessed, framed or shared with other origins. */
export const SAFE_HEADERS = Object.freeze({
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
});

/** What every answer of the API carries: it is not kept either, and nothing in it runs. */
export const ANSWER_HEADERS = Object.freeze({
  ...SAFE_HEADERS,
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
});

export function problemResponse({ code, status, detail, faults }: ProblemWords): Response {
  const entry = ERROR_CODES[code];
  const shown = status ?? entry.status;
  const body: ErrorBody = {
    type: `urn:sallyport:error:${code}`,
    title: entry.title,
    status: shown,
    detail,
    code,
    ...(faults === undefined ? {} : { faults }),
  };
  const headers: Record<string, string> = { ...ANSWER_HEADERS, "content-type": "application/problem+json" };
  if (shown === 401) headers["www-authenticate"] = 'DPoP algs="ES256"';
  // WHY: what is left of a body that nobody reads would be taken for the next call.
  if (shown === 413 || shown === 408) headers["connection"] = "close";
  return new Response(JSON.stringify(errorBodyWire.format(body)), { status: shown, headers });
}

export function jsonResponse(body: unknown): Response {
  return new Response(JSON.stringify(body), {
    headers: { ...ANSWER_HEADERS, "content-type": "application/json" },
  });
}
