/**
 * The network of a guarded process, in one place: connections and what leaves by them, names, and what is refused.
 */
import { requireForeign } from "../fs/descriptor-calls.ts";
import type { Ground } from "../ground.ts";
import { guardWrites } from "../http/checked-write.ts";
import { guardHttp2 } from "../http/guard-http2.ts";
import { installNotes } from "../http/note-clients.ts";
import { connectionOf } from "./connection.ts";
import { guardDatagrams } from "./guard-datagrams.ts";
import { guardListen } from "./guard-listen.ts";
import { guardLookup } from "./guard-lookup.ts";
import { guardResolver } from "./guard-resolver.ts";
import { guardSockets } from "./guard-sockets.ts";
import { guardTerminals } from "./guard-terminals.ts";
import { guardTls, keepName } from "./guard-tls.ts";
import { guardTransfers } from "./guard-transfers.ts";
import { installHandles } from "./native-handles.ts";
import { refuseNetwork } from "./refuse-network.ts";
import { whenLoaded } from "../when-loaded.ts";

export function installNetwork(ground: Ground): void {
  const isTlsHeld = installHandles(
    connectionOf,
    keepName,
    (fd) => requireForeign(ground, fd, "open"),
    ground.isConfined,
  );
  refuseNetwork();
  installNotes();
  guardSockets(ground);
  // INVARIANT: what is not held below is guarded before the program runs.
  if (isTlsHeld) whenLoaded("tls", guardTls, "_tls_wrap");
  else guardTls(process.getBuiltinModule("tls"));
  guardWrites(ground);
  guardDatagrams(ground);
  guardTerminals(ground);
  guardTransfers();
  guardHttp2(ground);
  guardListen(ground);
  guardLookup(ground);
  guardResolver(ground);
}
