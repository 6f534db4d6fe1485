/**
 * HTTP as the gateway speaks it to programs: each request is judged, asked about and sent on by itself, whatever came
 * before it on the same connection. Version 1 in clear text and under TLS, version 2 under TLS.
 */
import { Agent, type IncomingMessage, type Server, ServerResponse, createServer } from "node:http";
import { type Http2ServerRequest, type Http2ServerResponse, createServer as createHttp2 } from "node:http2";
import type { Duplex } from "node:stream";
import type { Admission, Admissions, Admitted } from "./admission.ts";
import { type Denial, answerText, denialOf, refusalOf } from "./denial-body.ts";
import { type Dialer, isUnverified } from "./dial.ts";
import { type AgentWords, answerWith, upstreamRequest } from "./forward-request.ts";
import { type Judged, type Passage, type RequestHead, judgeRequest } from "./judge-request.ts";
import type { LiveConnections } from "./live-connections.ts";
import type { NetworkDecider, NetworkQuestion, Refusal } from "./network-question.ts";
import { relayWebsocket } from "./relay-websocket.ts";
import { askedFor, questionOf, whereTo } from "./request-question.ts";
import { ServerConnections } from "./server-connections.ts";
import { SimpleExchanges } from "./simple-exchanges.ts";
import { untilClosed } from "./until-closed.ts";

export interface ExchangeParts {
  readonly decider: NetworkDecider;
  readonly admissions: Admissions;
  readonly dialer: Dialer;
  readonly live: LiveConnections;
  /** A program asks its proxy for a tunnel. */
  readonly onTunnel: (stream: Duplex, authority: string) => void;
}

type AnyRequest = IncomingMessage | Http2ServerRequest;
type AnyResponse = ServerResponse | Http2ServerResponse;
type Fine = Extract<Judged, { readonly ok: true }>;
type Known = { readonly passage: Passage; readonly agent: Agent };

const HEADERS_MS = 60_000;

