/** One simple request under way: what was asked and admitted, and how far its response has come. */
import type { Admitted } from "./admission.ts";
import { isSecureTarget } from "./forward-request.ts";
import { type BodyFrame, type ResponseHead, bodyFrame } from "./response-frame.ts";
import type { ServerDestination } from "./server-connections.ts";
import type { SimpleRequest } from "./simple-request.ts";
import type { WantedRequest } from "./wanted-request.ts";

export const NOTHING: Buffer = Buffer.alloc(0);

export class SimpleExchange {
  readonly request: SimpleRequest;
  readonly admission: Admitted;
  readonly release: () => void;
  /** INVARIANT: the address that was admitted, and no other. */
  readonly destination: ServerDestination;
  /** The request as it is sent on. */
  readonly text: Buffer;
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

  /** @param release it is over */
  constructor({ request, target, text }: WantedRequest, admission: Admitted, release: () => void) {
    this.request = request;
    this.admission = admission;
    this.release = release;
    this.closes = request.closes;
    this.text = text;
    const { host, port } = target;
    this.destination = { host, port, address: admission.address, isSecure: isSecureTarget(target) };
  }

  /** The head of the response has come. */
  begin({ framing, keeps }: Extract<ResponseHead, { readonly kind: "head" }>): void {
    this.body = bodyFrame(framing);
    this.keeps = keeps;
    this.isOpenEnded = framing.kind === "closed";
    this.closes ||= this.isOpenEnded;
  }
}
