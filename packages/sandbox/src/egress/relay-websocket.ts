/**
 * Relays a websocket. What comes from the server was allowed with its opening; the first data frame of the program is
 * a question of its own, and nothing of it is passed on before the answer.
 */
import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { UrlTarget } from "@sallyport/contract";
import type { Admission } from "./admission.ts";
import { refusalOf } from "./denial-body.ts";
import { answerWith } from "./forward-request.ts";
import type { LiveConnections } from "./live-connections.ts";
import type { NetworkDecider, NetworkQuestion } from "./network-question.ts";
import { FrameWatch } from "./websocket-frames.ts";

export interface Websocket {
  readonly upstream: ClientRequest;
  readonly res: ServerResponse;
  readonly stream: Duplex;
  /** Bytes of the program that came with its request. */
  readonly head: Buffer;
  readonly admission: Extract<Admission, { readonly kind: "admitted" }>;
  readonly target: UrlTarget;
  readonly decider: NetworkDecider;
  readonly live: LiveConnections;
  /** `connect` was allowed: frames are not asked about. */
  readonly isOpen: boolean;
}

export function relayWebsocket(socket: Websocket): void {
  const { upstream, res, stream, admission, decider, live } = socket;
  const release = live.add(admission, () => {
    upstream.destroy();
    stream.destroy();
  });
  stream.once("close", () => {
    release();
    upstream.destroy();
  });
  upstream.on("response", (response) => answerWith(response, res, release));
  upstream.on("error", () => {
    release();
    const { status, body } = refusalOf(
      decider.subject,
      admission.questions[0] as NetworkQuestion,
      "unreachable",
    );
    if (!res.headersSent && !stream.destroyed)
      res.writeHead(status, { "content-type": "application/json" }).end(body);
    else stream.destroy();
  });
  upstream.on("upgrade", (response, server, first) => {
    res.detachSocket(stream as never);
    server.once("close", () => {
      release();
      stream.destroy();
    });
    server.on("error", () => stream.destroy());
    stream.write(switched(response));
    if (first.length > 0) stream.write(first);
    server.pipe(stream);
    void watch(socket, server).catch(() => {
      stream.destroy();
      server.destroy();
    });
  });
  upstream.end();
}

/** From the program to the server. */
async function watch(
  { stream, head, target, decider, live, admission, isOpen }: Websocket,
  server: Duplex,
): Promise<void> {
  const frames = new FrameWatch();
  const question: NetworkQuestion = { operation: "send", target: target.text, address: admission.address };
  let maySend = isOpen;
  if (head.length > 0) stream.unshift(head);
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const found = maySend ? "control" : frames.take(chunk);
    if (found !== "control") {
      const ruling =
        found === "broken" ? undefined : await decider.spend(question, new AbortController().signal);
      if (ruling?.allowed !== true) {
        if (ruling === undefined) decider.violated(question, "data_frame");
        stream.destroy();
        server.destroy();
        return;
      }
      maySend = true;
      stream.once(
        "close",
        live.add({ questions: [question], expiresAtMs: ruling.expiresAtMs, isDeclared: false }, () =>
          stream.destroy(),
        ),
      );
    }
    if (!server.write(chunk)) await drained(server);
  }
  server.end();
}

function drained(stream: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      stream.off("drain", go).off("close", go);
      resolve();
    };
    stream.on("drain", go).on("close", go);
  });
}

function switched(response: IncomingMessage): string {
  const lines: string[] = [];
  for (let index = 0; index < response.rawHeaders.length; index += 2)
    lines.push(`${response.rawHeaders[index]}: ${response.rawHeaders[index + 1]}\r\n`);
  return `HTTP/1.1 101 Switching Protocols\r\n${lines.join("")}\r\n`;
}
