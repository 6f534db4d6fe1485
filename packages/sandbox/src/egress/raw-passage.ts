/**
 * Bytes that nobody can read: TLS that passes untouched, and what is neither TLS nor HTTP. Their direction is unknown,
 * so that `connect` must be allowed, or both receive and send for the whole endpoint.
 */
import type { Duplex } from "node:stream";
import { type Host, endpointText } from "@sallyport/contract";
import type { Admissions } from "./admission.ts";
import type { Dialer } from "./dial.ts";
import { reset } from "./first-bytes.ts";
import type { LiveConnections } from "./live-connections.ts";
import type { NetworkDecider, NetworkQuestion } from "./network-question.ts";
import { untilClosed } from "./until-closed.ts";

export interface Endpoint {
  readonly host: Host;
  readonly port: number;
}

export interface RawParts {
  readonly decider: NetworkDecider;
  readonly admissions: Admissions;
  readonly dialer: Dialer;
  readonly live: LiveConnections;
}

export interface RawPassage {
  readonly stream: Duplex;
  readonly endpoint: Endpoint;
  /** `secure`: TLS was taken off, and is put on again towards the server. */
  readonly level: "plain" | "secure";
  /** Whether what the program says first may go on; asked once the server is reached. */
  readonly isFirstFit: () => Promise<boolean>;
}

export function connectTo({ host, port }: Endpoint): NetworkQuestion {
  return { operation: "connect", target: endpointText(host, port) };
}

export async function passRaw(parts: RawParts, passage: RawPassage): Promise<void> {
  const { stream, endpoint, level, isFirstFit } = passage;
  const admission = await parts.admissions.admit(
    endpoint.host,
    questionsFor(parts.decider, endpoint),
    untilClosed(stream),
  );
  if (admission.kind !== "admitted" || stream.destroyed) {
    reset(stream);
    return;
  }
  const server = await parts.dialer[level]({ ...endpoint, address: admission.address });
  const cut = (): void => {
    stream.destroy();
    server.destroy();
  };
  const release = parts.live.add(admission, cut);
  const over = (): void => {
    release();
    cut();
  };
  server.on("error", over).once("close", over);
  stream.once("close", over);
  if (stream.destroyed) {
    over();
    return;
  }
  server.pipe(stream);
  if (await isFirstFit()) stream.pipe(server);
  else over();
}

function questionsFor(decider: NetworkDecider, endpoint: Endpoint): readonly NetworkQuestion[] {
  const connect = connectTo(endpoint);
  const both = (["receive", "send"] as const).map((operation) => ({ ...connect, operation }));
  return !decider.foresees(connect) && both.every((one) => decider.foresees(one)) ? both : [connect];
}
