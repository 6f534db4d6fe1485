/** Questions for names, as they come out of the sandbox: by datagram, and by stream with a length before each. */
import { createSocket } from "node:dgram";
import type { Socket } from "node:net";
import { answerName } from "./answer-name.ts";
import type { SyntheticNames } from "./synthetic-names.ts";

const NAME_BYTES_MAX = 65_535;

/** `handle`: the socket that catches them. */
export function serveDatagrams(handle: unknown, names: SyntheticNames): { close(): unknown } {
  const socket = createSocket("udp6");
  socket.on("error", () => undefined);
  socket.on("message", (query, { address, port }) => {
    const answer = answerName(query, names);
    if (answer !== undefined) socket.send(answer, port, address, () => undefined);
  });
  // WHY the cast: a handle is taken as in `listen`, only the types do not say so.
  (socket as unknown as { bind(handle: unknown): void }).bind(handle);
  return socket;
}

export async function serveStream(socket: Socket, names: SyntheticNames): Promise<void> {
  let seen = Buffer.alloc(0);
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    seen = Buffer.concat([seen, chunk]);
    while (seen.length >= 2 && seen.length >= 2 + seen.readUInt16BE(0)) {
      const size = seen.readUInt16BE(0);
      const answer = answerName(seen.subarray(2, 2 + size), names);
      seen = seen.subarray(2 + size);
      if (answer === undefined) throw new Error("this is no question for a name");
      const length = Buffer.alloc(2);
      length.writeUInt16BE(answer.length);
      socket.write(Buffer.concat([length, answer]));
    }
    if (seen.length > NAME_BYTES_MAX + 2) throw new Error("this is no question for a name");
  }
  socket.end();
}
