/** One simple request under way: what was asked and admitted, and how far its response has come. */
import type { Admission } from "./admission.ts";
import { authorityOf, isSecureTarget, pathOf } from "./forward-request.ts";
import type { Judged } from "./judge-request.ts";
import { type BodyFrame, type ResponseHead, bodyFrame } from "./response-frame.ts";
import type { ServerDestination } from "./server-connections.ts";
import type { SimpleRequest } from "./simple-request.ts";

export type Fine = Extract<Judged, { readonly ok: true }>;
export type Admitted = Extract<Admission, { readonly kind: "admitted" }>;

export const NOTHING: Buffer = Buffer.alloc(0);

export interface ExchangeGrounds {
  readonly judged: Fine;
  readonly admission: Admitted;
  /** It is over. */
  readonly release: () => void;
}

export class SimpleExchange {
  readonly request: SimpleRequest;
  readonly admission: Admitted;
  readonly release: () => void;
  /** INVARIANT: the address that was admitted, and no other. */
  readonly destination: ServerDestination;
  /** The request as it is sent on: written anew from what was judged. */
  readonly text: string;
  /** Bytes of the response's head so far. */
  seen = NOTHING;
  /** `undefined`: the head has not come. */
  body: BodyFrame | undefined;
  /** The body ends with the connection of the server. */
  isOpenEnded = false;
  /** The server keeps its connection. */
  keeps = true;
  /** The program's connection is closed afterwards. */
  closes: boolean;

  constructor(request: SimpleRequest, { judged: { target }, admission, release }: ExchangeGrounds) {
    this.request = request;
    this.admission = admission;
    this.release = release;
    this.closes = request.closes;
    const { host, port } = target;
    this.destination = { host, port, address: admission.address, isSecure: isSecureTarget(target) };
    const line = `${request.method} ${pathOf(target)} HTTP/1.1\r\nHost: ${authorityOf(target)}\r\n`;
    this.text = `${line}${request.lines}Connection: keep-alive\r\n\r\n`;
  }

  /** The head of the response has come. */
  begin({ framing, keeps }: Extract<ResponseHead, { readonly kind: "head" }>): void {
    this.body = bodyFrame(framing);
    this.keeps = keeps;
    this.isOpenEnded = framing.kind === "closed";
    this.closes ||= this.isOpenEnded;
  }
}