export class HttpExchanges {
  readonly #parts: ExchangeParts;
  readonly #server: Server;
  readonly #servers: ServerConnections;
  readonly #passages = new WeakMap<object, Known>();

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
    this.#servers = new ServerConnections(parts.dialer);
    this.#server = createServer({ insecureHTTPParser: false, requireHostHeader: false, noDelay: true });
    this.#server.requestTimeout = 0;
    this.#server.headersTimeout = HEADERS_MS;
    this.#server.on("request", (req, res) => this.#exchange(req, res, this.#passages.get(req.socket)));
    this.#server.on("upgrade", (req, stream, head) => {
      // WHY it may fail: one that comes while another request is unanswered has no place for its own answer.
      this.#upgrade(req, stream, head).catch(() => stream.destroy());
    });
    this.#server.on("connect", (req, stream, head) => this.#connect(req, stream, head));
    this.#server.on("clientError", (error, stream) => this.#malformed(error, stream));
  }

  /** From now on the stream is read as HTTP. */
  serve(stream: Duplex, passage: Passage, version: 1 | 2 = 1): void {
    if (version === 2) {
      this.#serve(stream, passage, version);
      return;
    }
    const { decider, admissions, live } = this.#parts;
    const onOther = (): void => this.#serve(stream, passage, version);
    new SimpleExchanges(
      { decider, admissions, live, servers: this.#servers, onOther },
      stream,
      passage,
    ).serve();
  }

  #serve(stream: Duplex, passage: Passage, version: 1 | 2): void {
    const agent = this.#agentFor();
    stream.once("close", () => agent.destroy());
    this.#passages.set(stream, { passage, agent });
    if (version === 1) {
      this.#server.emit("connection", stream);
      return;
    }
    const server = createHttp2({}, (req, res) => this.#exchange(req, res, { passage, agent }));
    server.on("sessionError", () => stream.destroy());
    server.emit("connection", stream);
  }

  /** Something changed: connections to servers that nobody uses are not kept. */
  clear(): void {
    this.#servers.clear();
  }

  close(): void {
    this.#servers.close();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** INVARIANT: whatever goes wrong here ends this exchange, never the process of the host. */
  #exchange(req: AnyRequest, res: AnyResponse, known: Known | undefined): void {
    req.on("error", () => res.destroy());
    res.on("error", () => undefined);
    if (known === undefined) res.destroy();
    else this.#answer(req, res, known).catch(() => res.destroy());
  }

  async #answer(req: AnyRequest, res: AnyResponse, { passage, agent }: Known): Promise<void> {
    const head = headOf(req, false);
    const judged = judgeRequest(head, passage);
    const question = questionOf(passage, judged);
    if (!judged.ok) {
      this.#refuse(req, res, question, judged.refusal);
      return;
    }
    const admission = await this.#admit(judged, passage, res);
    if (admission.kind !== "admitted") {
      if (admission.kind === "denied") answer(req, res, this.#denied(admission));
      else this.#refuse(req, res, admission.question, admission.refusal);
      return;
    }
    if (res.destroyed || res.writableEnded) return;
    this.#forward(req, res, judged, admission, head.hasBody, agent);
  }

  #forward(
    req: AnyRequest,
    res: AnyResponse,
    { target }: Fine,
    admission: Admitted,
    hasBody: boolean,
    agent: Agent,
  ): void {
    const { address, questions } = admission;
    const upstream = upstreamRequest(req, { target, address, hasBody, agent });
    const release = this.#parts.live.add(admission, () => {
      upstream.destroy();
      res.destroy();
      req.socket.destroy();
    });
    upstream.on("response", (response) => answerWith(response, res, release));
    const fail = (refusal: Refusal): void => {
      release();
      if (res.headersSent) res.destroy();
      else answer(req, res, refusalOf(this.#parts.decider.subject, questions[0] as NetworkQuestion, refusal));
    };
    upstream.on("error", (error) => fail(isUnverified(error) ? "unverified" : "unreachable"));
    // WHY: nobody asked the server to switch, and without a word here nobody would hear that it did.
    upstream.on("upgrade", (_, server) => {
      server.destroy();
      fail("unreachable");
    });
    res.once("close", () => {
      release();
      upstream.destroy();
    });
    if (hasBody) req.pipe(upstream);
    else upstream.end();
  }

  async #upgrade(req: IncomingMessage, stream: Duplex, head: Buffer): Promise<void> {
    stream.on("error", () => stream.destroy());
    const known = this.#passages.get(stream);
    if (known === undefined) {
      stream.destroy();
      return;
    }
    const res = new ServerResponse(req);
    res.assignSocket(stream as never);
    res.shouldKeepAlive = false;
    const isWebsocket = /^websocket$/i.test(req.headers.upgrade ?? "") && req.method === "GET";
    const words = headOf(req, isWebsocket);
    const judged = isWebsocket
      ? judgeRequest(words, known.passage)
      : ({ ok: false, refusal: "upgrade_refused" } as const);
    const question = questionOf(known.passage, judged);
    if (!judged.ok || words.hasBody) {
      this.#refuse(req, res, question, judged.ok ? "ambiguous_request" : judged.refusal);
      return;
    }
    const admission = await this.#admit(judged, known.passage, res);
    if (admission.kind === "denied") answer(req, res, this.#denied(admission));
    else if (admission.kind === "refused") this.#refuse(req, res, question, admission.refusal);
    else {
      const { decider, live } = this.#parts;
      const isOpen = known.passage.kind === "origin" && known.passage.isOpen;
      const upstream = upstreamRequest(
        req,
        { target: judged.target, address: admission.address, hasBody: false, agent: known.agent },
        ["Connection", "Upgrade", "Upgrade", "websocket"],
      );
      relayWebsocket({
        upstream,
        res,
        stream,
        head,
        admission,
        target: judged.target,
        decider,
        live,
        isOpen,
      });
    }
  }

  #connect(req: IncomingMessage, stream: Duplex, head: Buffer): void {
    stream.on("error", () => stream.destroy());
    if (this.#passages.get(stream)?.passage.kind === "proxy") {
      if (head.length > 0) stream.unshift(head);
      this.#parts.onTunnel(stream, req.url ?? "");
      return;
    }
    const question = { operation: "connect", target: req.url ?? "" } as const;
    this.#parts.decider.violated(question, "tunnel_refused");
    stream.end(rawAnswer(refusalOf(this.#parts.decider.subject, question, "tunnel_refused")));
  }

  /** The parser could not read it, or read it in two ways. */
  #malformed(error: Error & { readonly code?: string }, stream: Duplex): void {
    const passage = this.#passages.get(stream)?.passage;
    if (error.code === "ECONNRESET" || !stream.writable || passage === undefined) {
      stream.destroy();
      return;
    }
    const question = { operation: "send", target: whereTo(passage) } as const;
    this.#parts.decider.violated(question, "ambiguous_request");
    stream.end(rawAnswer(refusalOf(this.#parts.decider.subject, question, "ambiguous_request")));
  }

  #admit(judged: Fine, passage: Passage, res: AnyResponse): Promise<Admission> {
    return this.#parts.admissions.admit(judged.target.host, [askedFor(passage, judged)], untilClosed(res));
  }

  #denied({ question, ruling }: Extract<Admission, { readonly kind: "denied" }>): Denial {
    return denialOf(this.#parts.decider.subject, question, ruling);
  }

  #refuse(req: AnyRequest, res: AnyResponse, question: NetworkQuestion, refusal: Refusal): void {
    if (refusal !== "unreachable") this.#parts.decider.violated(question, refusal);
    answer(req, res, refusalOf(this.#parts.decider.subject, question, refusal));
  }

  /** Connections to servers live as long as the connection of the program that they serve. */
  #agentFor(): Agent {
    const dial = async (words: AgentWords, done: Dialled): Promise<void> => {
      let stream: Duplex;
      try {
        const destination = { host: words.name, port: words.wantedPort, address: words.admitted };
        stream = await this.#parts.dialer[words.isSecure ? "secure" : "plain"](destination);
      } catch (error) {
        done(error as Error);
        return;
      }
      done(null, stream);
    };
    const createConnection = (words: AgentWords, done: Dialled): void => void dial(words, done);
    return Object.assign(new Agent({ keepAlive: true }), { createConnection });
  }
}

type Dialled = (error: Error | null, stream?: Duplex) => void;

function headOf(req: AnyRequest, isWebsocket: boolean): RequestHead {
  const { rawHeaders, method = "", url = "" } = req;
  if ("stream" in req) {
    return {
      method,
      path: url,
      rawHeaders,
      authority: req.authority,
      hasBody: !req.stream.endAfterHeaders,
      isWebsocket,
    };
  }
  const length = req.headers["content-length"];
  const hasBody =
    req.headers["transfer-encoding"] !== undefined || (length !== undefined && !/^0+$/.test(length));
  return { method, path: url, rawHeaders, hasBody, isWebsocket };
}

function answer(req: AnyRequest, res: AnyResponse, { status, body }: Denial): void {
  if (res.headersSent || res.destroyed) return;
  const headers = { "content-type": "application/json", "x-sallyport": "denied" };
  if ("stream" in res) {
    res.writeHead(status, headers).end(body);
    return;
  }
  // WHY: what is left of the request is not read.
  res.writeHead(status, {
    ...headers,
    "content-length": Buffer.byteLength(body),
    ...(req.complete ? {} : { connection: "close" }),
  });
  res.end(body);
}

function rawAnswer({ body }: Denial): string {
  return answerText({ status: 400, body }, { closes: true, hasBody: true });
}
