/**
 * The short way of requests that can be read in one way only (`simple-request.ts`): judged, admitted and answered on one
 * stream, one after the other. Any other request on the stream is left, unread, to `http-exchanges.ts`, and all that follow
 * with it. INVARIANT: each request has an admission of its own before a byte of it leaves.
 */
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Admissions, Admitted } from "./admission.ts";
import { isUnverified } from "./dial.ts";
import { type Denial, answerText, denialOf, refusalOf } from "./denial-body.ts";
import type { Passage } from "./judge-request.ts";
import type { LiveConnections } from "./live-connections.ts";
import type { NetworkDecider, NetworkQuestion, Refusal } from "./network-question.ts";
import { ResponseReader } from "./response-reader.ts";
import type { ServerConnection, ServerConnections, ServerListener } from "./server-connections.ts";
import { NOTHING, SimpleExchange } from "./simple-exchange.ts";
import type { SimpleRequest } from "./simple-request.ts";
import { untilClosed } from "./until-closed.ts";
import { type ReadRequest, RequestReader, type WantedRequest } from "./wanted-request.ts";

export interface SimpleParts {
  readonly decider: NetworkDecider;
  readonly admissions: Admissions;
  readonly live: LiveConnections;
  readonly servers: ServerConnections;
  /** Takes a stream over whose next request is not simple. */
  readonly onOther: (stream: Duplex, passage: Passage) => void;
}

export class SimpleExchanges implements ServerListener {
  readonly #parts: SimpleParts;
  readonly #stream: Duplex;
  readonly #passage: Passage;
  readonly #requests: RequestReader;
  readonly #responses = new ResponseReader();
  /** Made when somebody is asked: what is declared needs none. */
  #closed: AbortSignal | undefined;
  /** Read from the stream and not yet looked at. */
  #pending = NOTHING;
  #isBusy = false;
  #isFinished = false;
  #server: ServerConnection | undefined;
  #exchange: SimpleExchange | undefined;

  constructor(parts: SimpleParts, stream: Duplex, passage: Passage) {
    this.#parts = parts;
    this.#stream = stream;
    this.#passage = passage;
    this.#requests = new RequestReader(passage);
  }

  /** From now on the stream is read here. */
  serve(): void {
    this.#stream.on("data", this.#take).on("end", this.#end).on("close", this.#close);
    this.#stream.resume();
  }

  readonly #take = (bytes: Buffer): void => {
    this.#pending = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
    // WHY: what comes before its turn waits where it is.
    if (this.#isBusy) this.#stream.pause();
    else if (!this.#isFinished) this.#next();
  };

  /** WHY nothing is waited for: a program that has ended its side cannot be told from one that is gone. */
  readonly #end = (): void => {
    if (this.#isBusy) this.#stream.destroy();
    else this.#finishStream();
  };

  readonly #close = (): void => {
    this.#exchange?.release();
    if (this.#exchange !== undefined) this.#server?.destroy();
    else if (this.#server !== undefined) this.#parts.servers.keep(this.#server);
    this.#server = undefined;
  };

  #next(): void {
    const read = this.#requests.read(this.#pending);
    if (read === undefined) {
      this.#leave();
      return;
    }
    this.#pending = this.#pending.subarray(read.request.end);
    this.#isBusy = true;
    if (this.#pending.length > 0) this.#stream.pause();
    try {
      this.#begin(read);
    } catch {
      this.#stream.destroy();
    }
  }

  #leave(): void {
    const stream = this.#stream;
    stream.off("data", this.#take).off("end", this.#end).off("close", this.#close);
    if (this.#server !== undefined) this.#parts.servers.keep(this.#server);
    this.#server = undefined;
    stream.pause();
    stream.unshift(this.#pending);
    this.#parts.onOther(stream, this.#passage);
    stream.resume();
  }

  #begin(read: ReadRequest): void {
    if (!read.ok) {
      this.#refuse(read.request, read.question, read.refusal);
      return;
    }
    const admission = this.#parts.admissions.admitDeclared(read);
    if (admission === undefined) this.#admit(read).catch(() => this.#stream.destroy());
    else this.#forward(read, admission);
  }

  async #admit(wanted: WantedRequest): Promise<void> {
    const { request, host, asked } = wanted;
    const closed = (this.#closed ??= untilClosed(this.#stream));
    const admission = await this.#parts.admissions.admit(host, [asked], closed);
    if (this.#stream.destroyed) return;
    switch (admission.kind) {
      case "denied":
        this.#answer(request, denialOf(this.#parts.decider.subject, admission.question, admission.ruling));
        return;
      case "refused":
        this.#refuse(request, admission.question, admission.refusal);
        return;
      case "admitted":
        this.#forward(wanted, admission);
    }
  }

  #forward(wanted: WantedRequest, admission: Admitted): void {
    const release = this.#parts.live.add(admission, () => {
      this.#server?.destroy();
      this.#stream.destroy();
    });
    const exchange = new SimpleExchange(wanted, admission, release);
    this.#exchange = exchange;
    const held = this.#heldServer(exchange);
    if (held === undefined) this.#dialAndSend(exchange).catch(() => this.#stream.destroy());
    else this.#send(held, exchange);
  }

  #heldServer(exchange: SimpleExchange): ServerConnection | undefined {
    const { destination } = exchange;
    const own = this.#server;
    if (own !== undefined && !own.isOver && own.leadsTo(destination)) return own;
    if (own !== undefined) this.#parts.servers.keep(own);
    this.#server = undefined;
    return this.#parts.servers.take(destination);
  }

