/**
 * The quick lane: calls that are made all the time go from the connection to their handler and back without passing the
 * framework. Takes only what names a known path exactly; everything else is left to the routes. The handlers, the rules
 * about heads and bodies and what a fault becomes are the same ones.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  type Handle,
  type HeadFields,
  type IncomingCall,
  JSON_HEADERS,
  type ownOrigin,
} from "./incoming-call.ts";
import { malformed } from "./problem.ts";
import { BodyBytes, checkedBodyHead } from "./read-body.ts";

export interface QuickLane {
  /** By path; all are POST. */
  readonly handles: ReadonlyMap<string, Handle>;
  readonly mustBeOurs: ReturnType<typeof ownOrigin>;
  /** What a call that failed is answered. */
  readonly faultResponse: (error: unknown) => Response;
}

/** Whether the lane took the call. */
export function takeQuick(lane: QuickLane, incoming: IncomingMessage, outgoing: ServerResponse): boolean {
  const { method, url } = incoming;
  const handle = method === "POST" && url !== undefined ? lane.handles.get(url) : undefined;
  if (handle === undefined) return false;
  void answered(lane, handle, incoming, outgoing);
  return true;
}

/** INVARIANT: never rejects; where not even a fault can be told the connection ends. */
async function answered(
  { mustBeOurs, faultResponse }: QuickLane,
  handle: Handle,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  try {
    const call = callOfMessage(incoming, outgoing);
    mustBeOurs(call.head.headers);
    const answer = await handle(call);
    if (typeof answer === "string") writeJson(outgoing, answer);
    else await writeResponse(outgoing, answer);
  } catch (error) {
    await writeResponse(outgoing, faultResponse(error)).catch(() => outgoing.destroy());
  }
}

function callOfMessage(incoming: IncomingMessage, outgoing: ServerResponse): IncomingCall {
  const headers = new MessageHead(incoming);
  return {
    head: { method: "POST", path: incoming.url ?? "", headers },
    search: "",
    body: (bytesMax) => {
      checkedBodyHead(headers, bytesMax);
      return messageBody(incoming, bytesMax);
    },
    gone: () => {
      const gone = new AbortController();
      if (outgoing.destroyed) gone.abort();
      else outgoing.once("close", () => gone.abort());
      return gone.signal;
    },
  };
}

/** WHY the distinct ones: Node drops the second of some headers, and what came twice must not pass for what came once. */
class MessageHead implements HeadFields {
  readonly #fields: IncomingMessage["headersDistinct"];

  constructor({ headersDistinct }: IncomingMessage) {
    this.#fields = headersDistinct;
  }

  get(name: string): string | null {
    const values = this.#fields[name];
    if (values === undefined) return null;
    return values.length === 1 ? (values[0] ?? "") : values.join(", ");
  }

  has(name: string): boolean {
    return this.#fields[name] !== undefined;
  }
}

function messageBody(incoming: IncomingMessage, bytesMax: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const bytes = new BodyBytes(bytesMax);
    incoming.on("data", (chunk: Buffer) => {
      const fault = bytes.add(chunk);
      if (fault !== null) reject(fault);
    });
    const broken = (): void => reject(malformed("the body did not arrive in full: send it again", 408));
    incoming.once("end", () => {
      incoming.off("close", broken);
      resolve(bytes.whole());
    });
    incoming.once("error", broken);
    incoming.once("close", broken);
  });
}

/** WHY as text: head and body leave in one piece. */
function writeJson(outgoing: ServerResponse, text: string): void {
  outgoing.writeHead(200, { ...JSON_HEADERS, "content-length": Buffer.byteLength(text) });
  outgoing.end(text);
}

async function writeResponse(outgoing: ServerResponse, response: Response): Promise<void> {
  const { status, headers, body } = response;
  outgoing.writeHead(status, Object.fromEntries(headers));
  if (body === null) {
    outgoing.end();
    return;
  }
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  const cancel = (): void => {
    reader.cancel().catch(() => undefined);
  };
  outgoing.once("close", cancel);
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    if (!outgoing.write(value) && !(await drained(outgoing))) return;
  }
  outgoing.off("close", cancel);
  outgoing.end();
}

/** Whether the reader took what waits; it may also be gone. */
function drained(outgoing: ServerResponse): Promise<boolean> {
  return new Promise((resolve) => {
    const go = (): void => {
      outgoing.off("close", end);
      resolve(true);
    };
    const end = (): void => {
      outgoing.off("drain", go);
      resolve(false);
    };
    outgoing.once("drain", go);
    outgoing.once("close", end);
  });
}
