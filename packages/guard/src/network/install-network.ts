/**
 * The network of a guarded process, in one place: connections and what leaves by them, names, and what is refused.
 */
import type { Ground } from "../ground.ts";
import { guardWrites } from "../http/checked-write.ts";
import { guardHttp2 } from "../http/guard-http2.ts";
import { installNotes } from "../http/request-note.ts";
import { connectionOf } from "./connection.ts";
import { guardDatagrams } from "./guard-datagrams.ts";
import { guardListen } from "./guard-listen.ts";
import { guardLookup } from "./guard-lookup.ts";
import { guardResolver } from "./guard-resolver.ts";
import { guardSockets } from "./guard-sockets.ts";
import { guardTls, keepName } from "./guard-tls.ts";
import { installHandles } from "./native-handles.ts";
import { refuseNetwork } from "./refuse-network.ts";

export function installNetwork(ground: Ground): void {
  installHandles(connectionOf, keepName);
  refuseNetwork();
  installNotes();
  guardSockets(ground);
  guardTls();
  guardWrites(ground);
  guardDatagrams(ground);
  guardHttp2(ground);
  guardListen(ground);
  guardLookup(ground);
  guardResolver(ground);
}