  async #dialAndSend(exchange: SimpleExchange): Promise<void> {
    let server: ServerConnection;
    try {
      server = await this.#parts.servers.dial(exchange.destination);
    } catch (error) {
      this.#unreached(exchange, error as Error);
      return;
    }
    // INVARIANT: what was cut off while it was dialled is not used.
    if (this.#stream.destroyed || this.#exchange !== exchange) server.destroy();
    else this.#send(server, exchange);
  }

  #send(server: ServerConnection, { text }: SimpleExchange): void {
    this.#server = server;
    server.listener = this;
    server.stream.write(text);
  }

  heard(bytes: Buffer): void {
    const exchange = this.#exchange;
    if (exchange === undefined) {
      this.#server?.destroy();
      return;
    }
    if (exchange.body !== undefined) this.#pass(exchange, bytes, NOTHING);
    else this.#readHead(exchange, bytes);
  }

  #readHead(exchange: SimpleExchange, bytes: Buffer): void {
    exchange.seen = exchange.seen.length === 0 ? bytes : Buffer.concat([exchange.seen, bytes]);
    for (;;) {
      const head = this.#responses.read(exchange.seen, exchange.request.method);
      switch (head.kind) {
        case "short":
          return;
        case "broken":
          this.#server?.destroy();
          this.#unreached(exchange, undefined);
          return;
        case "interim":
          exchange.seen = exchange.seen.subarray(head.end);
          continue;
        case "head": {
          exchange.begin(head);
          this.#pass(exchange, exchange.seen.subarray(head.end), this.#responses.text(head, exchange));
          return;
        }
      }
    }
  }

  /** @param start goes before them */
  #pass(exchange: SimpleExchange, bytes: Buffer, start: Buffer): void {
    const { body } = exchange;
    if (body === undefined) return;
    const taken = body.take(bytes);
    const own = taken === bytes.length ? bytes : bytes.subarray(0, taken);
    const sent = start.length === 0 ? own : Buffer.concat([start, own]);
    const isRoom = sent.length === 0 || this.#stream.write(sent);
    if (body.state === "broken") this.#stream.destroy();
    else if (body.state === "over") this.#finish(exchange, taken === bytes.length);
    else if (!isRoom) this.#waitForRoom();
  }

  #waitForRoom(): void {
    const server = this.#server?.stream;
    server?.pause();
    this.#stream.once("drain", () => server?.resume());
  }

  ended(fault: Error | undefined): void {
    const exchange = this.#exchange;
    const { isUsed = false } = this.#server ?? {};
    this.#server = undefined;
    if (exchange === undefined) return;
    if (exchange.body !== undefined) {
      if (fault === undefined && exchange.isOpenEnded) this.#finish(exchange, false);
      else this.#stream.destroy();
    } else if (isUsed && exchange.seen.length === 0)
      // WHY again: the server closed what nobody used, which is no answer; such a request changes nothing.
      this.#dialAndSend(exchange).catch(() => this.#stream.destroy());
    else this.#unreached(exchange, fault);
  }

  #finish(exchange: SimpleExchange, isExact: boolean): void {
    exchange.release();
    this.#exchange = undefined;
    const server = this.#server;
    if (server !== undefined) server.isUsed = true;
    if (server !== undefined && (!isExact || !exchange.keeps)) {
      server.destroy();
      this.#server = undefined;
    }
    this.#settled(exchange.closes);
  }

  #unreached(exchange: SimpleExchange, error: (Error & { readonly code?: string }) | undefined): void {
    exchange.release();
    this.#exchange = undefined;
    this.#server = undefined;
    const refusal = error !== undefined && isUnverified(error) ? "unverified" : "unreachable";
    const [question] = exchange.admission.questions;
    this.#answer(
      exchange.request,
      refusalOf(this.#parts.decider.subject, question as NetworkQuestion, refusal),
    );
  }

  #refuse(request: SimpleRequest, question: NetworkQuestion, refusal: Refusal): void {
    if (refusal !== "unreachable") this.#parts.decider.violated(question, refusal);
    this.#answer(request, refusalOf(this.#parts.decider.subject, question, refusal));
  }

  #answer({ method, closes }: SimpleRequest, denial: Denial): void {
    if (this.#stream.destroyed) return;
    this.#stream.write(answerText(denial, { closes, hasBody: method !== "HEAD" }));
    this.#settled(closes);
  }

  /** One request is answered; the next may come. */
  #settled(closes: boolean): void {
    if (closes) {
      this.#finishStream();
      return;
    }
    this.#isBusy = false;
    if (this.#pending.length > 0) this.#next();
    else if (this.#stream.isPaused()) this.#stream.resume();
  }

  /** INVARIANT: no request is read after this. */
  #finishStream(): void {
    this.#isFinished = true;
    (this.#stream as Socket).destroySoon();
  }
}
