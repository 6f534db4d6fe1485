/**
 * Simple requests of one stream, read and judged, with all that follows from that. The last one is remembered: programs ask
 * for the same again and again. INVARIANT: only a head that is the same byte by byte is taken for the same.
 */
import { type Host, type UrlTarget, isIpLiteral } from "@sallyport/contract";
import { authorityOf, pathOf } from "./forward-request.ts";
import { type Judged, type Passage, judgeRequest } from "./judge-request.ts";
import type { NetworkQuestion, Refusal } from "./network-question.ts";
import { askedFor, questionOf } from "./request-question.ts";
import { type SimpleRequest, readSimpleRequest } from "./simple-request.ts";

/** A request that may go on once it is admitted. */
export interface WantedRequest {
  readonly ok: true;
  readonly request: SimpleRequest;
  readonly target: UrlTarget;
  readonly host: Host;
  /** The address itself, where the program asks for no name; without brackets. */
  readonly literal: string | undefined;
  readonly asked: NetworkQuestion;
  /** The request as it is sent on: written anew from what was judged. */
  readonly text: Buffer;
}

export type ReadRequest =
  | WantedRequest
  | {
      readonly ok: false;
      readonly request: SimpleRequest;
      readonly question: NetworkQuestion;
      readonly refusal: Refusal;
    };

export class RequestReader {
  readonly #passage: Passage;
  #last: { readonly head: Buffer; readonly read: ReadRequest } | undefined;
  #judged: (Pick<SimpleRequest, "method" | "path" | "host"> & { readonly judged: Judged }) | undefined;

  constructor(passage: Passage) {
    this.#passage = passage;
  }

  /** `undefined`: this is no simple request, or not all of it. */
  read(bytes: Buffer): ReadRequest | undefined {
    const last = this.#last;
    if (last !== undefined && beginsWith(bytes, last.head)) return last.read;
    const request = readSimpleRequest(bytes);
    if (request === undefined) return undefined;
    const read = this.#wanted(request);
    // WHY a copy: what came with it is not kept.
    this.#last = { head: Buffer.from(bytes.subarray(0, request.end)), read };
    return read;
  }

  #wanted(request: SimpleRequest): ReadRequest {
    const judged = this.#judge(request);
    if (!judged.ok) {
      const question = questionOf(this.#passage, judged);
      return { ok: false, request, question, refusal: judged.refusal };
    }
    const { target } = judged;
    const { host } = target;
    const bare = host.startsWith("[") ? host.slice(1, -1) : host;
    const line = `${request.method} ${pathOf(target)} HTTP/1.1\r\nHost: ${authorityOf(target)}\r\n`;
    return {
      ok: true,
      request,
      target,
      host,
      literal: isIpLiteral(host) ? bare : undefined,
      asked: askedFor(this.#passage, judged),
      text: Buffer.from(`${line}${request.lines}Connection: keep-alive\r\n\r\n`, "latin1"),
    };
  }

  /** WHY remembered by itself: parsing URLs takes the longest, and other headers may differ each time. */
  #judge({ method, path, host }: SimpleRequest): Judged {
    const last = this.#judged;
    if (last?.method === method && last.path === path && last.host === host) return last.judged;
    const head = { method, path, rawHeaders: ["host", host], hasBody: false, isWebsocket: false };
    const judged = judgeRequest(head, this.#passage);
    this.#judged = { method, path, host, judged };
    return judged;
  }
}

/** Whether these bytes begin with those, all of them. */
export function beginsWith(bytes: Buffer, start: Buffer): boolean {
  const { length } = start;
  if (bytes.length === length) return bytes.equals(start);
  return bytes.length > length && bytes.compare(start, 0, length, 0, length) === 0;
}
