/**
 * Datagrams that a program sends out of its sandbox. They lead nowhere; the first to each destination is caught, its bytes are
 * thrown away, and the attempt is put on record.
 */
import { type Socket, createSocket } from "node:dgram";
import { type Host, endpointText, parseHost, whatwgUrl } from "@sallyport/contract";
import { DESTINATIONS_MAX } from "./netlink-message.ts";
import type { NetworkDecider } from "./network-question.ts";
import type { SyntheticNames } from "./synthetic-names.ts";

/** `handle`: the socket that catches them. Packets come with their destination in place of their source. */
export function recordDatagrams(
  handle: unknown,
  names: SyntheticNames,
  decider: Pick<NetworkDecider, "violated">,
): { close(): unknown } {
  const seen = new Map<Host, Set<number>>();
  let count = 0;
  const socket: Socket = createSocket("udp6");
  socket.on("error", () => undefined);
  socket.on("message", (_, { address, port }) => {
    const plain = address.replace(/^::ffff:/, "");
    const host = names.nameOf(plain) ?? parseHost(plain.includes(":") ? `[${plain}]` : plain, whatwgUrl);
    if (host === undefined || count >= DESTINATIONS_MAX || seen.get(host)?.has(port) === true) return;
    seen.set(host, (seen.get(host) ?? new Set()).add(port));
    count++;
    decider.violated({ operation: "connect", target: endpointText(host, port) }, "datagram");
  });
  // WHY the cast: a handle is taken as in `listen`, only the types do not say so.
  (socket as unknown as { bind(handle: unknown): void }).bind(handle);
  return socket;
}
