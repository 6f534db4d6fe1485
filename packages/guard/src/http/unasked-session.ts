/**
 * An HTTP/2 session that nobody has asked for a stream yet. Programs wait for it to be there before they ask, so it cannot
 * always wait for what is asked. Trusts the gate's answers; must never let anything but the session's own greeting leave.
 */
import { EventEmitter } from "node:events";
import type { ClientHttp2Session as Session } from "node:http2";
import type { Host } from "@sallyport/contract";
import type { AccessPart } from "../access-part.ts";
import { append, apply, bare, freeze } from "../captured.ts";
import type { Ground } from "../ground.ts";
import { decideEndpoint } from "../network/decide-endpoint.ts";
import type { Kept } from "./kept-session.ts";
import { connecting, originUrl, requestPart } from "./request-part.ts";

// oxlint-disable-next-line typescript/unbound-method -- called through Reflect.apply
const { listenerCount } = EventEmitter.prototype;

/** What tells a program that its session is there. */
const ARRIVALS = freeze(["connect", "remoteSettings", "localSettings"]);

function isAwaited(session: Session): boolean {
  for (let index = 0; index < ARRIVALS.length; index++)
    if (apply(listenerCount, session, [ARRIVALS[index] as string]) > 0) return true;
  return false;
}

/**
 * A session that nobody has asked for a stream connects by itself where something on it may happen: anything at all, or a
 * request to its root. Where nothing may and the program waits for it, network connect is asked for; else it waits for
 * its first stream. Each stream is decided all the same.
 */
export function connectAlone({ decider }: Ground, session: Session, kept: Kept): void {
  const { held, connection } = kept;
  if (held === undefined || kept.isAsked || session.destroyed) return;
  const url = originUrl(connection, bare({ target: "/", isWebsocket: false }));
  const { host } = connection;
  const asks: ((address: Host | undefined) => AccessPart)[] = [
    (address) => connecting(bare({ host, port: connection.port, address })),
  ];
  if (url !== undefined) {
    append(asks, (address) => requestPart("receive", url, bare({ host, address })));
    append(asks, (address) => requestPart("send", url, bare({ host, address })));
  }
  let part: (typeof asks)[number] | undefined;
  for (let index = 0; index < asks.length && part === undefined; index++) {
    const ask = asks[index] as (typeof asks)[number];
    if (decider.wouldPass(ask(undefined))) part = ask;
  }
  if (part === undefined && isAwaited(session)) part = asks[0];
  if (part === undefined) return;
  const { endpoint, family } = held;
  const facts = bare({ syscall: "connect", path: endpoint.requested });
  decideEndpoint(decider, bare({ endpoint, family, part, facts }), (error, addresses) => {
    // WHY: a stream may have opened the connection meanwhile.
    if (kept.held === undefined) return;
    if (error !== undefined && error !== null) {
      session.destroy(error as Error);
      return;
    }
    kept.held = undefined;
    held.dial(addresses);
  });
}
