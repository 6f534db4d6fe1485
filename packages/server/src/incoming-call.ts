/**
 * One call as a handler sees it, whichever way it came in: through the routes of the framework, or through the quick lane
 * straight from the connection. Both give the same head and the same bounded body, so that there is one set of rules.
 */
import { ANSWER_HEADERS, malformed } from "./problem.ts";
import { checkedBodyHead, readBody } from "./read-body.ts";

/** Names in lower case. A header that came twice is one text with a comma, as `Headers` has it. */
export interface HeadFields {
  get(name: string): string | null;
  has(name: string): boolean;
}

/** The head of a call: all that a sign-in may look at. */
export interface CallHead {
  readonly method: string;
  readonly path: string;
  readonly headers: HeadFields;
}

export interface IncomingCall {
  readonly head: CallHead;
  /** From the question mark on; empty where there is none. */
  readonly search: string;
  /** Once. Bounded; throws a `Problem`. */
  readonly body: (bytesMax: number) => Promise<Uint8Array>;
  /** Aborted when the caller is gone. */
  readonly gone: () => AbortSignal;
}

/** The text of a JSON document that is the answer, or a response that is one already. */
export type Answer = string | Response;
export type Handle = (call: IncomingCall) => Promise<Answer>;

export function callOf(request: Request): IncomingCall {
  const { method, headers, signal } = request;
  const { pathname, search } = new URL(request.url);
  return {
    head: { method, path: pathname, headers },
    search,
    body: (bytesMax) => {
      checkedBodyHead(headers, bytesMax);
      return readBody(request.body, bytesMax);
    },
    gone: () => signal,
  };
}

/** What every answer in JSON carries; made once. */
export const JSON_HEADERS = Object.freeze({ ...ANSWER_HEADERS, "content-type": "application/json" });

export const responseOf = (answer: Answer): Response =>
  typeof answer === "string" ? new Response(answer, { headers: JSON_HEADERS }) : answer;

/**
 * INVARIANT: the server answers to its own name and to pages of its own origin only, so that a browser that was led here
 * by its name server cannot speak with it.
 */
export function ownOrigin(origin: () => string): (headers: HeadFields) => void {
  let known = { origin: "", host: "" };
  return (headers) => {
    const ours = origin();
    if (ours !== known.origin) known = { origin: ours, host: new URL(ours).host };
    if (headers.get("host") !== known.host)
      throw malformed("this server does not answer to that host name: use its own origin", 421);
    const from = headers.get("origin");
    if (from !== null && from !== ours) throw malformed("calls from pages of other origins are refused", 403);
  };
}
